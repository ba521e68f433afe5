package coordinator

import (
	"context"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Update is one event of a run and what it changed.
type Update struct {
	Event   journal.Event
	Outcome reactive.Outcome   // what it has meant: an answer that came too late changes nothing
	Changes []StepChange       // in the order in which they were derived
	Tasks   []TaskChange       // of steps that declare who says whether their task is done
	Loops   []LoopChange       // of a playbook, how far those have come that have moved
	Status  reactive.RunStatus // of the run, after the event
}

// TaskChange is the move of a step's task from a state to another. The update's event has caused it.
type TaskChange struct {
	Step     string // its key
	Attempt  int32
	From, To call.Fulfillment
	Failure  *journal.Failure // why the step has failed, or is skipped, with that
}

// LoopChange is how far a loop of a playbook's step has come.
type LoopChange struct {
	Step         string // key of the step-run, such as `fetch@2`
	Done, Failed int    // iterations
	Items        int
}

// StepChange is one step's, map's or item's move from a status to another.
type StepChange struct {
	Step     string // its key; in a playbook of a call, or of a run of a step, such as `fetch@2`
	From, To reactive.Status
	Attempt  int32
	Pending  bool             // failed, with a retry to come
	Failure  *journal.Failure // why it failed, was aborted or skipped by its timing; its Step is where that began, if elsewhere
}

// Watch yields everything that has happened to the run since the event with sequence from (0 and 1: from the start), and
// then what happens, as soon as it is durable. It ends after the run has, or with ctx's error.
//
// It reads the journal and derives the changes for itself: it sees every event once and in order, starts anywhere, and
// however slow it is, the run is not. A run that is not in memory is only read, and one that is parked is waited for.
func (r *Run) Watch(ctx context.Context, from uint64) iter.Seq2[Update, error] {
	return r.updates(ctx, r.tail(ctx), from)
}

// History yields what Watch does, as far as the journal goes now.
func (r *Run) History(ctx context.Context, from uint64) iter.Seq2[Update, error] {
	return r.updates(ctx, r.Events(ctx, 1), from)
}

// Roots yields what the run's journal means, after each of its events: those that are there and those that come, until the
// run ends. The root is the caller's to read between two steps of the iteration, its signals to subscribe to; the journal
// alone changes it.
func (r *Run) Roots(ctx context.Context) iter.Seq2[*reactive.Root, error] {
	return func(yield func(*reactive.Root, error) bool) {
		w := watcher{from: ^uint64(0)}
		for e, err := range r.tail(ctx) {
			if err == nil {
				_, err = w.take(ctx, r, &e)
			}
			if err != nil {
				yield(nil, fmt.Errorf("watch run %s: %w", r.id, r.engine.why(ctx, err)))
				return
			}
			if !yield(w.root, nil) {
				return
			}
		}
	}
}

// tail yields the run's events, those that are there and those that come, until the run has ended.
func (r *Run) tail(ctx context.Context) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		if err := r.engine.down(); err != nil {
			yield(journal.Event{}, err)
			return
		}
		following, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(r.engine.ctx, cancel)()
		for e, err := range r.engine.store.Tail(following, r.id, 1) {
			if err != nil && ctx.Err() == nil && following.Err() != nil {
				err = ErrShutdown
			}
			if !yield(e, err) || err != nil || e.Type == journal.RunFinished && !r.reopened(ctx, e.Seq) {
				return
			}
		}
	}
}

// updates tells what events have changed, from the one with sequence from. It ends at an error.
func (r *Run) updates(ctx context.Context, events iter.Seq2[journal.Event, error], from uint64) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		w := watcher{from: max(1, from)}
		for e, err := range events {
			var u Update
			if err == nil {
				u, err = w.take(ctx, r, &e)
			}
			if err != nil {
				yield(Update{}, fmt.Errorf("watch run %s: %w", r.id, r.engine.why(ctx, err)))
				return
			}
			if e.Seq >= w.from && !yield(u, nil) {
				return
			}
		}
	}
}

// watcher follows a journal and tells what has changed, from a sequence on.
type watcher struct {
	from  uint64
	root  *reactive.Root
	steps *stepWatch // of a playbook
}

// take applies an event of a run.
func (w *watcher) take(ctx context.Context, r *Run, e *journal.Event) (u Update, err error) {
	if w.root == nil {
		if w.root, err = r.engine.rootFor(ctx, e); err != nil {
			return Update{}, err
		}
	}
	err = r.engine.derived(r.id, func() { u = w.apply(e) })
	return u, err
}

func (w *watcher) apply(e *journal.Event) Update {
	if e.Seq == w.from {
		w.root.Watch()
		w.steps = watchSteps(w.root)
	}
	outcome := w.root.Apply(e)
	if e.Seq < w.from {
		return Update{}
	}
	u := update(w.root, e, outcome)
	if w.steps != nil {
		w.steps.take(&u)
	}
	return u
}

// reopened reports whether a run has gone on after it had finished with the event of that sequence.
func (r *Run) reopened(ctx context.Context, finished uint64) bool {
	for _, err := range r.engine.store.Read(ctx, r.id, finished+1) {
		return err == nil
	}
	return false
}

// update describes what an event that was just applied has changed.
func update(root *reactive.Root, e *journal.Event, outcome reactive.Outcome) Update {
	u := Update{Event: *e, Outcome: outcome, Status: root.RunStatus()}
	for _, c := range root.TaskChanges() {
		u.Tasks = append(u.Tasks, TaskChange{Step: c.Key, Attempt: c.Attempt, From: c.From, To: c.To, Failure: c.Failure})
	}
	for _, c := range root.Changes() {
		if was := c.Cell; was != nil {
			u.Changes = append(u.Changes, StepChange{
				Step: was.Key, From: c.From, To: c.To, Attempt: was.Attempt, Pending: was.Pending, Failure: was.Failure,
			})
			continue
		}
		if key := root.Key(c.Node); root.Place(c.Node).Key != "" {
			u.Changes = append(u.Changes, StepChange{
				Step: key, From: c.From, To: c.To, Attempt: root.Attempt(c.Node), Pending: root.Pending(c.Node),
				Failure: root.Failure(c.Node),
			})
		}
	}
	return u
}

// rootFor makes the empty root of a run from its first event.
func (e *Engine) rootFor(ctx context.Context, first *journal.Event) (*reactive.Root, error) {
	start := startOf(first)
	if start == nil {
		return nil, fmt.Errorf("%w: it does not begin with its start", journal.ErrDamaged)
	}
	if err := decide.SameRules(start); err != nil {
		return nil, err
	}
	entry, err := e.library.read(ctx, e.store, start.Workflow, start.Children)
	if err != nil {
		return nil, err
	}
	return decide.NewRoot(entry.plan), nil
}
