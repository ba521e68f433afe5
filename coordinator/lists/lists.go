// Package lists finds, reads and deletes the runs of a store. Its methods are a part of coordinator.Engine and coordinator.Run.
package lists

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Engine is what a Lists needs of an engine.
type Engine interface {
	// CheckOpen returns an error once the engine has shut down.
	CheckOpen() error

	// ReadError completes the error of a reader.
	ReadError(ctx context.Context, err error) error
}

// Lists finds and deletes runs.
type Lists struct {
	store  journal.Store
	reader *reader.Reader
	engine Engine
	moves  *transfer.Transfer
}

// New returns the lists of an engine's store. The Store of the configuration is set.
func New(store journal.Store, from *reader.Reader, engine Engine, moves transfer.Config) Lists {
	moves.Store = store
	return Lists{store, from, engine, transfer.New(moves)}
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

// Changes yields which runs have changed since a place, see journal.Store.
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

// Find yields the runs that a query selects, newest first. The text is that of package query: `status:failed label.team:payments`.
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

// Delete removes a run that has ended, with the runs that its calls have started: its events, its place in lists, and what it kept
// as content. Its id is not free afterwards. It returns decide.ErrNotPossible for a run that has not ended, and for one that another
// run has started. If it fails in the middle, the run itself is still there, and Delete may be called again.
func (l Lists) Delete(ctx context.Context, run string) error {
	if err := l.engine.CheckOpen(); err != nil {
		return err
	}
	if parent := journal.ParentRun(run); parent != "" {
		return fmt.Errorf("%w: run %s belongs to run %s, and is deleted with it", decide.ErrNotPossible, run, parent)
	}
	family, err := l.family(ctx, run)
	if err != nil {
		return l.engine.ReadError(ctx, err)
	}
	for _, id := range slices.Backward(family) { // children before their parents
		if err := l.store.Delete(ctx, id); err != nil && !errors.Is(err, journal.ErrDeleted) {
			if errors.Is(err, journal.ErrInvalid) {
				err = notEnded(id)
			}
			return l.engine.ReadError(ctx, err)
		}
	}
	return nil
}

// family returns a run and those below it, in order of id, so that children follow their parents.
func (l Lists) family(ctx context.Context, run string) ([]string, error) {
	list := []string{run}
	for head, err := range l.store.Heads(ctx, run+"/") {
		switch {
		case head.Run != "" && !strings.HasPrefix(head.Run, run+"/"):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("find the runs below run %s: %w", run, err)
		case head.Open:
			return nil, notEnded(head.Run)
		}
		list = append(list, head.Run)
	}
	return list, nil
}

func notEnded(run string) error {
	return fmt.Errorf("%w: run %s has not ended; cancel it first", decide.ErrNotPossible, run)
}

// Completed yields what a reader does, with complete errors.
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
