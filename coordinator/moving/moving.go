// Package moving switches runs to other workflows: it checks that the history of a run is the same under both, and passes the move to the
// run. Its methods are a part of coordinator.Run.
package moving

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/notes"
	"github.com/sluiceflow/sluice/coordinator/pickup"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/difference"
)

// Engine is the part of an engine that a Mover needs.
type Engine interface {
	// CheckOpen returns an error once the engine has shut down.
	CheckOpen() error

	// ReadError completes the error of a reader.
	ReadError(ctx context.Context, err error) error

	// Learn compiles a workflow, and registers it.
	Learn(w *template.Workflow) (*registry.Entry, error)

	// BeginCommand marks that a command for a run is under way, until end is called.
	BeginCommand(run string) (end func())
}

// Run is the handle of a run.
type Run interface {
	// ID returns the run's id.
	ID() string

	// Actor returns the author of the move; "": unknown.
	Actor() string

	// Driven reports whether the engine goes on with the run.
	Driven() bool

	// Writes returns an error if the handle is to change nothing.
	Writes() error

	// Ask passes an item to the run's loop and waits for its reply.
	Ask(ctx context.Context, it decide.Item) error
}

// Config configures a Mover.
type Config struct {
	Engine   Engine             // whose runs move
	Reader   *reader.Reader     // follows a run by another workflow
	Registry *registry.Registry // keeps the workflows that runs move to
	Driven   *pickup.Runs       // they take no move while they are held
	Notes    *notes.Notes       // for the runs that the engine does not go on with
	NodesMax int                // of a workflow, see limits.Limits
}

// Mover moves the runs of an engine.
type Mover struct{ Config }

// New returns a mover.
func New(config Config) *Mover { return &Mover{config} }

// Moves moves one run.
type Moves struct {
	in  *Mover
	run Run
}

// Of returns the moves of a run.
func (mv *Mover) Of(run Run) Moves { return Moves{mv, run} }

// Move switches the run to another workflow, if the run's history is the same under both: see Run.Shadow. From then on its statuses are
// as if it had been started with that workflow and had the same events. Calls that are under way go on. Move returns the shadow of the
// run under that workflow, with differences in the future. If the past differs, the error is a *PastError, and, as with every other
// refusal, nothing is journaled. Runs of worlds are not moved.
func (m Moves) Move(ctx context.Context, w *template.Workflow) (*shadow.Report, error) {
	entry, err := m.in.Engine.Learn(w)
	if err != nil {
		return nil, err
	}
	return m.MoveEntry(ctx, entry)
}

// MoveEntry is Move for an entry of the engine's Registry.
func (m Moves) MoveEntry(ctx context.Context, entry *registry.Entry) (*shadow.Report, error) {
	return m.in.MoveFor(ctx, m.run, entry, "", "")
}

// MoveFor is MoveEntry for a run. act is the act on many runs that asks for it; "": none.
func (mv *Mover) MoveFor(ctx context.Context, run Run, entry *registry.Entry, act, reason string) (*shadow.Report, error) {
	if err := run.Writes(); err != nil {
		return nil, err
	}
	defer mv.Registry.Use()() // from here on until the run refers to the workflow
	m, err := mv.begin(ctx, run, entry)
	if err != nil {
		return nil, err
	}
	children, err := mv.Registry.Bundle(ctx, entry)
	if err != nil {
		return nil, mv.Engine.ReadError(ctx, err)
	}
	event := decide.Moved(nil, run.Actor())
	event.Detail.ID, event.Detail.Reason = act, reason
	take := func(upto uint64) (root *reactive.Root, err error) {
		if m.begun == nil { // an append has failed, so the root is ahead of the journal
			if m.begun, err = mv.Reader.BeginShadow(ctx, run.ID(), entry, true); err != nil {
				return nil, err
			}
		}
		m.begun.Bundled(children)
		if err := m.check(ctx, upto); err != nil || m.begun.Follows(children) {
			return nil, err
		}
		event.Detail.Start, root, m.begun = m.begun.Start(), m.begun.Root(), nil
		return root, nil
	}
	if err := mv.pass(ctx, run, event, take); err != nil {
		return nil, mv.Engine.ReadError(ctx, err)
	}
	return m.report, nil
}

// PreviewMove previews Move by the same computation: the report, or the error. It journals nothing.
func (m Moves) PreviewMove(ctx context.Context, w *template.Workflow) (*shadow.Report, error) {
	entry, err := m.in.Engine.Learn(w)
	if err != nil {
		return nil, err
	}
	return m.PreviewMoveEntry(ctx, entry)
}

// PreviewMoveEntry is PreviewMove for an entry of the engine's Registry.
func (m Moves) PreviewMoveEntry(ctx context.Context, entry *registry.Entry) (*shadow.Report, error) {
	return m.in.Preview(ctx, m.run, entry)
}

// Preview previews MoveFor.
func (mv *Mover) Preview(ctx context.Context, run Run, entry *registry.Entry) (*shadow.Report, error) {
	m, err := mv.begin(ctx, run, entry)
	if err != nil {
		return nil, err
	}
	return m.report, nil
}

// move is a run that is to go on under another workflow.
type move struct {
	id     string
	begun  *reader.Shadow
	report *shadow.Report // as of the event that was checked last
}

// begin checks whether a run, as it is now, may go on under a workflow.
func (mv *Mover) begin(ctx context.Context, run Run, entry *registry.Entry) (*move, error) {
	if err := mv.Engine.CheckOpen(); err != nil {
		return nil, err
	}
	if entry.Missing != nil {
		return nil, fmt.Errorf("run %s cannot go on under workflow %s: %w", run.ID(), entry.Plan.Workflow.Name, entry.Missing)
	}
	if err := entry.Fits(mv.NodesMax); err != nil {
		return nil, err
	}
	event := decide.Moved(nil, run.Actor())
	if err := mv.admit(run, &event); err != nil {
		return nil, err
	}
	begun, err := mv.Reader.BeginShadow(ctx, run.ID(), entry, true)
	var family map[string]string
	if err == nil {
		family, err = registry.Family(ctx, entry)
	}
	switch {
	case errors.Is(err, shadow.ErrWorld):
		return nil, fmt.Errorf("%w: run %s: a world cannot be moved to another version", decide.ErrNotPossible, run.ID())
	case err != nil:
		return nil, mv.Engine.ReadError(ctx, err)
	case begun.Follows(family):
		return nil, &decide.FollowsError{Run: run.ID(), Workflow: entry.Plan.Workflow.Name}
	}
	for _, part := range difference.Between(begun.Was(), entry.Plan).Whole {
		if part.What == "keychain" { // the secrets were fetched before the start
			return nil, fmt.Errorf("%w: run %s cannot go on with another keychain: rerun it with the new workflow", decide.ErrNotPossible, run.ID())
		}
	}
	m := &move{id: run.ID(), begun: begun}
	if err := m.check(ctx, 0); err != nil {
		return nil, mv.Engine.ReadError(ctx, err)
	}
	return m, nil
}

// admit returns an error if a run takes no move, to any workflow.
func (mv *Mover) admit(run Run, event *journal.Event) error {
	if err := limits.CheckActor(run.Actor()); err != nil {
		return err
	}
	_, err := mv.Driven.Admit(run.ID(), event)
	return err
}

// check checks the shadow of the run up to an event; 0: all of it.
func (m *move) check(ctx context.Context, upto uint64) (err error) {
	if err = m.begun.Follow(ctx, upto); err != nil {
		return err
	}
	if m.report, err = m.begun.Report(); err != nil {
		return err
	}
	if err := m.begun.Refused(); err != nil {
		return err
	}
	switch root := m.begun.Root(); {
	case m.report.Status.Terminal(), root.Closed():
		return fmt.Errorf("run %s: %w; %s", m.id, decide.ErrFinished, restartAdvice(root.Body() != nil))
	case m.report.Past() != nil, m.report.More > 0:
		return &PastError{m.id, root.Body() != nil, m.report}
	}
	return nil
}

// pass passes a move to the loop of its run, and returns once it is durable or refused. If no engine drives the run, pass journals the
// move.
func (mv *Mover) pass(ctx context.Context, run Run, event journal.Event, take func(upto uint64) (*reactive.Root, error)) error {
	defer mv.Engine.BeginCommand(run.ID())()
	if err := mv.admit(run, &event); err != nil { // since it was checked, the run may have been imported
		return err
	}
	if run.Driven() {
		return run.Ask(ctx, decide.Item{Event: event, Move: take})
	}
	return mv.Notes.Move(ctx, run.ID(), event, take)
}
