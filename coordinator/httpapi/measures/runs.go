package measures

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// countedMax bounds the open runs that a scrape counts of each status.
const countedMax = 10_000

// openRuns counts the open runs of an engine.
type openRuns struct{ engine *coordinator.Engine }

// nearTenths is the part of a limit, in tenths, at which an open run is near it.
const nearTenths = 8

var (
	openRunsDesc = prometheus.NewDesc("sluice_open_runs", "Open runs by status; more than 10,000 are not counted.", []string{"status"}, nil)
	nearDesc     = prometheus.NewDesc("sluice_runs_near_limit", "Open runs, of those that are counted, that have used 80 % of a limit.", []string{"limit"}, nil)
)

// Describe implements prometheus.Collector.
func (openRuns) Describe(to chan<- *prometheus.Desc) { to <- openRunsDesc; to <- nearDesc }

// Collect implements prometheus.Collector.
func (o openRuns) Collect(to chan<- prometheus.Metric) {
	near, most := 0, o.engine.Limits().EventsMax
	for _, status := range []reactive.RunStatus{reactive.RunRunning, reactive.RunWaiting, reactive.RunPaused} {
		n := 0
		for head, err := range o.engine.List(context.Background(), journal.Query{Index: journal.ByStatus, Key: string(status)}) {
			if err != nil || n == countedMax {
				break
			}
			n++
			if most > 0 && (head.Last-head.Snapshot)*10 >= uint64(most)*nearTenths {
				near++
			}
		}
		to <- prometheus.MustNewConstMetric(openRunsDesc, prometheus.GaugeValue, float64(n), string(status))
	}
	to <- prometheus.MustNewConstMetric(nearDesc, prometheus.GaugeValue, float64(near), "events")
}
