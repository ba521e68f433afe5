package starting

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
)

// ErrNotBegun means that an id is free because the start that used it has failed.
var ErrNotBegun = errors.New("the run has not begun")

// Engine is the part of an engine that Starts need.
type Engine interface {
	// Ending returns an error once the engine accepts no more starts.
	Ending() error

	// ReadError completes the error of a reader.
	ReadError(ctx context.Context, err error) error

	// Exists reports whether there is a run with that id.
	Exists(ctx context.Context, run string) (bool, error)

	// Active returns channels of a run in memory that are closed when its start is durable, and when it has left memory; nil: it is
	// not in memory.
	Active(run string) (durable, unloaded <-chan struct{})

	// ParkedFor returns the reason why a run is parked, or nil.
	ParkedFor(run string) error

	// Shut returns a channel that is closed when the engine has shut down.
	Shut() <-chan struct{}
}

// Config configures Starts.
type Config struct {
	Engine    Engine             // which begins the runs
	Store     journal.Store      // has the runs that began before
	Registry  *registry.Registry // keeps the workflows that runs refer to
	Limits    limits.Limits      // of each run
	OnBlocked template.OnBlocked // of playbooks that do not set it
}

// Starts prepares the starts of an engine's runs.
type Starts struct{ Config }

// New returns the starts of an engine.
func New(config Config) *Starts { return &Starts{config} }

// Refused returns the reason that a start would be refused; nil: it would begin a run, or find the one that it has begun.
func (s *Starts) Refused(ctx context.Context, entry *registry.Entry, input any, o Options) error {
	in, err := o.Complete(entry, input)
	if err != nil {
		return err
	}
	first, err := s.first(ctx, entry, in, &o, registry.Family)
	if err != nil || !o.named {
		return err
	}
	known, err := s.Engine.Exists(ctx, o.ID)
	if known {
		err = s.Find(ctx, &first)
	}
	if err == ErrNotBegun {
		return nil
	}
	return err
}

// First stores the workflows that a new run refers to, and returns its first event. The options are complete.
func (s *Starts) First(ctx context.Context, entry *registry.Entry, input any, o *Options) (first journal.Event, err error) {
	return s.first(ctx, entry, input, o, s.Registry.Bundle)
}

func (s *Starts) first(
	ctx context.Context, entry *registry.Entry, input any, o *Options, family func(context.Context, *registry.Entry) (map[string]string, error),
) (first journal.Event, err error) {
	if err := entry.Fits(s.Limits.NodesMax); err != nil {
		return first, err
	}
	children, err := family(ctx, entry)
	if err != nil {
		return first, s.Engine.ReadError(ctx, err)
	}
	w := entry.Plan.Workflow
	first = decide.Started(o.ID, entry.Plan, input, s.Limits.OfRun())
	start := first.Detail.Start
	start.Children = children
	start.Parent, start.Labels, start.Actor, start.Dir, start.OnBlocked = o.Parent, o.Labels, o.Actor, o.Dir, entry.Plan.OnBlocked(string(s.OnBlocked))
	start.From, first.Detail.ID = o.From, o.Act
	if o.Past != nil {
		decide.LikeStart(start, o.Past)
		first.At = o.Began
	}
	if start.Identity, err = decide.OwnIdentity(o.Identity); err != nil {
		return first, err
	}
	if _, isWorld := machine.Of(w); isWorld { // its activations draw from it
		start.Seed = make([]byte, 32)
		rand.Read(start.Seed) // never fails
	}
	return first, nil
}

// Find handles a start whose id is taken: it returns nil if the existing run is the same, otherwise an error that describes the
// difference, or ErrNotBegun. If that run is still being started, Find waits until it is durable or has failed.
func (s *Starts) Find(ctx context.Context, first *journal.Event) error {
	start := first.Detail.Start
	for {
		durable, unloaded := s.Engine.Active(start.Run)
		if err := s.Engine.Ending(); err != nil {
			return err
		}
		for was, err := range s.Store.Read(ctx, start.Run, 1) {
			if err != nil {
				return s.Engine.ReadError(ctx, fmt.Errorf("read run %s: %w", start.Run, err))
			}
			if difference := decide.Difference(&was, first); difference != "" {
				return &decide.ExistsError{Run: start.Run, Difference: difference}
			}
			return nil
		}
		switch {
		case durable == nil && s.Engine.ParkedFor(start.Run) != nil:
			return fmt.Errorf("%w: %s", decide.ErrRunExists, start.Run)
		case durable == nil:
			return ErrNotBegun
		}
		select {
		case <-ctx.Done():
			return cancelled.Error(ctx)
		case <-s.Engine.Shut():
		case <-durable:
		case <-unloaded:
		}
	}
}
