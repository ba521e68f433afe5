package measures

import (
	"io/fs"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluiceflow/sluice/coordinator"
)

// limitCollector exports the used part of the limits that all runs or all clients share.
type limitCollector struct {
	engine *coordinator.Engine
	server Server
}

var (
	usedDesc    = prometheus.NewDesc("sluice_limit_used_ratio", "How much of a limit that all share is used: 1 is all.", []string{"limit"}, nil)
	waitingDesc = prometheus.NewDesc("sluice_limit_queue", "Runs that wait for room under a limit.", []string{"limit"}, nil)
)

// Describe implements prometheus.Collector.
func (limitCollector) Describe(to chan<- *prometheus.Desc) { to <- usedDesc; to <- waitingDesc }

// Collect implements prometheus.Collector.
func (s limitCollector) Collect(to chan<- prometheus.Metric) {
	used := func(limit string, used, most int) {
		to <- prometheus.MustNewConstMetric(usedDesc, prometheus.GaugeValue, float64(used)/float64(most), limit)
	}
	used("feeds", s.server.Feeds(), s.server.FeedsMax)
	for _, u := range s.engine.Uses() {
		used(u.Limit, u.Used, u.Max)
		to <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(u.Waiting), u.Limit)
	}
}

// bytesIn returns the number of bytes of the files in a folder. A file that is deleted meanwhile counts as empty.
func bytesIn(folder string) (n int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}
