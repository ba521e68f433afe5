package commands

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/notes"
	"github.com/sluiceflow/sluice/coordinator/parking"
	"github.com/sluiceflow/sluice/coordinator/pickup"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Engine is the part of an engine that a Taker needs.
type Engine interface {
	// CheckOpen returns an error once the engine has shut down.
	CheckOpen() error

	// ReadError completes the error of a reader.
	ReadError(ctx context.Context, err error) error

	// BeginCommand marks that a command for a run is under way, until end is called.
	BeginCommand(run string) (end func())

	// PickUp takes up a run that was released.
	PickUp(ctx context.Context, run string) error
}

// Run is the handle of a run.
type Run interface {
	// ID returns the run's id.
	ID() string

	// Actor returns the sender of the commands; "": unknown.
	Actor() string

	// Would returns the receiver of the events that the commands would journal; nil: they are journaled.
	Would() func(journal.Event)

	// Driven reports whether the engine goes on with the run.
	Driven() bool

	// Ask passes an item to the run's loop and waits for its reply.
	Ask(ctx context.Context, it decide.Item) error

	// Awaits returns an *inspect.UnawaitedError if no step waits for a message.
	Awaits(ctx context.Context, message string) error
}

// Config configures a Taker.
type Config struct {
	Engine Engine          // whose runs take the commands
	Reader *reader.Reader  // finds the reason of a refusal
	Driven *pickup.Runs    // takes the commands of runs that are held
	Parked *parking.Parker // whose runs take no command that is only foreseen
	Notes  *notes.Notes    // takes the commands of runs that the engine does not go on with
	Logger *slog.Logger    // logs messages for which no step waits
}

// Taker takes the commands of an engine's runs.
type Taker struct{ Config }

// New returns the taker of an engine.
func New(config Config) *Taker { return &Taker{config} }

// Of returns the commands of a run.
func (t *Taker) Of(run Run) Commands { return Commands{t, run} }

// Take passes a command to a run's loop and returns its event once that is durable. If it is refused, Take returns the reason.
func (t *Taker) Take(ctx context.Context, run Run, event journal.Event) (taken journal.Event, err error) {
	d := cmp.Or(event.Detail, &journal.Detail{})
	if err := cmp.Or(t.Engine.CheckOpen(), limits.CheckActor(run.Actor()), limits.CheckTexts(d.Reason, d.Name, d.ID)); err != nil {
		return taken, err
	}
	if event.Type == journal.MessageReceived && event.Detail != nil {
		if err := limits.CheckMessage(event.Detail.Name, event.Detail.ID); err != nil {
			return taken, err
		}
	}
	id := run.ID()
	defer t.Engine.BeginCommand(id)()
	if actor := run.Actor(); actor != "" {
		d.Actor, event.Detail = actor, d
	}
	switch releases, err := t.Driven.Admit(id, &event); {
	case err != nil:
		return taken, err
	case run.Would() != nil:
		return t.foresee(ctx, run, event, releases)
	case releases:
		if err := t.Driven.Release(ctx, id, d); err != nil {
			return taken, err
		}
		return event, t.Engine.PickUp(ctx, id)
	}
	if !run.Driven() {
		taken, err = t.Notes.Take(ctx, id, event)
	} else {
		var journaled journal.Event
		if err = run.Ask(ctx, decide.Item{Event: event, Taken: &journaled}); err == nil { // else the loop may still write it
			taken = journaled
		}
	}
	return taken, t.Reader.Refused(ctx, id, err)
}

// foresee is Take for a handle whose commands change nothing.
func (t *Taker) foresee(ctx context.Context, run Run, event journal.Event, releases bool) (journal.Event, error) {
	if releases {
		return event, nil
	}
	id := run.ID()
	if run.Driven() {
		if err := t.Parked.Reason(id); err != nil {
			return event, fmt.Errorf("run %s: %w", id, err)
		}
	}
	batch, taken, err := t.Notes.Foresee(ctx, id, event)
	if err != nil {
		return event, t.Reader.Refused(ctx, id, t.Engine.ReadError(ctx, fmt.Errorf("run %s: %w", id, err)))
	}
	for _, e := range batch {
		run.Would()(e)
	}
	return taken, nil
}
