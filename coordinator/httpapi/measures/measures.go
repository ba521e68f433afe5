// Package measures exports the metrics of a server in Prometheus' format.
package measures

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sluiceflow/sluice/coordinator"
)

// Of are the metrics of a server. No label names a run, a step or a client.
type Of struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec // by route and status
	refusals *prometheus.CounterVec   // by code
	lag      prometheus.Histogram     // of feeds
}

// Server holds the measured parts of a server.
type Server struct {
	Feeds    func() int // how many are open
	FeedsMax int        // at most
	Folder   string     // of the store; "": none is shown
}

// New returns the metrics of an engine and of a server.
func New(engine *coordinator.Engine, server Server) *Of {
	m := &Of{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_http_request_duration_seconds", Help: "Time to answer requests, except feeds.",
			Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30},
		}, []string{"method", "route", "status"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_http_refusals_total", Help: "Requests that were refused or have failed.",
		}, []string{"code"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "sluice_feed_lag_seconds", Help: "Time from when the server has read a durable change until it was sent to an observer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 5, 30},
		}),
	}
	m.registry.MustRegister(
		m.requests, m.refusals, m.lag, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), openRuns{engine}, eventCollector{engine.Tally()},
		limitCollector{engine, server}, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sluice_feed_observers", Help: "Feeds that are open."}, func() float64 { return float64(server.Feeds()) }),
	)
	if server.Folder != "" {
		size := func() float64 { return float64(bytesIn(server.Folder)) }
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sluice_store_bytes", Help: "Bytes of the files in the folder of the store."}, size))
	}
	if hub := engine.Workers(); hub != nil {
		m.registry.MustRegister(&workerCollector{hub: hub, shown: map[string]bool{}})
	}
	return m
}

// Handler returns the handler of the metrics in Prometheus' format.
func (m *Of) Handler() http.Handler { return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}) }

// Refused counts a request that was refused or has failed.
func (m *Of) Refused(code string) { m.refusals.WithLabelValues(code).Inc() }

// Answered counts a request that was answered.
func (m *Of) Answered(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
}

// Sent records that an observer was sent a change that the server read at an instant.
func (m *Of) Sent(since time.Time) { m.lag.Observe(time.Since(since).Seconds()) }

// Meter records the status of an answer.
type Meter struct {
	http.ResponseWriter

	Status int // 0: there is no answer yet
}

// Unwrap is for http.ResponseController.
func (w *Meter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *Meter) WriteHeader(status int) {
	if w.Status == 0 {
		w.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *Meter) Write(data []byte) (int, error) {
	if w.Status == 0 {
		w.Status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}
