// Package children looks after the runs that calls of other runs have started: it begins them and waits for them, keeps their
// number within bounds, pauses them with their parents, and cancels those that no call waits for any more.
//
//	call ──▶ CallChild ──▶ begins `<run>/<step>#1`, or finds it ──▶ waits for its end ──▶ the call's output
//
// A child has a journal of its own, under a name made of the call, so that a call that is made again after a crash finds the run
// that it has started. What a parent tells its children follows from where it stands: a crash between two journals is made good
// when the parent is recovered.
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

// Engine is what makes the children run.
type Engine interface {
	// Exists reports whether there is a run.
	Exists(ctx context.Context, run string) (bool, error)

	// Begin starts a run, and returns when its start is durable.
	Begin(ctx context.Context, entry *registry.Entry, input any, child Start) error

	// Wait returns when a run has ended; its error wraps decide.ErrParked where the run cannot go on in this process.
	Wait(ctx context.Context, run string) (*inspect.Result, error)

	// Tried returns a channel that is closed when a parked run is tried again; nil where that will not be known.
	Tried(run string) <-chan struct{}

	// Cancel cancels a run.
	Cancel(ctx context.Context, run, reason string) error

	// Tell puts a command to a run; reply is called once it is durable or refused.
	Tell(ctx context.Context, run string, command journal.Event, reply func(error)) error

	// Note journals a command for a run that does not go on here.
	Note(ctx context.Context, run string, command journal.Event) error

	// Go calls f on a goroutine that the engine's end waits for.
	Go(f func())
}

// Start is what a child is started with beside its input.
type Start struct {
	ID       string
	Call     string // that starts it, see Name
	Identity *journal.Identity
}

// Config is what Children are made with.
type Config struct {
	Engine         Engine
	Reader         *reader.Reader
	Context        context.Context // ends with the engine
	Draining       context.Context // ends when the engine begins to shut down
	Logger         *slog.Logger
	DepthMax       int // runs above a child
	DescendantsMax int // runs below one that nobody has started; negative: no limit
}

// Children are the child runs of an engine. They are safe for concurrent use.
type Children struct {
	Config
	mu        sync.Mutex
	unclaimed map[string][]string // unfinished children that were found in the store, by their parent's id, until it looks
	counts    map[string]int      // how many runs are below those that nobody has started, by their ids
}

// New returns the children of an engine, of which nothing is known yet.
func New(config Config) *Children {
	return &Children{Config: config, unclaimed: map[string][]string{}, counts: map[string]int{}}
}

// Forget forgets how many runs are below one: it has left memory.
func (c *Children) Forget(run string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.counts, run)
}
