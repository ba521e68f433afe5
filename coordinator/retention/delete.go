package retention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
)

// Engine is the part of an engine that a Retention needs.
type Engine interface {
	// CheckOpen returns an error once the engine has shut down.
	CheckOpen() error

	// ReadError completes the error of a reader.
	ReadError(ctx context.Context, err error) error

	// Now returns the time of the engine's clock, Unix nanoseconds.
	Now() int64

	// Holds reports whether a run is in memory, or parked.
	Holds(run string) bool

	// SweepContent deletes the unneeded content of a world, and returns the number of blobs that it has deleted, or would have.
	SweepContent(ctx context.Context, run string, dry bool) (int, error)

	// WatchDefinitions returns uses, which reports whether a start under way, now or at any time since the call, uses a definition, and
	// otherwise forgets that the definition is stored; until end is called.
	WatchDefinitions() (uses func(stream string) bool, end func())
}

// Retention keeps and deletes the runs of a store.
type Retention struct {
	store  journal.Store
	engine Engine
	holds  Holds
	doors  *doors
	forget Forget
}

// Forget deletes the outcomes of acts on many runs that ended at an instant or before, see bulk.Forget; nil: there are none.
type Forget func(ctx context.Context, before int64, dry bool, found func(act uint64, bytes int64) error) error

// Holds reports which runs are held, see package holds.
type Holds interface {
	// Has reports whether a run is held.
	Has(run string) bool

	// Incomplete reports whether a run is held because it is incomplete.
	Incomplete(run string) bool

	// Still prevents imports until done is called, or returns an error during an import.
	Still(run string) (done func(), err error)

	// Lift ends the hold of runs.
	Lift(ctx context.Context, actor string, runs ...string) error
}

// New returns the retention of an engine's store.
func New(store journal.Store, engine Engine, holds Holds, forget Forget) Retention {
	return Retention{store, engine, holds, &doors{}, forget}
}

// BeginCommand records that a command for a run is under way until end is called: no run of its family is deleted before. It waits
// for a deletion of the family that is under way.
func (r Retention) BeginCommand(run string) (end func()) { return r.doors.enter(run) }

// Delete removes a run that has ended, or is held, with the runs that its calls have started: its events, its place in lists, and the
// content that it kept. A tombstone stays as long as the rules of the store would keep such a run, without rules for ever: until then,
// its id is not free. Delete returns decide.ErrRunNotFound if there is no such run, and decide.ErrNotPossible for one that has not ended, or
// that another run has started. If it fails halfway, the run itself still exists, and Delete may be called again.
func (r Retention) Delete(ctx context.Context, run string) error {
	if err := r.checkTopmost(run); err != nil {
		return err
	}
	if err := r.checkExists(ctx, run); err != nil {
		return r.engine.ReadError(ctx, err)
	}
	if r.holds.Has(run) {
		done, err := r.holds.Still(run)
		if err != nil {
			return err
		}
		defer done()
		if err := r.giveUp(ctx, run); err != nil {
			return r.engine.ReadError(ctx, err)
		}
	}
	family, err := r.family(ctx, run, false)
	if err != nil {
		return r.engine.ReadError(ctx, err)
	}
	rules, _, err := r.read(ctx)
	if err != nil {
		return r.engine.ReadError(ctx, err)
	}
	now := r.engine.Now()
	t, err := timesOf(rules, now)
	if err != nil {
		return err
	}
	return r.deleteAll(ctx, family, tombstoneOf(t, family, now))
}

// PreviewDelete returns the runs that Delete would remove, or the error with which it would refuse.
func (r Retention) PreviewDelete(ctx context.Context, run string) (runs []string, err error) {
	if err := r.checkTopmost(run); err != nil {
		return nil, err
	}
	held := r.holds.Has(run)
	if held {
		done, err := r.holds.Still(run)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	if err := r.checkExists(ctx, run); err != nil {
		return nil, r.engine.ReadError(ctx, err)
	}
	family, err := r.family(ctx, run, held)
	for i := range family {
		runs = append(runs, family[i].Run)
	}
	return runs, r.engine.ReadError(ctx, err)
}

// checkExists returns decide.ErrRunNotFound, or journal.ErrDeleted, if the run does not exist. A run that cannot be read exists; a stream
// of another kind is no run.
func (r Retention) checkExists(ctx context.Context, run string) error {
	notFound := fmt.Errorf("%w: %q", decide.ErrRunNotFound, run)
	if run == "" || !journal.IsRun(run) {
		return notFound
	}
	for _, err := range r.store.Read(ctx, run, 1) {
		if errors.Is(err, journal.ErrDeleted) {
			return err
		}
		return ctx.Err()
	}
	return notFound
}

// checkTopmost refuses to delete a run that another one has started.
func (r Retention) checkTopmost(run string) error {
	if err := r.engine.CheckOpen(); err != nil {
		return err
	}
	if parent := journal.ParentRun(run); parent != "" {
		return fmt.Errorf("%w: run %s belongs to run %s, and is deleted with it", decide.ErrNotPossible, run, parent)
	}
	return nil
}

// giveUp ends a held run and those below it by their heads, since the journal of an import that was interrupted may not go on.
func (r Retention) giveUp(ctx context.Context, run string) error {
	open, ok := r.doors.shut(run)
	if !ok {
		return aboutToChange(run)
	}
	defer open()
	for _, from := range []string{before(run), run + "/"} {
		for head, err := range r.store.Heads(ctx, from) {
			if head.Run != run && (from != run+"/" || !strings.HasPrefix(head.Run, from)) {
				break
			}
			if err != nil || !head.Open {
				continue
			}
			if err := archive.GiveUp(ctx, r.store, head, string(reactive.RunAborted), r.engine.Now()); err != nil {
				return err
			}
		}
	}
	return r.holds.Lift(ctx, "", run)
}

func aboutToChange(run string) error {
	return fmt.Errorf("%w: run %s is about to change; try again", decide.ErrNotPossible, run)
}

// tombstoneOf returns the tombstone of a family that is deleted now.
func tombstoneOf(t *times, family []journal.Head, now int64) journal.Tombstone {
	keep := time.Duration(0)
	for i := range family {
		if family[i].Status != "" { // otherwise it cannot be read
			keep = longer(keep, t.of(&family[i]))
		}
	}
	if keep == Forever {
		return journal.Tombstone{At: now}
	}
	return journal.Tombstone{At: now, Until: now + int64(keep)}
}

// deleteAll deletes a family as it was found, while no command can change it.
func (r Retention) deleteAll(ctx context.Context, family []journal.Head, t journal.Tombstone) error {
	root := family[0].Run
	open, ok := r.doors.shut(root)
	if !ok {
		return aboutToChange(root)
	}
	defer open()
	now, err := r.family(ctx, root, false)
	if err != nil {
		return r.engine.ReadError(ctx, err)
	}
	if !sameHeads(family, now) {
		return fmt.Errorf("%w: run %s has changed meanwhile; try again", decide.ErrNotPossible, root)
	}
	for _, h := range slices.Backward(family) { // children before their parents
		if err := r.store.Delete(ctx, h.Run, t); err != nil && !(errors.Is(err, journal.ErrDeleted) && h.Run != family[0].Run) {
			if errors.Is(err, journal.ErrInvalid) {
				err = notEnded(h.Run)
			}
			return r.engine.ReadError(ctx, err)
		}
	}
	return nil
}

// sameHeads reports whether a family has the same runs with the same last events. If its first run is gone, deleting that returns the error.
func sameHeads(was, now []journal.Head) bool {
	return now[0].Status == "" || slices.EqualFunc(was, now, func(a, b journal.Head) bool { return a.Run == b.Run && a.Last == b.Last })
}

// family returns the heads of a run and of those below it, in order of id, so that children follow their parents. Unless open is true, it
// refuses those that have not ended.
func (r Retention) family(ctx context.Context, run string, open bool) ([]journal.Head, error) {
	list := []journal.Head{{Run: run}}
	for head, err := range r.store.Heads(ctx, before(run)) {
		if head.Run == run {
			list[0] = head
		}
		if head.Run != run || err != nil {
			break
		}
	}
	if list[0].Open && !open {
		return nil, notEnded(run)
	}
	for head, err := range r.store.Heads(ctx, run+"/") {
		switch {
		case head.Run != "" && !strings.HasPrefix(head.Run, run+"/"):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("find the runs below run %s: %w", run, err)
		case head.Open && !open:
			return nil, notEnded(head.Run)
		}
		list = append(list, head)
	}
	return list, nil
}

// before returns a text that is before a run's id, with no id between.
func before(run string) string {
	last := len(run) - 1
	return run[:last] + string([]byte{run[last] - 1, 0xff})
}

func notEnded(run string) error {
	return fmt.Errorf("%w: run %s has not ended; cancel it first", decide.ErrNotPossible, run)
}
