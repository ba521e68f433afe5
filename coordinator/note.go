package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Driven reports whether the engine goes on with the run: see Config.PickUp. If not, wishes are journaled and have no
// effect before an engine does.
func (r *Run) Driven() bool {
	r.engine.mu.Lock()
	defer r.engine.mu.Unlock()
	return !r.engine.closed && r.engine.mine.Has(r.id)
}

// note journals a wish for a run that does not go on here. Nothing is called: a process that lives no longer than the
// wish would leave calls behind that nobody waits for. The head says that the run is due, so that the engine that goes on
// with it looks at it at once.
//
// No loop owns the run, so several may note at the same time; whose append comes second looks at the journal again.
func (e *Engine) note(ctx context.Context, id string, wish journal.Event) error {
	for {
		if e.shutting() {
			return ErrShutdown
		}
		err := e.noteOnce(ctx, id, wish)
		switch {
		case errors.Is(err, journal.ErrConflict):
			continue
		case err != nil:
			return e.why(ctx, fmt.Errorf("run %s: %w", id, err))
		}
		return nil
	}
}

func (e *Engine) noteOnce(ctx context.Context, id string, wish journal.Event) error {
	r := newRun(e, id)
	entry, root, err := e.reader.Replay(ctx, id, nil)
	if err != nil {
		return err
	}
	r.seq = root.Seq()
	r.adopt(entry, root, root.At())
	var before, after map[string]bool
	var batch []journal.Event
	var head journal.Head
	var paused, now bool
	panicked := e.reader.Derived(id, func() {
		before, paused = r.children(), root.Paused()
		if batch, err = r.step.Note(r.instant(), wish); err == nil {
			after, now, head = r.children(), root.Paused(), decide.HeadAfter(root, &batch[len(batch)-1])
		}
	})
	if err = errors.Join(panicked, err); err != nil {
		return err
	}
	if err := r.commit(ctx, batch, head); err != nil {
		return err
	}
	err = e.children.CancelEnded(ctx, before, after)
	if now != paused {
		err = errors.Join(err, e.children.NotePause(ctx, id, now, after))
	}
	return err
}
