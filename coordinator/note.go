package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Driven reports whether this engine goes on with the run: see Config.PickUp. If not, commands are journaled and take effect
// when an engine goes on with it.
func (r *Run) Driven() bool {
	r.engine.mu.Lock()
	defer r.engine.mu.Unlock()
	return !r.engine.closed && r.engine.driven.Has(r.id)
}

// Moving reports whether a run may move without a command: one is in memory, or the timer of one is due before some time has
// passed. A run that nothing moves leaves memory after Config.IdleTimeout.
func (e *Engine) Moving(within time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.runs) > 0 || e.alarms.Within(within)
}

// note journals a command for a run that this engine does not go on with. It makes no calls: a process that ends right after
// the command would abandon them. The head marks the run as due, so that the next engine handles the command at once.
//
// No loop owns the run, so several callers may append at the same time; the later one reads the journal again.
func (e *Engine) note(ctx context.Context, id string, command journal.Event) (journal.Event, error) {
	for {
		if e.shutting() {
			return command, ErrShutdown
		}
		taken, err := e.noteOnce(ctx, id, command)
		switch {
		case errors.Is(err, journal.ErrConflict):
			continue
		case err != nil:
			return command, e.readError(ctx, fmt.Errorf("run %s: %w", id, err))
		}
		return taken, nil
	}
}

func (e *Engine) noteOnce(ctx context.Context, id string, command journal.Event) (taken journal.Event, err error) {
	n, err := e.foresee(ctx, id, command)
	if err != nil || len(n.batch) == 0 {
		return n.taken, err
	}
	if err := n.run.commit(ctx, n.batch, n.head); err != nil {
		return n.taken, err
	}
	err = e.children.CancelEnded(ctx, n.before, n.after)
	if n.paused != n.was {
		err = errors.Join(err, e.children.NotePause(ctx, id, n.paused, n.after))
	}
	return n.taken, err
}

// noted is what a command adds to the journal of a run, and what follows for the runs below it.
type noted struct {
	run           *run
	batch         []journal.Event // none: the command was taken before
	taken         journal.Event   // of the command, or of an earlier one
	head          journal.Head
	before, after map[string]bool // children, and after the command
	was, paused   bool            // the run was, and is after the command
}

// foresee returns what a command adds to the journal of a run, or why it is refused. It writes nothing.
func (e *Engine) foresee(ctx context.Context, id string, command journal.Event) (n noted, err error) {
	r := newRun(e, id)
	entry, root, err := e.reader.Replay(ctx, id, nil)
	if err != nil {
		return n, err
	}
	r.seq, n.run = root.Seq(), r
	r.setRoot(entry, root, root.At())
	panicked := e.reader.Derived(id, func() {
		n.before, n.was = r.children(), root.Paused()
		if n.batch, n.taken, err = r.step.Note(r.instant(), command); err == nil && len(n.batch) > 0 {
			n.after, n.paused, n.head = r.children(), root.Paused(), decide.HeadAfter(root, &n.batch[len(n.batch)-1])
		}
	})
	return n, errors.Join(panicked, err)
}

// noteStart journals the first event of a run that this engine does not go on with: see Config.NotesOnly.
func (e *Engine) noteStart(ctx context.Context, entry *registry.Entry, first journal.Event, o *startOptions) (*Run, error) {
	id := first.Detail.Start.Run
	r, root := newRun(e, id), e.reader.NewRoot(e.ctx, id, entry)
	r.setRoot(entry, root, 0)
	var batch []journal.Event
	var err error
	panicked := e.reader.Derived(id, func() { batch, err = decide.NoteStart(r.step, r.instant(), first, o.kept, o.past != nil) })
	if err = errors.Join(panicked, err); err != nil {
		return nil, fmt.Errorf("start run %s: %w", id, err)
	}
	head := decide.HeadOf(root)
	if head.Open {
		head = decide.Unfinished(head)
	}
	switch err := r.commit(ctx, batch, head); {
	case errors.Is(err, journal.ErrConflict):
		return e.existing(ctx, &first)
	case err != nil:
		return nil, e.readError(ctx, fmt.Errorf("start run %s: %w", id, err))
	}
	return e.handle(id, ""), nil
}
