package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/query"
)

// Bounds of a count: how many runs it goes up to, and how many it looks at to find them.
const (
	countMax       = 10_000
	countLookedMax = 20_000
)

// Counts says how many runs a query selects, by what they are like.
type Counts struct {
	Status map[string]Count `json:"status"` // by status
	Waits  map[string]Count `json:"waits"`  // of those that wait, by what for
}

// Count is a number of runs.
type Count struct {
	Count int  `json:"count"`          // exact unless More
	More  bool `json:"more,omitempty"` // there may be more
}

var (
	countedStatuses = []string{"running", "waiting", "paused", "completed", "failed", "partial", "aborted", "deadline_exceeded", "step_timeout"}
	countedWaits    = []string{"message", "person", "timer", "gate"}
)

func countRuns(c *exchange) error {
	counts := Counts{Status: map[string]Count{}, Waits: map[string]Count{}}
	for _, status := range countedStatuses {
		if err := c.count("status:"+status, status, counts.Status); err != nil {
			return err
		}
	}
	for _, wait := range countedWaits {
		if err := c.count("waits:"+wait, wait, counts.Waits); err != nil {
			return err
		}
	}
	return c.reply(http.StatusOK, counts)
}

// count counts the runs of the request's query that a term selects, too.
func (c *exchange) count(term, name string, into map[string]Count) error {
	q, err := query.Parse(strings.TrimSpace(c.query("q")+" "+term), time.Now())
	if err != nil {
		return fmt.Errorf("%w: query: %w", api.ErrBadRequest, err)
	}
	n := Count{}
	for row, err := range q.Each(c.req.Context(), c.engine, "") {
		if err != nil {
			return err
		}
		if n.Count == countMax || row.Looked >= countLookedMax {
			n.More = true
			break
		}
		n.Count++
	}
	into[name] = n
	return nil
}
