package coordinator

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Runs yields the heads of all runs in the store whose id is greater than after, in order of id, child runs included. They say
// what the journals say: see Current for runs that nobody goes on with. Of a run whose head cannot be read there is the id, with
// StatusDamaged; Parked says what is wrong.
func (e *Engine) Runs(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return read(ctx, e, func(yield func(journal.Head, error) bool) {
		for head, err := range e.store.Heads(ctx, after) {
			if err != nil && unreadable(&head, err) {
				head, err = damagedHead(head.Run), nil
			}
			if !yield(head, err) {
				return
			}
		}
	})
}

// read passes on what a reader yields, with errors that say why it has ended.
func read[T any](ctx context.Context, e *Engine, from iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := e.down(); err != nil {
			var none T
			yield(none, err)
			return
		}
		for one, err := range from {
			if !yield(one, e.why(ctx, err)) {
				return
			}
		}
	}
}

// Events yields what the run's journal holds now, from the event with sequence from (1: the start). Nothing is derived,
// so it also reads the runs that this program cannot follow.
func (r *Run) Events(ctx context.Context, from uint64) iter.Seq2[journal.Event, error] {
	return read(ctx, r.engine, r.engine.store.Read(ctx, r.id, from))
}

// State reads where the run stands. It follows the whole journal: its cost is proportional to the number of events, and the
// run itself is not held up. Timers of a run that does not go on here count when they have fallen due, though that is journaled
// only by who goes on with it: see State.Late. Of a run that cannot be followed, because it was started under rules of another
// version or is damaged, it reads what its events and its head say, without its steps.
func (r *Run) State(ctx context.Context) (*State, error) {
	e := r.engine
	if err := e.down(); err != nil {
		return nil, err
	}
	s, err := r.followed(ctx)
	if err != nil && r.lost(err) {
		s, err = r.listed(ctx, err)
	}
	if err != nil {
		return nil, e.why(ctx, err)
	}
	if err := r.Parked(ctx); !s.Finished && s.Parked == nil && errors.Is(err, ErrParked) {
		s.Parked = err
	}
	return s, nil
}

// lost reports whether the run cannot be followed, because of an error about its journal.
func (r *Run) lost(err error) bool {
	if errors.Is(err, ErrRunNotFound) || errors.Is(err, journal.ErrClosed) {
		return false
	}
	return lasting(err) || r.engine.parkedFor(r.id) != nil
}

// followed is State by what follows from the journal.
func (r *Run) followed(ctx context.Context) (s *State, err error) {
	var states *inspect.States
	root, err := r.engine.followAll(ctx, r.id, func(root *reactive.Root) func(*journal.Event) {
		states = inspect.NewStates(root)
		return states.Apply
	})
	if err != nil {
		return nil, err
	}
	seq, at := root.Seq(), root.At()
	late, err := r.engine.settle(ctx, root, states.Apply)
	if err != nil {
		return nil, err
	}
	return s, r.engine.derived(r.id, func() {
		s = states.State(r.id)
		s.Seq, s.Updated, s.Late = seq, at, late != nil
	})
}

// Output reads what a step has returned, whole; "" is the run. A participant names one of those whom the step has asked: it
// is what that one has answered last. Where there is none, the error says how things stand: ErrNotPossible. It follows the
// whole journal, as State does.
func (r *Run) Output(ctx context.Context, step, participant string) (any, error) {
	s, err := r.State(ctx)
	if err != nil {
		return nil, err
	}
	return s.OutputOf(step, participant)
}

// startOf is what a run was started with, by its first event; nil when the event is none.
func startOf(e *journal.Event) *journal.Start {
	if e.Type != journal.RunStarted || e.Detail == nil {
		return nil
	}
	return e.Detail.Start
}

// listed is State by what the store lists, for a run that cannot be followed.
func (r *Run) listed(ctx context.Context, because error) (*State, error) {
	e := r.engine
	head, err := e.head(ctx, r.id)
	if err != nil && (errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion) || errors.Is(because, journal.ErrDamaged)) {
		head, err = damagedHead(r.id), nil // it cannot be read, or is not there
	}
	if err != nil {
		return nil, err
	}
	start, err := e.start(ctx, r.id)
	if err != nil {
		start = &journal.Start{Run: r.id, Workflow: head.Workflow, Name: head.Name, Labels: head.Labels}
	}
	s := &State{
		Run: r.id, Start: start, Status: reactive.RunStatus(head.Status), Started: head.Started, Updated: head.Updated,
		Due: head.Due, Seq: head.Last, Finished: !head.Open,
	}
	if !s.Finished {
		s.Parked = fmt.Errorf("%w: %w", ErrParked, because)
		return s, nil
	}
	for event, err := range e.store.Read(ctx, r.id, head.Last) {
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", r.id, err)
		}
		if event.Type == journal.RunFinished && event.Detail != nil {
			s.Failure, s.Output = event.Detail.Failure, event.Value
		}
	}
	return s, nil
}

// Last is the sequence of the run's newest event.
func (r *Run) Last(ctx context.Context) (uint64, error) {
	if err := r.engine.down(); err != nil {
		return 0, err
	}
	head, err := r.engine.head(ctx, r.id)
	return head.Last, r.engine.why(ctx, err)
}

// head is what the store lists a run with. It looks at ids from just before this one on.
func (e *Engine) head(ctx context.Context, id string) (journal.Head, error) {
	if id == "" {
		return journal.Head{}, fmt.Errorf("%w: %q", ErrRunNotFound, id)
	}
	last := len(id) - 1
	before := id[:last]
	if id[last] > 0 { // no id is between this and the one that is looked for
		before += string([]byte{id[last] - 1, 0xff})
	}
	for head, err := range e.store.Heads(ctx, before) {
		switch {
		case head.Run > id:
			return journal.Head{}, fmt.Errorf("%w: %s", ErrRunNotFound, id)
		case err != nil:
			return journal.Head{}, fmt.Errorf("read the head of run %s: %w", id, err)
		case head.Run == id:
			return head, nil
		}
	}
	return journal.Head{}, fmt.Errorf("%w: %s", ErrRunNotFound, id)
}
