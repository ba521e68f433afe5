package httpapi

import (
	"cmp"
	"net/http"
	"time"

	"github.com/sluiceflow/sluice/coordinator/httpapi/measures"
)

// Metrics returns a handler of the server's metrics alone, for a listener of their own. It needs no token.
func (s *Server) Metrics() http.Handler {
	return s.measures.Handler()
}

func showMetrics(c *exchange) error {
	c.Metrics().ServeHTTP(c.w, c.req)
	return nil
}

// measured answers a request, and counts and logs it.
func (c *exchange) measured(answer func()) {
	w, begun := &measures.Meter{ResponseWriter: c.w}, time.Now()
	c.w, c.id = w, w.Header().Get(requestHeader)
	answer()
	took := time.Since(begun)
	c.audited(w.Status)
	if r := c.route; r.Answer != nil || r.Method != http.MethodGet { // a feed lasts as long as its reader
		c.measures.Answered(r.Method, r.Path, w.Status, took)
	}
	if c.route.Method != http.MethodGet {
		c.log.Info("request", "request", c.id, "actor", c.who.Name, "method", c.route.Method, "route", c.route.Path, "run", cmp.Or(c.started, c.req.PathValue("run")),
			"step", c.req.PathValue("key"), "status", w.Status, "took", took)
	}
}

// requestHeader is the header of an answer with the name of the request in the log.
const requestHeader = "X-Request-Id"
