package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// measures are what operators see of a server. No label names a run, a step or who has asked.
type measures struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec // by route and status
	refusals *prometheus.CounterVec   // by code
}

func newMeasures(s *Server) *measures {
	m := &measures{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_http_request_duration_seconds", Help: "Time to answer requests, but for feeds.",
			Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30},
		}, []string{"method", "route", "status"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_http_refusals_total", Help: "Requests that were refused or have failed.",
		}, []string{"code"}),
	}
	m.registry.MustRegister(
		m.requests, m.refusals, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), openRuns{s.engine},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sluice_feed_observers", Help: "Feeds that are open."}, s.streams.count),
	)
	return m
}

// countedMax bounds the open runs that a scrape counts of each status.
const countedMax = 10_000

// openRuns counts the open runs of an engine.
type openRuns struct{ engine *coordinator.Engine }

var openRunsDesc = prometheus.NewDesc("sluice_open_runs", "Open runs by status; more than 10,000 are not counted.", []string{"status"}, nil)

// Describe implements prometheus.Collector.
func (openRuns) Describe(to chan<- *prometheus.Desc) { to <- openRunsDesc }

// Collect implements prometheus.Collector.
func (o openRuns) Collect(to chan<- prometheus.Metric) {
	for _, status := range []reactive.RunStatus{reactive.RunRunning, reactive.RunWaiting, reactive.RunPaused} {
		n := 0
		for _, err := range o.engine.List(context.Background(), journal.Query{Index: journal.ByStatus, Key: string(status)}) {
			if err != nil || n == countedMax {
				break
			}
			n++
		}
		to <- prometheus.MustNewConstMetric(openRunsDesc, prometheus.GaugeValue, float64(n), string(status))
	}
}

// Metrics returns a handler of the server's metrics alone, for a listener of their own. It needs no token.
func (s *Server) Metrics() http.Handler {
	return promhttp.HandlerFor(s.measures.registry, promhttp.HandlerOpts{})
}

func metrics(c *exchange) error {
	c.Metrics().ServeHTTP(c.w, c.req)
	return nil
}

// count returns how many streams are open.
func (s *streams) count() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(s.all)
}

// meter notes the status of an answer.
type meter struct {
	http.ResponseWriter
	status int
}

// Unwrap is for http.ResponseController.
func (w *meter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *meter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *meter) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}

// measured answers a request, and counts and logs it.
func (c *exchange) measured(answer func()) {
	w, begun := &meter{ResponseWriter: c.w}, time.Now()
	c.w, c.id = w, requestID()
	w.Header().Set(requestHeader, c.id)
	answer()
	took := time.Since(begun)
	if r := c.route; r.Answer != nil || r.Method != http.MethodGet { // a feed lasts as long as its reader
		c.measures.requests.WithLabelValues(r.Method, r.Path, strconv.Itoa(w.status)).Observe(took.Seconds())
	}
	if c.route.Method != http.MethodGet {
		c.log.Info("request", "request", c.id, "actor", c.who.Name, "method", c.route.Method, "route", c.route.Path, "run", c.req.PathValue("run"),
			"step", c.req.PathValue("key"), "status", w.status, "took", took)
	}
}

// requestHeader is the header of an answer with the name of the request in the log.
const requestHeader = "X-Request-Id"

func requestID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // it does not fail
	return hex.EncodeToString(id[:])
}
