package coordinator

import (
	"context"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// What people read of a run: see package inspect.
type (
	State         = inspect.State
	StepState     = inspect.StepState
	Routed        = inspect.Routed
	Update        = inspect.Update
	StepChange    = inspect.StepChange
	TaskChange    = inspect.TaskChange
	LoopChange    = inspect.LoopChange
	Explanation   = inspect.Explanation
	Reason        = inspect.Reason
	DecidingEvent = inspect.DecidingEvent
)

// follow yields the events of a run, each after it has been applied. The first makes the run's root; begin is called with that,
// and returns what applies the events to it. The iteration ends with the first error.
func (e *Engine) follow(
	ctx context.Context, id string, events iter.Seq2[journal.Event, error], begin func(*reactive.Root) func(*journal.Event),
) iter.Seq2[*journal.Event, error] {
	return func(yield func(*journal.Event, error) bool) {
		var apply func(*journal.Event)
		for event, err := range events {
			if err == nil && apply == nil {
				var root *reactive.Root
				if root, err = e.rootFor(ctx, &event); err == nil {
					apply = begin(root)
				}
			}
			if err == nil {
				err = e.derived(id, func() { apply(&event) })
			}
			if err != nil {
				yield(nil, fmt.Errorf("read run %s: %w", id, err))
				return
			}
			if !yield(&event, nil) {
				return
			}
		}
	}
}

// followAll follows a run as far as its journal goes now, and returns its root.
func (e *Engine) followAll(ctx context.Context, id string, begin func(*reactive.Root) func(*journal.Event)) (*reactive.Root, error) {
	var root *reactive.Root
	keep := func(of *reactive.Root) func(*journal.Event) {
		root = of
		return begin(of)
	}
	for _, err := range e.follow(ctx, id, e.store.Read(ctx, id, 1), keep) {
		if err != nil {
			return nil, err
		}
	}
	if root == nil {
		return nil, fmt.Errorf("%w: %s", ErrRunNotFound, id)
	}
	return root, nil
}

// replaying applies events to a root and to nothing else.
func replaying(root **reactive.Root) func(*reactive.Root) func(*journal.Event) {
	return func(of *reactive.Root) func(*journal.Event) {
		*root = of
		return func(e *journal.Event) { of.Apply(e) }
	}
}

// replay makes the root of a run from its journal. One that has nothing durable yet is that of fresh, if there is such.
func (e *Engine) replay(ctx context.Context, id string, fresh *registry.Entry) (*registry.Entry, *reactive.Root, error) {
	var root *reactive.Root
	for _, err := range e.follow(ctx, id, e.store.Read(ctx, id, 1), replaying(&root)) {
		if err != nil {
			return nil, nil, err
		}
	}
	switch {
	case root != nil:
		entry, err := e.registry.Read(ctx, root.Start().Workflow, root.Start().Children)
		return entry, root, err
	case fresh != nil:
		return fresh, decide.NewRoot(fresh.Plan), nil
	}
	return nil, nil, fmt.Errorf("%w: %s", ErrRunNotFound, id)
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
	entry, err := e.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return nil, err
	}
	return decide.NewRoot(entry.Plan), nil
}
