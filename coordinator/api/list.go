package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Wait is one wait of a run.
type Wait struct {
	Kind  string    `json:"kind"`           // message, person, timer, gate, paused or worker
	Name  string    `json:"name,omitempty"` // of the message, of the deciding person, or of the operation for a worker
	Step  string    `json:"step,omitempty"` // key; of a timer of a world: of the timer, or address of the cell
	Until time.Time `json:"until,omitzero"` // instant at which the wait ends or is given up
	Since time.Time `json:"since,omitzero"` // instant since which no worker serves the operation; only if the process takes workers
}

// Progress counts the known steps of a run. It may lag while the run is busy.
type Progress struct {
	Done   int `json:"done"`             // completed or skipped
	Total  int `json:"total"`            // known so far
	Failed int `json:"failed,omitempty"` // failed or aborted
}

// Nameless removes the names in the waits of the run, the names of its waiting steps, and the reason for which it is parked,
// because these may be made from inputs.
func (r *Run) Nameless() {
	for i := range r.Waits {
		r.Waits[i].Name, r.Waits[i].Step = "", ""
	}
	if r.Parked != "" {
		r.Parked = "it cannot go on; the reason is shown to viewers"
	}
}

func waitsOf(h *journal.Head) []Wait {
	var list []Wait
	for _, w := range h.Waits {
		list = append(list, Wait{w.Kind, w.Name, w.Step, instant(w.Until), time.Time{}})
	}
	return list
}

func progressOf(h *journal.Head) *Progress {
	if h.Total == 0 {
		return nil
	}
	return &Progress{h.Done, h.Total, h.Failed}
}

// parkedMax bounds the runs of a list that are checked for being parked. Each check reads the journal of the run, unless the engine
// works on the run.
const parkedMax = 10_000

// list emits the selected runs of a request, newest first.
func list(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) (*Done, error) {
	q, err := query.Parse(req.Query, time.Now())
	if err != nil {
		return nil, fmt.Errorf("%w: query: %w", ErrBadRequest, err)
	}
	for _, name := range slices.Sorted(maps.Keys(req.Labels)) {
		if err := q.WithLabel(name, req.Labels[name]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
		}
	}
	if req.Dry {
		x := q.Explain()
		return &Done{}, emit(&Reply{Query: &x})
	}
	l := lister{engine: engine, emit: emit}
	done := &Done{}
	var last *journal.Head
	shown := 0
	for row, err := range q.Each(ctx, engine, req.Cursor) {
		switch {
		case errors.Is(err, query.ErrCursor):
			return nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
		case err != nil:
			return nil, fmt.Errorf("list runs: %w", err)
		case req.Limit > 0 && shown == req.Limit: // a further run exists
			done.Next = q.Cursor(last)
			return done, nil
		}
		done.Looked, last = row.Looked, &row.Head
		if err := l.show(ctx, &row); err != nil {
			return nil, err
		}
		shown++
	}
	return done, nil
}

// lister emits runs.
type lister struct {
	engine *coordinator.Engine
	emit   func(*Reply) error
	looked int // runs that were checked for being parked
}

func (l *lister) show(ctx context.Context, row *query.Row) error {
	head, late := row.Head, false
	if row.Err != nil {
		head.Status, head.Open = coordinator.StatusDamaged, true
	} else {
		var err error
		if head, late, err = l.engine.Current(ctx, row.Head); err != nil {
			return fmt.Errorf("list runs: %w", err)
		}
	}
	described := RunOf(&head)
	described.Late, described.Held = late, head.Open && l.engine.Held(head.Run)
	described.Incomplete = l.engine.Incomplete(head.Run)
	if head.Open && l.looked < parkedMax {
		l.looked++
		err := l.engine.Parked(ctx, &head)
		if err == nil {
			err = row.Err
		}
		if errors.Is(err, coordinator.ErrParked) || row.Err != nil {
			described.Parked = coordinator.ParkedReason(err)
		}
	}
	for i := range described.Waits {
		if w := &described.Waits[i]; w.Kind == journal.WaitWorker {
			w.Since = l.engine.Workers().Unserved(w.Name)
		}
	}
	return l.emit(&Reply{Run: described})
}
