package reader

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Reader reads the runs of a store. It is safe for concurrent use.
type Reader struct {
	ctx      context.Context // of the process: iterations that follow a run end with it
	store    journal.Store
	registry *registry.Registry
	process  Process
}

// Process answers a Reader's questions about its process.
type Process interface {
	// Now returns the current instant of the process's clock, in Unix nanoseconds.
	Now() int64

	// Drives reports whether a run goes on here, unless it is parked.
	Drives(run string) bool

	// Parked returns why a run cannot go on here, as an error that wraps decide.ErrParked; any other error means that the
	// answer is unknown.
	Parked(ctx context.Context, run string) error

	// Host returns a host that decides about due timers of a run that does not go on here.
	Host(run string, entry *registry.Entry, root *reactive.Root) decide.Host

	// Report logs a panic that fails nothing in a run.
	Report(what, run string, err error)
}

// New returns a reader of a store. The context is that of the process.
func New(ctx context.Context, store journal.Store, registry *registry.Registry, process Process) *Reader {
	return &Reader{ctx: ctx, store: store, registry: registry, process: process}
}

// Derived calls f to follow a journal. It returns a panic as an error and logs it: readers are not part of the run, and must
// not end its process.
func (r *Reader) Derived(run string, f func()) error {
	err := usercode.Call(func() error { f(); return nil })
	if err != nil {
		r.process.Report("what has become of a run cannot be derived", run, err)
	}
	return err
}

// follow yields the events of a run, each after it has been applied. The first makes the run's root; follow calls begin with
// it, which returns the function that applies events. The iteration ends at the first error.
func (r *Reader) follow(
	ctx context.Context, id string, events iter.Seq2[journal.Event, error], begin func(*reactive.Root) func(*journal.Event),
) iter.Seq2[*journal.Event, error] {
	return func(yield func(*journal.Event, error) bool) {
		var apply func(*journal.Event)
		for event, err := range events {
			if err == nil && apply == nil {
				var root *reactive.Root
				if root, err = r.rootFor(ctx, &event); err == nil {
					apply = begin(root)
				}
			}
			if err == nil {
				err = r.Derived(id, func() { apply(&event) })
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

// followAll follows a run to the end of its journal as it is now, and returns its root.
func (r *Reader) followAll(ctx context.Context, id string, begin func(*reactive.Root) func(*journal.Event)) (*reactive.Root, error) {
	var root *reactive.Root
	keep := func(of *reactive.Root) func(*journal.Event) {
		root = of
		return begin(of)
	}
	for _, err := range r.follow(ctx, id, r.store.Read(ctx, id, 1), keep) {
		if err != nil {
			return nil, err
		}
	}
	if root == nil {
		return nil, fmt.Errorf("%w: %s", decide.ErrRunNotFound, id)
	}
	return root, nil
}

// replaying applies events to a root only.
func replaying(root **reactive.Root) func(*reactive.Root) func(*journal.Event) {
	return func(of *reactive.Root) func(*journal.Event) {
		*root = of
		return func(e *journal.Event) { of.Apply(e) }
	}
}

// Replay makes the root of a run from its journal, and from its newest snapshot if it has one. If nothing is durable yet, it
// makes an empty one from fresh, unless that is nil.
func (r *Reader) Replay(ctx context.Context, id string, fresh *registry.Entry) (*registry.Entry, *reactive.Root, error) {
	var root *reactive.Root
	var failed error
	for _, err := range r.follow(ctx, id, r.sinceSnapshot(ctx, id), r.restoring(ctx, id, &root, &failed)) {
		if err = cmp.Or(err, failed); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case root != nil:
		entry, err := r.registry.Read(ctx, root.Start().Workflow, root.Start().Children)
		return entry, root, err
	case fresh != nil:
		return fresh, r.NewRoot(ctx, id, fresh), nil
	}
	return nil, nil, fmt.Errorf("%w: %s", decide.ErrRunNotFound, id)
}

// rootFor makes the empty root of a run from its first event.
func (r *Reader) rootFor(ctx context.Context, first *journal.Event) (*reactive.Root, error) {
	start := decide.StartOf(first)
	if start == nil {
		return nil, fmt.Errorf("%w: it does not begin with its start", journal.ErrDamaged)
	}
	if err := decide.SameRules(start); err != nil {
		return nil, err
	}
	entry, err := r.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return nil, err
	}
	return decide.NewRoot(entry.Plan), nil
}
