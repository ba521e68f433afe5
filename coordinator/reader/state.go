package reader

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Runs implements coordinator.Engine.Runs.
func (r *Reader) Runs(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for head, err := range r.store.Heads(ctx, after) {
			if err != nil && Unreadable(&head, err) {
				head, err = damagedHead(head.Run), nil
			}
			if !yield(head, err) {
				return
			}
		}
	}
}

// State implements coordinator.Run.State: of large values it has those from which the statuses follow.
func (r *Reader) State(ctx context.Context, run string) (*inspect.State, error) {
	return r.state(ctx, run, r.lean)
}

// Whole is State with all values.
func (r *Reader) Whole(ctx context.Context, run string) (*inspect.State, error) {
	return r.state(ctx, run, r.whole)
}

func (r *Reader) state(ctx context.Context, run string, read reading) (*inspect.State, error) {
	s, err := r.stateFromJournal(ctx, run, read)
	if errors.Is(err, errUnread) {
		s, err = r.stateFromJournal(ctx, run, r.whole)
	}
	if err != nil && r.lost(ctx, run, err) {
		s, err = r.stateFromHead(ctx, run, err)
	}
	if err != nil {
		return nil, err
	}
	if err := r.process.Parked(ctx, run); !s.Finished && s.Parked == nil && errors.Is(err, decide.ErrParked) {
		s.Parked = err
	}
	return s, nil
}

// lost reports whether the run cannot be followed because of an error about its journal.
func (r *Reader) lost(ctx context.Context, run string, err error) bool {
	if errors.Is(err, decide.ErrRunNotFound) || errors.Is(err, journal.ErrClosed) {
		return false
	}
	return Lasting(err) || errors.Is(r.process.Parked(ctx, run), decide.ErrParked)
}

// errUnread means that the decisions on timers that have fallen due may read any value, and not all values were loaded.
var errUnread = errors.New("reader: values were not read")

// recordingSkips returns a reading that sets unread once it has skipped a value.
func recordingSkips(read reading, unread *bool) reading {
	return func(ctx context.Context, run string, from uint64, needed func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
		return read(ctx, run, from, func(e *journal.Event) bool {
			wanted := needed(e)
			*unread = *unread || journal.IsLarge(e) && !wanted
			return wanted
		})
	}
}

// stateFromJournal is State derived from the journal.
func (r *Reader) stateFromJournal(ctx context.Context, run string, read reading) (s *inspect.State, err error) {
	var states *inspect.States
	unread := false
	newest := func() (route, error) { return r.newest(ctx, run) }
	root, err := r.followTo(ctx, run, newest, recordingSkips(read, &unread), func(root *reactive.Root) follower {
		states = inspect.NewStates(root)
		return follower{apply: states.Apply, restored: states.Restored}
	})
	if err != nil {
		return nil, err
	}
	if unread && isOverdue(r.process, run, root.NextDue()) {
		return nil, errUnread
	}
	seq, at := root.Seq(), root.At()
	late, err := r.settle(ctx, root, states.Apply)
	if err != nil {
		return nil, err
	}
	panicked := r.Derived(run, func() {
		s = states.State(run)
		s.Seq, s.Updated, s.Late = seq, at, late
	})
	if panicked == nil {
		unserved(r.process, s.Waits)
	}
	return s, errors.Join(panicked, root.Cells().Err())
}

// stateFromHead is State by the store's head, for a run that cannot be followed.
func (r *Reader) stateFromHead(ctx context.Context, run string, because error) (*inspect.State, error) {
	head, err := r.Head(ctx, run)
	if err != nil && (errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion) || errors.Is(because, journal.ErrDamaged)) {
		head, err = damagedHead(run), nil // unreadable or missing
	}
	if err != nil {
		return nil, err
	}
	start, err := r.Start(ctx, run)
	if err != nil {
		start = &journal.Start{Run: run, Workflow: head.Workflow, Name: head.Name, Labels: head.Labels}
	}
	s := &inspect.State{
		Run: run, Start: start, Status: reactive.RunStatus(head.Status), Started: head.Started, Updated: head.Updated,
		Due: head.Due, Seq: head.Last, Finished: !head.Open,
	}
	if !s.Finished {
		s.Parked = fmt.Errorf("%w: %w", decide.ErrParked, because)
		return s, nil
	}
	for event, err := range r.store.Read(ctx, run, head.Last) {
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", run, err)
		}
		if event.Type == journal.RunFinished && event.Detail != nil {
			s.Failure, s.Output = event.Detail.Failure, event.Value
		}
	}
	return s, nil
}

// Head returns a run's head in the store. It lists ids from just before this one on.
func (r *Reader) Head(ctx context.Context, id string) (journal.Head, error) {
	if id == "" {
		return journal.Head{}, fmt.Errorf("%w: %q", decide.ErrRunNotFound, id)
	}
	last := len(id) - 1
	before := id[:last]
	if id[last] > 0 { // no id lies between this one and the wanted one
		before += string([]byte{id[last] - 1, 0xff})
	}
	for head, err := range r.store.Heads(ctx, before) {
		switch {
		case head.Run > id:
			return journal.Head{}, fmt.Errorf("%w: %s", decide.ErrRunNotFound, id)
		case err != nil:
			return journal.Head{}, fmt.Errorf("read the head of run %s: %w", id, err)
		case head.Run == id:
			return head, nil
		}
	}
	return journal.Head{}, fmt.Errorf("%w: %s", decide.ErrRunNotFound, id)
}

// Workload returns the workload that the requests of a run's keychain read; nil for a run without one.
func Workload(root *reactive.Root) map[string]value.Value {
	if steps := root.Steps(); steps != nil {
		return steps.Workload()
	}
	return nil
}
