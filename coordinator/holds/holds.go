// Package holds records which runs are held: no engine drives them until a command releases them. Imported runs are held, because
// the process from which they come may still drive them.
//
//	h := holds.New(store)
//	err := h.Read(ctx)
//	err = h.Hold(ctx, "ann", "order-1", "order-2")      durable before the first event of these runs
//	held := h.Has("order-1")                            true, and for those that its calls have started
//	err = h.Lift(ctx, "ann", "order-1")
//
// A run that comes in more than one write is incomplete from before the first until after the last. The part that has arrived does not
// count as the run: only the same import completes or drops it.
//
// A hold is a mark beside the journal of the run, which stays byte for byte as it was exported. All marks are in the stream `#held`: a
// run.paused holds the runs that its value lists, as incomplete if its state is so, and a run.resumed ends that. There is no other state.
// A mark is about a run that no call has started, and applies to all runs below it.
package holds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// ErrIncomplete means that a run is incomplete. It wraps decide.ErrNotPossible.
var ErrIncomplete = fmt.Errorf("%w: not all of the run is here", decide.ErrNotPossible)

// hold is the reason that a run is held.
type hold string

const (
	free       hold = ""
	whole      hold = "whole" // it is complete, as it was exported
	incomplete hold = "incomplete"
)

// Holds has the runs that are held in one store. It is safe for concurrent use.
type Holds struct {
	store journal.Store
	any   atomic.Bool // so that queries cost nothing if no run is held

	importing sync.Mutex // locked during an import

	mu   sync.Mutex
	last uint64          // sequence of the newest mark
	held map[string]hold // free runs are not in it
}

// New returns the holds of a store, which are unknown before Read.
func New(store journal.Store) *Holds { return &Holds{store: store, held: map[string]hold{}} }

// Read reads the holds.
func (h *Holds) Read(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.catchUp(ctx)
}

// catchUp reads the new marks. No other goroutine may use h.
func (h *Holds) catchUp(ctx context.Context) error {
	for e, err := range h.store.Read(ctx, journal.HeldStream(), h.last+1) {
		if err != nil {
			return fmt.Errorf("read which runs are held: %w", err)
		}
		h.apply(&e)
	}
	return nil
}

func (h *Holds) apply(e *journal.Event) {
	h.last = e.Seq
	runs, _ := e.Value.([]any)
	for _, run := range runs {
		id, ok := run.(string)
		switch {
		case !ok:
		case e.Type == journal.RunResumed:
			delete(h.held, id)
		case e.Detail != nil && e.Detail.State == string(incomplete):
			h.held[id] = incomplete
		default:
			h.held[id] = whole
		}
	}
	h.any.Store(len(h.held) > 0)
}

// Take applies a mark that was read elsewhere, such as from a folder that no engine can open. Marks must come in order.
func (h *Holds) Take(e *journal.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.apply(e)
}

// Unfinished returns the runs that are incomplete, in the order of their ids.
func (h *Holds) Unfinished() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var runs []string
	for run, as := range h.held {
		if as == incomplete {
			runs = append(runs, run)
		}
	}
	slices.Sort(runs)
	return runs
}

// Has reports whether a run is held, or the run to which it belongs.
func (h *Holds) Has(run string) bool { return h.of(run) != free }

// Incomplete reports whether a run, or the run to which it belongs, is held as incomplete.
func (h *Holds) Incomplete(run string) bool { return h.of(run) == incomplete }

func (h *Holds) of(run string) hold {
	if !h.any.Load() {
		return free
	}
	run, _, _ = strings.Cut(run, "/")
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held[run]
}

// Check returns ErrIncomplete for a run that is incomplete.
func (h *Holds) Check(run string) error {
	if !h.Incomplete(run) {
		return nil
	}
	top, _, _ := strings.Cut(run, "/")
	return fmt.Errorf("%w: run %s: its import goes on, or was interrupted; import the file again, or delete run %s", ErrIncomplete, run, top)
}

// Import waits until no other import is under way. Its own import lasts until done is called.
func (h *Holds) Import() (done func()) {
	h.importing.Lock()
	return h.importing.Unlock
}

// Still keeps imports from beginning until done is called. While one is under way it returns decide.ErrNotPossible.
func (h *Holds) Still(run string) (done func(), err error) {
	if !h.importing.TryLock() {
		return nil, fmt.Errorf("%w: run %s is about to be imported; try again after that", decide.ErrNotPossible, run)
	}
	return h.importing.Unlock, nil
}

// Claim frees the id of a run that was to be imported, but has no events here.
func (h *Holds) Claim(ctx context.Context, run string) error {
	if !h.Has(run) {
		return nil
	}
	done, err := h.Still(run)
	if err != nil {
		return err
	}
	defer done()
	return h.Lift(ctx, "", run)
}

// Hold holds runs that are complete, or that come in one write. When it returns nil, that is durable.
func (h *Holds) Hold(ctx context.Context, actor string, runs ...string) error {
	return h.mark(ctx, journal.RunPaused, journal.Detail{Actor: actor}, runs, whole)
}

// HoldIncomplete holds runs as incomplete, until Hold or Lift. When it returns nil, that is durable.
func (h *Holds) HoldIncomplete(ctx context.Context, actor string, runs ...string) error {
	return h.mark(ctx, journal.RunPaused, journal.Detail{Actor: actor, State: string(incomplete)}, runs, incomplete)
}

// Lift ends the hold of runs, and does nothing for those that are not held. When it returns nil, that is durable.
func (h *Holds) Lift(ctx context.Context, actor string, runs ...string) error {
	return h.LiftFor(ctx, "", actor, runs...)
}

// LiftFor is Lift as a part of an act on many runs. The mark has the name of the act.
func (h *Holds) LiftFor(ctx context.Context, act, actor string, runs ...string) error {
	return h.mark(ctx, journal.RunResumed, journal.Detail{Actor: actor, ID: act}, runs, free)
}

// Lifted reports whether an act on many runs has ended the hold of a run.
func (h *Holds) Lifted(ctx context.Context, run, act string) (bool, error) {
	for e, err := range h.store.Read(ctx, journal.HeldStream(), 1) {
		if err != nil {
			return false, fmt.Errorf("read which runs were held: %w", err)
		}
		runs, _ := e.Value.([]any)
		if e.Type == journal.RunResumed && e.Detail != nil && e.Detail.ID == act && slices.Contains(runs, any(run)) {
			return true, nil
		}
	}
	return false, nil
}

// mark appends a mark about the runs whose state it changes.
func (h *Holds) mark(ctx context.Context, kind journal.Type, d journal.Detail, runs []string, as hold) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		if err := h.catchUp(ctx); err != nil {
			return err
		}
		var ids []any
		for _, run := range runs {
			if h.held[run] != as {
				ids = append(ids, run)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		e := journal.Event{At: time.Now().UnixNano(), Type: kind, Value: ids, Detail: &d}
		last, err := h.store.Append(ctx, journal.HeldStream(), h.last, []journal.Event{e}, journal.Head{})
		switch {
		case err == nil:
			e.Seq = last
			h.apply(&e)
			return nil
		case !errors.Is(err, journal.ErrConflict):
			return fmt.Errorf("note which runs are held: %w", err)
		}
	}
}
