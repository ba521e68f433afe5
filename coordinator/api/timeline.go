package api

import (
	"context"
	"slices"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api/timeline"
	"github.com/sluiceflow/sluice/coordinator/gap"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/steps"
)

// cellHistory emits the events of all cells of a world, or of one cell, with the activations unfolded.
func cellHistory(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) error {
	line := timeline.Of(req.Step)
	missing := gap.New(1, req.From, trimmed(emit))
	for u, err := range run.History(ctx, 1) {
		if err != nil {
			return err
		}
		if err := missing.Before(u.Event.Seq); err != nil {
			return err
		}
		line.Begin(missing.First())
		wanted := req.Step == "" || line.Wants(&u.Event)
		if !wanted || u.Event.Seq < req.From {
			continue
		}
		for _, v := range unfold(&u.Event) {
			if req.Step != "" && v.Cell != "" && v.Cell != req.Step && !slices.Contains(v.Cells, req.Step) {
				continue // of an activation of another cell, only the event raised for this cell
			}
			if err := emit(&Reply{View: v}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unfold returns the parts of an event of a world. The parts of an activation are its state, raised events and intents.
func unfold(e *journal.Event) []*View {
	if e.Type != journal.CellStepped {
		return []*View{viewOfEvent(e)}
	}
	step := steps.Read(e)
	var list []*View
	add := func(what string, v View) {
		v.Seq, v.At, v.Type, v.Cell, v.Cause = e.Seq, e.Time(), what, e.Node, step.Cause
		list = append(list, &v)
	}
	if step.Ignored {
		add("cell.ignored", View{})
	}
	if step.Changed {
		add("cell.state", View{Value: encoded(step.State)})
	}
	for _, key := range step.Dropped {
		add("intent.dropped", View{Call: key})
	}
	for _, r := range step.Raised {
		add("event.raised", View{Name: r.Event, Cells: r.Cells, Value: encoded(r.Value)})
	}
	for _, x := range step.Emitted {
		v := View{Call: x.Key, Name: x.Effect, Issuer: x.Issuer, Intent: x.ID, Due: instant(x.Due)}
		if x.ID != "" {
			v.Value = encoded(x.Params)
		}
		add("intent.emitted", v)
	}
	if step.Noted {
		add("cell.noted", View{Value: encoded(step.Note)})
	}
	if step.Completed {
		add("cell.completed", View{})
	}
	if len(list) == 0 {
		add("cell.stepped", View{})
	}
	return list
}

// viewOfEvent describes an event of a world, except an activation.
func viewOfEvent(e *journal.Event) *View {
	described := EventOf(e)
	v := &View{
		Seq: described.Seq, At: described.At, Type: described.Type, Attempt: int(described.Attempt), Name: described.Name,
		Value: described.Value, Failure: described.Failure, Cells: described.Cells, Due: described.Due,
	}
	switch e.Type {
	case journal.CellFailed:
		cause, _ := e.Value.(int64)
		v.Cell, v.Cause, v.Value = e.Node, uint64(cause), nil
	case journal.CellPaused, journal.CellResumed, journal.CellReset, journal.CellExpired:
		v.Cell = e.Node
	default:
		v.Call = e.Node
	}
	return v
}

// trimmed returns a function that emits a text about missing events.
func trimmed(emit func(*Reply) error) func(string) error {
	return func(text string) error { return emit(&Reply{Trimmed: text}) }
}
