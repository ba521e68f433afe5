package api

import (
	"context"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/reactive/inspect"
)

// Moment is a point in the journal of a run. Exactly one field is set.
type Moment struct {
	Seq  uint64    `json:"seq,omitempty"` // of the last included event
	Time time.Time `json:"time,omitzero"` // events up to this instant are included
}

// reading is the source of descriptions of a run: now, or at a moment.
type reading interface {
	State(ctx context.Context) (*coordinator.State, error)
	Cell(ctx context.Context, address string) (cells.State, error)
	CellWaits(ctx context.Context, address string) ([]inspect.Wait, error)
	Explain(ctx context.Context, step string) (*coordinator.Explanation, error)
	CallGraph(ctx context.Context) (*coordinator.CallGraph, error)
}

// reading returns the reading of a run at the requested moment, or now.
func (r *Request) reading(run *coordinator.Run) reading {
	if r.At == nil {
		return run
	}
	return run.At(coordinator.Moment{Seq: r.At.Seq, Time: r.At.Time})
}

// momentFault returns the fault of the moment of a request, or "".
func (r *Request) momentFault() string {
	switch {
	case r.At == nil:
		return ""
	case r.Verb != Show && r.Verb != Explain && r.Verb != Graph:
		return fmt.Sprintf("%q has no moment", r.Verb)
	case (r.At.Seq == 0) == r.At.Time.IsZero():
		return "a moment is the number of an event, from 1, or an instant"
	}
	return ""
}
