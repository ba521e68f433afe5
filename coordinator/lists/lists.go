// Package lists finds and reads the runs of a store. Its methods are a part of coordinator.Engine and coordinator.Run.
package lists

import (
	"context"
	"iter"
	"time"

	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Engine is the part of an engine that a Lists needs.
type Engine interface {
	retention.Engine
	bulk.Engine
}

// Lists finds runs.
type Lists struct {
	retention.Retention // of the runs that have ended: see there
	bulk.Acts           // on many runs: see there

	store  journal.Store
	reader *reader.Reader
	engine Engine
	moves  *transfer.Transfer
}

// New returns the lists of an engine's store. The Store of the configuration is set.
func New(store journal.Store, from *reader.Reader, engine Engine, moves transfer.Config) Lists {
	moves.Store = store
	acts := bulk.New(store, from, engine, moves.Registry)
	forget := func(ctx context.Context, before int64, dry bool, found func(uint64, int64) error) error {
		return bulk.Forget(ctx, acts, before, dry, found)
	}
	return Lists{retention.New(store, engine, moves.Holds, forget), acts, store, from, engine, transfer.New(moves)}
}

// Runs yields the heads of all runs in the store whose id is greater than after, in order of id, child runs included. The
// heads are as journaled: see Current for runs that no engine goes on with. If a run's head cannot be read, it yields the id
// with reader.StatusDamaged; Engine.Parked returns the reason.
func (l Lists) Runs(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return Completed(ctx, l.engine, l.reader.Runs(ctx, after))
}

// Current brings a head up to date: if this engine does not go on with the run and its timers have fallen due, the status is the
// one that the journal will have once an engine goes on with it, and late is true; this costs as much as Run.State. Otherwise,
// also for a run that cannot be followed, it returns head unchanged.
func (l Lists) Current(ctx context.Context, head journal.Head) (current journal.Head, late bool, err error) {
	if err := l.engine.CheckOpen(); err != nil {
		return head, false, err
	}
	current, late, err = l.reader.Current(ctx, head)
	return current, late, l.engine.ReadError(ctx, err)
}

// List yields the heads that a query of the store selects, newest first, as journaled: see Engine.Current.
func (l Lists) List(ctx context.Context, q journal.Query) iter.Seq2[journal.Head, error] {
	return Completed(ctx, l.engine, l.store.List(ctx, q))
}

// Changes yields the changes of runs since a place, see journal.Store.
func (l Lists) Changes(ctx context.Context, after journal.Place) iter.Seq2[journal.Change, error] {
	return Completed(ctx, l.engine, l.store.Changes(ctx, after))
}

// Newest returns the place behind all changes so far.
func (l Lists) Newest(ctx context.Context) (journal.Place, error) {
	if err := l.engine.CheckOpen(); err != nil {
		return "", err
	}
	p, err := l.store.Newest(ctx)
	return p, l.engine.ReadError(ctx, err)
}

// AwaitChange returns when a run may have changed since a place, such as the one that Newest has returned.
func (l Lists) AwaitChange(ctx context.Context, after journal.Place) error {
	if err := l.engine.CheckOpen(); err != nil {
		return err
	}
	return l.engine.ReadError(ctx, l.store.AwaitChange(ctx, after))
}

// Published yields the names of the published workflows that begin with begun, in order.
func (l Lists) Published(ctx context.Context, begun string) iter.Seq2[string, error] {
	return Completed(ctx, l.engine, l.store.Published(ctx, begun))
}

// Find yields the runs that a query selects, newest first. The text is a query of package query: `status:failed label.team:payments`.
func (l Lists) Find(ctx context.Context, text string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		q, err := query.Parse(text, time.Now())
		if err != nil {
			yield(journal.Head{}, err)
			return
		}
		for row, err := range q.Each(ctx, l, "") {
			if err == nil {
				err = row.Err
			}
			if !yield(row.Head, err) {
				return
			}
		}
	}
}

// Completed yields the items of a reader, with complete errors.
func Completed[T any](ctx context.Context, e Engine, from iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := e.CheckOpen(); err != nil {
			var none T
			yield(none, err)
			return
		}
		for one, err := range from {
			if !yield(one, e.ReadError(ctx, err)) {
				return
			}
		}
	}
}
