package measures

import (
	"cmp"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluiceflow/sluice/coordinator/workers"
)

// operationsMax bounds the operations that get a series of their own while the process lives: any document may name new ones.
const operationsMax = 100

// others is the name for all further operations.
const others = "(others)"

// workerCollector exports the calls that wait for workers.
type workerCollector struct {
	hub *workers.Hub

	mu    sync.Mutex
	shown map[string]bool // operations that have a series of their own
}

var (
	workersDesc  = prometheus.NewDesc("sluice_workers", "Workers that were heard of in the last minute, or have calls.", nil, nil)
	callsDesc    = prometheus.NewDesc("sluice_worker_calls", "Calls that workers have.", nil, nil)
	queueDesc    = prometheus.NewDesc("sluice_worker_queue", "Runs that wait for a worker, and calls that workers have lost, by operation.", []string{"operation"}, nil)
	unservedDesc = prometheus.NewDesc("sluice_worker_unserved", "1 if no worker serves the operation, else 0; of others, one of them.", []string{"operation"}, nil)
)

// Describe implements prometheus.Collector.
func (*workerCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{workersDesc, callsDesc, queueDesc, unservedDesc} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *workerCollector) Collect(to chan<- prometheus.Metric) {
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
	for _, l := range c.loads(demands) {
		gauge(queueDesc, l.queue, l.operation)
		gauge(unservedDesc, l.unserved, l.operation)
	}
}

// load counts the calls of an operation, or of several.
type load struct {
	operation       string
	queue, unserved int
}

// loads returns the load of each operation that is shown, and one of all others. Of new ones those with the longest queues come first.
func (c *workerCollector) loads(demands []workers.Demand) (list []load) {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(demands, func(a, b workers.Demand) int { return cmp.Compare(b.Runs+b.Calls, a.Runs+a.Calls) })
	rest := load{operation: others}
	for _, d := range demands {
		l := load{operation: d.Operation, queue: d.Runs + d.Calls}
		if !d.Unserved.IsZero() {
			l.unserved = 1
		}
		if c.shown[d.Operation] || len(c.shown) < operationsMax {
			c.shown[d.Operation] = true
			list = append(list, l)
			continue
		}
		rest.queue, rest.unserved = rest.queue+l.queue, max(rest.unserved, l.unserved)
	}
	if len(list) < len(demands) {
		list = append(list, rest)
	}
	return list
}
