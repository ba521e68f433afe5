package reader

import (
	"context"
	"errors"
	"time"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
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

	// Drives reports whether the process drives a run when the run is not parked.
	Drives(run string) bool

	// Parked returns the reason that a run cannot go on here, as an error that wraps decide.ErrParked; any other error means that the
	// answer is unknown.
	Parked(ctx context.Context, run string) error

	// Host returns a host that decides about due timers of a run that does not go on here.
	Host(run string, entry *registry.Entry, root *reactive.Root) decide.Host

	// ForWorker describes the wait of a run for a worker of an operation; "": no such wait is known.
	ForWorker(run, operation string) string

	// Unserved returns the time since which no worker serves an operation; the zero time if a worker does, or if it is unknown.
	Unserved(operation string) time.Time

	// EventsMax bounds the events of a run, of a world those since its newest snapshot; 0 or less: no limit.
	EventsMax() int

	// Cells returns the bounds of the cells of a world in memory.
	Cells() world.Cache

	// Report logs a panic that fails nothing in a run.
	Report(what, run string, err error)
}

// New returns a reader of a store. The context ends with the process.
func New(ctx context.Context, store journal.Store, registry *registry.Registry, process Process) *Reader {
	return &Reader{ctx: ctx, store: store, registry: registry, process: process}
}

// Replay makes the root of a run from its journal, and from its newest snapshot if it has one. If nothing is durable yet, it
// makes an empty one from fresh, unless that is nil.
func (r *Reader) Replay(ctx context.Context, id string, fresh *registry.Entry) (*registry.Entry, *reactive.Root, error) {
	root, err := r.followTo(ctx, id, func() (route, error) { return r.newest(ctx, id) }, r.whole, replaying)
	switch {
	case err == nil:
		entry, err := r.registry.Read(ctx, root.Start().Workflow, root.Start().Children)
		return entry, root, err
	case fresh != nil && errors.Is(err, decide.ErrRunNotFound):
		return fresh, r.NewRoot(ctx, id, fresh), nil
	}
	return nil, nil, err
}

// replaying applies events to a root, after it has checked those of a world.
func replaying(root *reactive.Root) follower {
	to := follower{apply: func(e *journal.Event) { root.Apply(e) }}
	if root.Body() != nil { // the events of a tree need no call each
		to.check = root.Cells().Check
	}
	return to
}

// NewRoot returns the root of a run without events. A world can read the content that the store keeps for it.
func (r *Reader) NewRoot(ctx context.Context, id string, entry *registry.Entry) *reactive.Root {
	root := decide.NewRoot(entry.Plan)
	if r.giveContent(ctx, id, root) {
		root.Cells().Serve(r.process.Host(id, entry, root))
	}
	return root
}

// giveContent lets a world read the content that the store keeps for it. It reports whether the root belongs to a world.
func (r *Reader) giveContent(ctx context.Context, id string, root *reactive.Root) bool {
	content, ok := r.store.(journal.ContentStore)
	w := world.Of(root)
	if ok && w != nil {
		w.Content(func(hash journal.Hash) ([]byte, error) { return content.Content(context.WithoutCancel(ctx), id, hash) }, r.process.EventsMax(), r.process.Cells())
	}
	return w != nil
}
