// Package children manages the runs that calls of other runs start: it begins them and waits for them, bounds their number,
// pauses them with their parents, and cancels those that no call waits for any longer.
//
//	call ──▶ CallChild ──▶ begins `<run>/<step>#1`, or finds it ──▶ waits for its end ──▶ the call's output
//
// A child has its own journal, under a name made of the call, so that a call that is repeated after a crash finds the run it
// has started. Commands from a parent to its children follow from the parent's state: if a crash leaves two journals out of
// step, recovery of the parent corrects the child.
package children

import (
	"context"
	"log/slog"
	"sync"

	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Engine runs the children.
type Engine interface {
	// Exists reports whether there is a run with that id.
	Exists(ctx context.Context, run string) (bool, error)

	// Begin starts a run, and returns when its start is durable.
	Begin(ctx context.Context, entry *registry.Entry, input any, child Start) error

	// Wait waits until a run has ended; its error wraps decide.ErrParked if the run cannot go on in this process.
	Wait(ctx context.Context, run string) (*inspect.Result, error)

	// Tried returns a channel that is closed when a parked run is tried again, or nil if the process has not recorded the run.
	Tried(run string) <-chan struct{}

	// Cancel cancels a run.
	Cancel(ctx context.Context, run, reason string) error

	// Command sends a command to a run; reply is called once the command is durable or refused.
	Command(ctx context.Context, run string, command journal.Event, reply func(error)) error

	// Note journals a command for a run that this engine does not go on with.
	Note(ctx context.Context, run string, command journal.Event) error

	// Go calls f on a goroutine that the engine waits for when it ends.
	Go(f func())
}

// Start describes how a child is started, besides its input.
type Start struct {
	ID       string            // id of its run
	Call     string            // name of the call that starts it, see Name
	Identity *journal.Identity // in whose name it makes its calls; nil: none
	Dir      string            // of its programs: see journal.Start
	From     *journal.From     // of the child of a rerun: the child that it repeats; nil: none
	Kept     []journal.Event   // the results of that child that it keeps
}

// Config configures Children.
type Config struct {
	Engine         Engine          // starts the runs and passes commands on
	Reader         *reader.Reader  // finds runs that are not in memory
	Context        context.Context // ends with the engine
	Draining       context.Context // ends when the engine begins to shut down
	Logger         *slog.Logger    // for errors that no caller gets
	DepthMax       int             // maximum number of runs above a child
	DescendantsMax int             // maximum number of runs below a run without a parent; negative: no limit
}

// Children manages the child runs of an engine. It is safe for concurrent use.
type Children struct {
	Config
	mu        sync.Mutex
	unclaimed map[string][]string // unfinished children found in the store, by their parent's id, until it claims them
	counts    map[string]int      // number of runs below each run without a parent, by its id
}

// New returns the children of an engine, with none recorded.
func New(config Config) *Children {
	return &Children{Config: config, unclaimed: map[string][]string{}, counts: map[string]int{}}
}

// Forget drops the count of runs below a run that has left memory.
func (c *Children) Forget(run string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.counts, run)
}
