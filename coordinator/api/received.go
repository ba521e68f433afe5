package api

import (
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/value"
)

// Received converts an update from another process to the form that Watch of an engine yields, for views that show runs of both.
// The result lacks the fields that are not sent or not needed: most parameters of a start, the source of a kept result, the fields
// of a cell except its status, pause and failure, and the states of tasks.
func (u *Update) Received() (*coordinator.Update, error) {
	event, err := u.Event.Journaled()
	if err != nil {
		return nil, fmt.Errorf("event %d: %w", u.Event.Seq, err)
	}
	out := &coordinator.Update{Event: event, Status: reactive.RunStatus(u.Status)}
	for _, outcome := range []reactive.Effect{reactive.Duplicate, reactive.Late, reactive.Unbound} {
		if outcome.String() == u.Event.Outcome {
			out.Outcome = outcome
		}
	}
	for i := range u.Changes {
		c := &u.Changes[i]
		failure, err := c.Failure.Journaled()
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", u.Event.Seq, err)
		}
		out.Changes = append(out.Changes, coordinator.StepChange{
			Step: c.Step, From: statusNamed(c.From), To: statusNamed(c.To), Attempt: c.Attempt, Pending: c.Pending, Failure: failure,
		})
	}
	for i := range u.Cells {
		m := &u.Cells[i]
		failure, err := m.Failure.Journaled()
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", u.Event.Seq, err)
		}
		cell := world.CellState{Address: m.Cell, Status: world.Status(m.To), Paused: m.Paused, Failure: failure}
		out.Cells = append(out.Cells, inspect.CellChange{From: world.Status(m.From), Cell: cell})
	}
	for _, l := range u.Loops {
		out.Loops = append(out.Loops, coordinator.LoopChange{Step: l.Step, Items: l.Items, Done: l.Done, Failed: l.Failed})
	}
	for i := range u.Awaits {
		a := &u.Awaits[i]
		out.Waits = append(out.Waits, inspect.Wait{
			Kind: inspect.WaitKind(a.Kind), Step: a.Step, Name: a.Name, Who: a.Who, Reads: a.Reads, Due: nanoseconds(a.Until), Then: a.Then, Command: a.Command,
		})
	}
	return out, nil
}

// statusNamed returns the status of a step by its name, or reactive.Idle for a name that this version does not have.
func statusNamed(name string) reactive.Status {
	for s := range reactive.Skipped + 1 {
		if s.String() == name {
			return s
		}
	}
	return reactive.Idle
}

// Journaled returns the event as in a journal.
func (e *Event) Journaled() (journal.Event, error) {
	typ, err := journal.ParseType(e.Type)
	if err != nil {
		return journal.Event{}, err
	}
	failure, err := e.Failure.Journaled()
	if err != nil {
		return journal.Event{}, err
	}
	out := journal.Event{Seq: e.Seq, At: nanoseconds(e.At), Type: typ, Node: e.Step, Attempt: e.Attempt, Detail: &journal.Detail{
		Failure: failure, Participant: e.Participant, Participants: e.Participants, Timer: e.Timer, State: e.State, Name: e.Name,
		Actor: e.Actor, Reason: e.Reason, Key: e.Key, Received: nanoseconds(e.Received), Due: nanoseconds(e.Due),
		RetryAt: nanoseconds(e.RetryAt), Count: e.Count, Making: e.Making, Work: e.Work, Cause: e.Cause, ID: e.ID, Cells: e.Cells,
	}}
	if out.Value, err = parsed(e.Value); err != nil {
		return out, err
	}
	if out.Detail.About, err = parsed(e.About); err != nil {
		return out, err
	}
	if s := e.Start; s != nil {
		out.Detail.Start = &journal.Start{
			Run: s.Run, Name: s.Name, Version: s.Version, Workflow: s.Workflow, Parent: s.Parent, Labels: s.Labels, Actor: s.Actor, Dir: s.Dir,
		}
	}
	return out, nil
}

// Journaled returns the failure as in a journal. It returns nil for nil.
func (f *Failure) Journaled() (*journal.Failure, error) {
	if f == nil {
		return nil, nil
	}
	details, err := parsed(f.Details)
	return &journal.Failure{Code: f.Code, Step: f.Step, Message: f.Message, Retryable: f.Retryable, Details: details}, err
}

// parsed parses a value that was sent as JSON. It returns nil for an empty text.
func parsed(text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	return value.ParseInput(text)
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
