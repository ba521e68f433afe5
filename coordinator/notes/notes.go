// Package notes journals commands, starts and moves of runs that no loop drives, because their engine does not go on with them. It makes
// no calls: a process that ends right after the command would abandon them. The head marks the run as due, so that the next engine
// handles the command at once.
package notes

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/children"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Engine is the part of an engine that Notes need.
type Engine interface {
	// Now returns the current instant of the engine's clock, in Unix nanoseconds.
	Now() int64

	// Ending returns an error once the engine accepts no more commands.
	Ending() error

	// ReadError completes the error of a reader.
	ReadError(ctx context.Context, err error) error

	// HostFor returns a host of a run that makes none of its calls.
	HostFor(run string, entry *registry.Entry, root *reactive.Root) *pool.Host

	// Commit appends to the journal of a run, after an event, and returns the last sequence.
	Commit(ctx context.Context, run string, after uint64, batch []journal.Event, head journal.Head) (uint64, error)
}

// Notes journals commands. It is safe for concurrent use: if several calls append to a run, the later one reads the journal again.
type Notes struct {
	engine Engine
	reader *reader.Reader
	below  *children.Children
}

// New returns the notes of an engine.
func New(engine Engine, from *reader.Reader, below *children.Children) *Notes {
	return &Notes{engine, from, below}
}

// Take journals a command and returns its event, or the event of an earlier message with its id. If the command is refused, Take returns
// the reason.
func (n *Notes) Take(ctx context.Context, run string, command journal.Event) (journal.Event, error) {
	for {
		if err := n.engine.Ending(); err != nil {
			return command, err
		}
		taken, err := n.take(ctx, run, command)
		switch {
		case errors.Is(err, journal.ErrConflict):
			continue
		case err != nil:
			return command, n.engine.ReadError(ctx, fmt.Errorf("run %s: %w", run, err))
		}
		return taken, nil
	}
}

func (n *Notes) take(ctx context.Context, run string, command journal.Event) (taken journal.Event, err error) {
	f, err := n.foresee(ctx, run, command)
	if err != nil || len(f.batch) == 0 {
		return f.taken, err
	}
	if _, err := n.engine.Commit(ctx, run, f.seq, f.batch, f.head); err != nil {
		return f.taken, err
	}
	err = n.below.CancelEnded(ctx, f.before, f.after)
	if f.paused != f.was {
		err = errors.Join(err, n.below.NotePause(ctx, run, f.paused, f.after))
	}
	return f.taken, err
}

// Foresee returns the events that a command would add to the journal of a run, and the event that Take would return, or the reason of a
// refusal. It writes nothing.
func (n *Notes) Foresee(ctx context.Context, run string, command journal.Event) (batch []journal.Event, taken journal.Event, err error) {
	f, err := n.foresee(ctx, run, command)
	return f.batch, f.taken, err
}

// foreseen holds the events that a command adds to the journal of a run, and its effects on the runs below it.
type foreseen struct {
	seq           uint64          // of the event before the batch
	batch         []journal.Event // none: the command was taken before
	taken         journal.Event   // of the command, or of an earlier one
	head          journal.Head
	before, after map[string]bool // children, and after the command
	was, paused   bool            // whether the run was paused, and is paused after the command
}

func (n *Notes) foresee(ctx context.Context, run string, command journal.Event) (f foreseen, err error) {
	entry, root, err := n.reader.Replay(ctx, run, nil)
	if err != nil {
		return f, err
	}
	f.seq = root.Seq()
	now := n.instant(root)
	host := n.engine.HostFor(run, entry, root)
	step := decide.NewStepper(root, host)
	below := func() map[string]bool { return children.IDs(host.Children(step.OpenCalls())) }
	panicked := n.reader.Derived(run, func() {
		f.before, f.was = below(), root.Paused()
		if f.batch, f.taken, err = step.Note(now, command); err == nil && len(f.batch) > 0 {
			f.after, f.paused, f.head = below(), root.Paused(), decide.HeadAfter(root, &f.batch[len(f.batch)-1])
		}
	})
	return f, errors.Join(panicked, err)
}

// instant returns the current instant, or the instant of the newest event if that is later.
func (n *Notes) instant(root *reactive.Root) int64 { return max(root.At(), n.engine.Now()) }

// Start journals the first event of a run, and those that it keeps of another; past reports whether they are a part of the other's past.
// The error wraps journal.ErrConflict if the id of the run is in use.
func (n *Notes) Start(ctx context.Context, entry *registry.Entry, first journal.Event, kept []journal.Event, past bool) error {
	run := first.Detail.Start.Run
	root := n.reader.NewRoot(ctx, run, entry)
	host := n.engine.HostFor(run, entry, root)
	var batch []journal.Event
	var err error
	panicked := n.reader.Derived(run, func() { batch, err = decide.NoteStart(root, host, n.instant(root), first, kept, past) })
	if err = errors.Join(panicked, err); err != nil {
		return fmt.Errorf("start run %s: %w", run, err)
	}
	head := decide.HeadOf(root)
	if head.Open {
		head = decide.Unfinished(head)
	}
	if _, err = n.engine.Commit(ctx, run, 0, batch, head); err != nil {
		return n.engine.ReadError(ctx, fmt.Errorf("start run %s: %w", run, err))
	}
	return nil
}

// Move journals a move, for which take returns the root of the run under the other workflow, as of an event; nil: there is nothing to
// do.
func (n *Notes) Move(ctx context.Context, run string, event journal.Event, take func(upto uint64) (*reactive.Root, error)) error {
	for {
		if err := n.engine.Ending(); err != nil {
			return err
		}
		if err := n.move(ctx, run, event, take); !errors.Is(err, journal.ErrConflict) {
			return err
		}
	}
}

func (n *Notes) move(ctx context.Context, run string, event journal.Event, take func(upto uint64) (*reactive.Root, error)) error {
	_, root, err := n.reader.Replay(ctx, run, nil)
	if err != nil {
		return err
	}
	seq := root.Seq()
	under, err := take(seq)
	if err != nil || under == nil {
		return err
	}
	head := decide.MoveTo(under, &event, seq+1, n.instant(root))
	_, err = n.engine.Commit(ctx, run, seq, []journal.Event{event}, head)
	return err
}
