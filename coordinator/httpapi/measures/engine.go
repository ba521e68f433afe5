package measures

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluiceflow/sluice/coordinator/tally"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// journaled shows what an engine has journaled: of steps, how many calls were requested, and how they have ended.
type journaled struct{ *tally.Tally }

var (
	eventsDesc  = prometheus.NewDesc("sluice_events_total", "Events that were journaled, by type.", []string{"type"}, nil)
	appendsDesc = prometheus.NewDesc("sluice_append_duration_seconds", "Time to make events durable that were journaled together.", nil, nil)
)

// Describe implements prometheus.Collector.
func (journaled) Describe(to chan<- *prometheus.Desc) { to <- eventsDesc; to <- appendsDesc }

// Collect implements prometheus.Collector.
func (j journaled) Collect(to chan<- prometheus.Metric) {
	for typ, n := range j.Events() {
		to <- prometheus.MustNewConstMetric(eventsDesc, prometheus.CounterValue, float64(n), journal.Type(typ).String())
	}
	count, seconds, atMost := j.Appends()
	to <- prometheus.MustNewConstHistogram(appendsDesc, count, seconds, atMost)
}

// crew shows what workers have to do.
type crew struct{ hub *workers.Hub }

var (
	workersDesc  = prometheus.NewDesc("sluice_workers", "Workers that were heard of in the last minute, or have calls.", nil, nil)
	callsDesc    = prometheus.NewDesc("sluice_worker_calls", "Calls that workers have.", nil, nil)
	queueDesc    = prometheus.NewDesc("sluice_worker_queue", "Runs that wait for a worker, and calls that workers have lost, by operation.", []string{"operation"}, nil)
	unservedDesc = prometheus.NewDesc("sluice_worker_unserved", "1 if no worker serves the operation, else 0.", []string{"operation"}, nil)
)

// Describe implements prometheus.Collector.
func (crew) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{workersDesc, callsDesc, queueDesc, unservedDesc} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c crew) Collect(to chan<- prometheus.Metric) {
	known, demands := c.hub.List()
	calls := 0
	for _, w := range known {
		calls += w.Calls
	}
	gauge := func(desc *prometheus.Desc, n int, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), labels...)
	}
	gauge(workersDesc, len(known))
	gauge(callsDesc, calls)
	for _, d := range demands {
		unserved := 0
		if !d.Unserved.IsZero() {
			unserved = 1
		}
		gauge(queueDesc, d.Runs+d.Calls, d.Operation)
		gauge(unservedDesc, unserved, d.Operation)
	}
}
