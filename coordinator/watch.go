package coordinator

import (
	"context"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
)

// Update is one event of a run and what it changed.
type Update struct {
	Event   journal.Event
	Changes []StepChange       // in the order in which they were derived
	Loops   []LoopChange       // of a playbook, how far those have come that have moved
	Status  reactive.RunStatus // of the run, after the event
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
	Failure  *journal.Failure // why it failed, was aborted or skipped by its timing
}

// Watch yields everything that has happened to the run since the event with sequence from (1: from the start), and then
// what happens, as soon as it is durable. It ends after the run has, or with ctx's error.
//
// It reads the journal and derives the changes for itself: it sees every event once and in order, starts anywhere, and
// however slow it is, the run is not. A run that is not in memory is only read.
func (r *Run) Watch(ctx context.Context, from uint64) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(r.engine.ctx, func() { cancel(ErrShutdown) })()
		var root *reactive.Root
		var steps *stepWatch
		for e, err := range r.engine.store.Tail(ctx, r.id, 1) {
			if err == nil && root == nil {
				root, err = r.engine.rootFor(ctx, &e)
			}
			if err != nil {
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				yield(Update{}, fmt.Errorf("watch run %s: %w", r.id, err))
				return
			}
			if e.Seq == from {
				root.Watch()
				steps = watchSteps(root)
			}
			root.Apply(&e)
			if e.Seq < from {
				continue
			}
			u := update(root, &e)
			if steps != nil {
				steps.take(&u)
			}
			if !yield(u, nil) || e.Type == journal.RunFinished && !r.reopened(ctx, e.Seq) {
				return
			}
		}
	}
}

// reopened reports whether a run has gone on after it had finished with the event of that sequence.
func (r *Run) reopened(ctx context.Context, finished uint64) bool {
	for _, err := range r.engine.store.Read(ctx, r.id, finished+1) {
		return err == nil
	}
	return false
}

// update describes what an event that was just applied has changed.
func update(root *reactive.Root, e *journal.Event) Update {
	u := Update{Event: *e, Status: root.RunStatus()}
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
	if first.Type != journal.RunStarted || first.Detail == nil || first.Detail.Start == nil {
		return nil, fmt.Errorf("%w: it does not begin with its start", journal.ErrDamaged)
	}
	if start := first.Detail.Start; start.Engine != EngineVersion || start.Expressions != expr.Version {
		return nil, fmt.Errorf("%w: it was started under other rules (engine %d, expressions %d; here %d, %d)",
			ErrMissing, start.Engine, start.Expressions, EngineVersion, expr.Version)
	}
	entry, err := e.library.read(ctx, e.store, first.Detail.Start.Workflow, first.Detail.Start.Children)
	if err != nil {
		return nil, err
	}
	return NewRoot(entry.plan), nil
}
