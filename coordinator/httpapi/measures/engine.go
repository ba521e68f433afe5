package measures

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluiceflow/sluice/coordinator/tally"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// eventCollector exports the counts of an engine's events: how many calls were requested, and how they have ended.
type eventCollector struct{ *tally.Tally }

var (
	eventsDesc  = prometheus.NewDesc("sluice_events_total", "Events that were journaled, by type.", []string{"type"}, nil)
	appendsDesc = prometheus.NewDesc("sluice_append_duration_seconds", "Time to make events durable that were journaled together.", nil, nil)
)

// Describe implements prometheus.Collector.
func (eventCollector) Describe(to chan<- *prometheus.Desc) { to <- eventsDesc; to <- appendsDesc }

// Collect implements prometheus.Collector.
func (j eventCollector) Collect(to chan<- prometheus.Metric) {
	for typ, n := range j.Events() {
		to <- prometheus.MustNewConstMetric(eventsDesc, prometheus.CounterValue, float64(n), journal.Type(typ).String())
	}
	count, seconds, atMost := j.Appends()
	to <- prometheus.MustNewConstHistogram(appendsDesc, count, seconds, atMost)
}
