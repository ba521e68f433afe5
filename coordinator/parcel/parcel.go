// Package parcel publishes and starts workflows that come from another process, with all below them, and starts published ones by name.
//
//	p, err := parcel.Of(ctx, engine, workflow)                       in one process
//	now, was, err := parcel.Publish(ctx, engine, p, "ann")           in another: the name stands for it from now on
//	run, err := parcel.StartNamed(ctx, engine, "order", input)       and this starts the newest version of it
//
// A name is a stream of the store, `#wf/<name>`, with its versions. Runs keep the version with which they were started.
package parcel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// Parcel is a workflow with all below it, in the form that one process passes to another; Version is a published definition, and
// Unpublished the error about a name that has none.
type (
	Parcel      = registry.Parcel
	Version     = registry.Version
	Unpublished = registry.Unpublished
)

// Errors about a name for which no workflow was published, and about a parcel that is incomplete or holds documents that do not match
// their hashes.
var (
	ErrNotPublished = registry.ErrNotPublished
	ErrParcel       = registry.ErrParcel
)

// Of returns the parcel of a workflow.
func Of(ctx context.Context, engine *coordinator.Engine, w *template.Workflow) (*Parcel, error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, err
	}
	entry, err := l.Add(w)
	if err != nil {
		return nil, err
	}
	return l.Pack(ctx, entry)
}

// Publish makes a workflow the newest version of its name. was is the version before, or nil; if it is the same, now is was, and
// nothing is journaled.
func Publish(ctx context.Context, engine *coordinator.Engine, p *Parcel, actor string) (now, was *Version, err error) {
	l, err := engine.Registry()
	if err = errors.Join(err, limits.CheckActor(actor)); err != nil {
		return nil, nil, err
	}
	defer l.Use()() // from here on until the name refers to the unpacked workflow
	entry, err := l.Unpack(ctx, p)
	if err == nil {
		now, was, err = l.Publish(ctx, entry, actor, time.Now().UnixNano())
	}
	return now, was, completeError(err)
}

// Unpack keeps the definitions of a parcel, and returns the entry of its workflow. They are not deleted before release is called.
func Unpack(ctx context.Context, engine *coordinator.Engine, p *Parcel) (entry *registry.Entry, release func(), err error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, nil, err
	}
	release = l.Use()
	if entry, err = l.Unpack(ctx, p); err != nil {
		release()
		return nil, nil, completeError(err)
	}
	return entry, release, nil
}

// Start begins a run of a workflow as Engine.Start does.
func Start(ctx context.Context, engine *coordinator.Engine, p *Parcel, input any, opts ...coordinator.Option) (*coordinator.Run, error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, err
	}
	defer l.Use()() // from here on until the run refers to the unpacked workflow
	entry, err := l.Unpack(ctx, p)
	if err != nil {
		return nil, completeError(err)
	}
	return engine.StartEntry(ctx, entry, input, opts...)
}

// StartNamed begins a run of the newest version of a workflow, as Engine.Start does, and returns its canonical document, too. It
// returns ErrNotPublished if there is none.
func StartNamed(
	ctx context.Context, engine *coordinator.Engine, name string, input any, opts ...coordinator.Option,
) (*coordinator.Run, any, error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, nil, err
	}
	v, err := l.Newest(ctx, name)
	if err != nil {
		return nil, nil, completeError(err)
	}
	entry, err := l.Find(ctx, v.Hash, v.Children)
	if err != nil {
		return nil, nil, completeError(fmt.Errorf("workflow %s, version %d: %w", name, v.Number, err))
	}
	run, err := engine.StartEntry(ctx, entry, input, opts...)
	return run, entry.Plan.Workflow.Document(), err
}

// completeError completes an error of the store, which closes when the engine shuts down.
func completeError(err error) error {
	if errors.Is(err, journal.ErrClosed) {
		return coordinator.ErrShutdown
	}
	return err
}
