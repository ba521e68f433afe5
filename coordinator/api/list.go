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

// Wait is something that a run waits for.
type Wait struct {
	Kind  string    `json:"kind"`           // message, person, timer, gate, paused or worker
	Name  string    `json:"name,omitempty"` // of the message, of the person who decides, or of the operation that a worker is to serve
	Step  string    `json:"step,omitempty"` // key; of a timer of a world: of the timer, or address of the cell
	Until time.Time `json:"until,omitzero"` // when it is given up, or over
	Since time.Time `json:"since,omitzero"` // since when no worker serves the operation, if none does and the process takes workers
}

// Progress counts the steps of a run, as far as they are known; it may lag while the run is busy.
type Progress struct {
	Done   int `json:"done"`             // completed or skipped
	Total  int `json:"total"`            // known so far
	Failed int `json:"failed,omitempty"` // failed or aborted
}

// Nameless takes away the names in the run's waits, those of the steps that wait, and why it cannot go on: they may be made from
// inputs.
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

// parkedMax bounds the runs of a list that are checked for being parked: each costs a read of its journal, unless the engine
// works on it.
const parkedMax = 10_000

// list emits the runs that a request selects, newest first.
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
		case req.Limit > 0 && shown == req.Limit: // there is one more
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
	looked int // for whether they are parked
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
