package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/difference"
)

// PastError means that a run cannot go on under another workflow, because something that it has begun would have gone otherwise. It
// wraps ErrNotPossible.
type PastError struct {
	Run      string         // id
	Playbook bool           // the run is of a playbook, which is not rerun under another document
	Report   *shadow.Report // all that would have gone otherwise
}

func (e *PastError) Error() string {
	return fmt.Sprintf("%v: run %s has begun what would have gone otherwise: %s; `sluice shadow` tells all of it, and %s",
		ErrNotPossible, e.Run, e.Why(), anew(e.Playbook))
}

// anew says how what a run does begins again under another document.
func anew(playbook bool) string {
	if playbook {
		return "`sluice start` starts the other playbook"
	}
	return "`sluice rerun --workflow` begins again"
}

// Why returns the first difference.
func (e *PastError) Why() string {
	if past := e.Report.Past(); past != nil {
		return past.String()
	}
	return "more would have gone otherwise than can be told"
}

// Unwrap returns ErrNotPossible.
func (e *PastError) Unwrap() error { return ErrNotPossible }

// Move has the run go on under another workflow, if all that it has begun would have gone the same way by it: see Run.Shadow. From
// then on its statuses are those of a run that was started with that workflow, with the same events. Calls that are under way go on.
// It returns how the run would have gone by that workflow: what differs is still to come. If the past differs, the error is a
// *PastError, and like every other refusal it journals nothing. Runs of worlds are not moved.
func (r *Run) Move(ctx context.Context, w *template.Workflow) (*shadow.Report, error) {
	entry, err := r.engine.learn(w)
	if err != nil {
		return nil, err
	}
	return r.MoveEntry(ctx, entry)
}

// MoveEntry is Move for an entry of the engine's Registry.
func (r *Run) MoveEntry(ctx context.Context, entry *registry.Entry) (*shadow.Report, error) {
	return r.moveFor(ctx, entry, "", "")
}

// moveFor is MoveEntry, for an act on many runs unless that is "".
func (r *Run) moveFor(ctx context.Context, entry *registry.Entry, act, reason string) (*shadow.Report, error) {
	if r.would != nil {
		return nil, errDry
	}
	e := r.engine
	defer e.registry.Use()() // from here on until the run refers to the workflow
	m, err := r.beginMove(ctx, entry)
	if err != nil {
		return nil, err
	}
	children, err := e.registry.Bundle(ctx, entry)
	if err != nil {
		return nil, e.readError(ctx, err)
	}
	event := decide.Moved(nil, r.actor)
	event.Detail.ID, event.Detail.Reason = act, reason
	take := func(upto uint64) (root *reactive.Root, err error) {
		if m.begun == nil { // an append has failed, so the root is ahead of the journal
			if m.begun, err = e.reader.BeginShadow(ctx, r.id, entry, true); err != nil {
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
	if err := (asked{r}).move(ctx, event, take); err != nil {
		return nil, e.readError(ctx, err)
	}
	return m.report, nil
}

// PreviewMove says what Move would do, from the computation that then does it: the report, or the error. It journals nothing.
func (r *Run) PreviewMove(ctx context.Context, w *template.Workflow) (*shadow.Report, error) {
	entry, err := r.engine.learn(w)
	if err != nil {
		return nil, err
	}
	return r.PreviewMoveEntry(ctx, entry)
}

// PreviewMoveEntry is PreviewMove for an entry of the engine's Registry.
func (r *Run) PreviewMoveEntry(ctx context.Context, entry *registry.Entry) (*shadow.Report, error) {
	m, err := r.beginMove(ctx, entry)
	if err != nil {
		return nil, err
	}
	return m.report, nil
}

// move is a run that is to go on under another workflow.
type move struct {
	run    *Run
	entry  *registry.Entry
	begun  *reader.Shadow
	report *shadow.Report // as of the event that was checked last
}

// beginMove checks whether the run, as it is now, may go on under a workflow.
func (r *Run) beginMove(ctx context.Context, entry *registry.Entry) (*move, error) {
	e := r.engine
	if err := e.checkOpen(); err != nil {
		return nil, err
	}
	if entry.Missing != nil {
		return nil, fmt.Errorf("run %s cannot go on under workflow %s: %w", r.id, entry.Plan.Workflow.Name, entry.Missing)
	}
	if err := e.fits(entry); err != nil {
		return nil, err
	}
	event := decide.Moved(nil, r.actor)
	if err := r.admitMove(ctx, &event); err != nil {
		return nil, err
	}
	begun, err := e.reader.BeginShadow(ctx, r.id, entry, true)
	var family map[string]string
	if err == nil {
		family, err = registry.Family(ctx, entry)
	}
	switch {
	case errors.Is(err, shadow.ErrWorld):
		return nil, fmt.Errorf("%w: run %s: a world cannot be moved to another version", ErrNotPossible, r.id)
	case err != nil:
		return nil, e.readError(ctx, err)
	case begun.Follows(family):
		return nil, &FollowsError{Run: r.id, Workflow: entry.Plan.Workflow.Name}
	}
	for _, part := range difference.Between(begun.Was(), entry.Plan).Whole {
		if part.What == "keychain" { // the secrets were fetched before the start
			return nil, fmt.Errorf("%w: run %s cannot go on with another keychain: rerun it with the new workflow", ErrNotPossible, r.id)
		}
	}
	m := &move{run: r, entry: entry, begun: begun}
	if err := m.check(ctx, 0); err != nil {
		return nil, e.readError(ctx, err)
	}
	return m, nil
}

// admitMove returns why the run takes no move, whatever the workflow is.
func (r *Run) admitMove(ctx context.Context, event *journal.Event) error {
	if err := limits.CheckActor(r.actor); err != nil {
		return err
	}
	_, err := r.engine.driven.Admit(r.id, event)
	return err
}

// check checks what the run has begun up to an event; 0: all of it.
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
		return fmt.Errorf("run %s: %w; %s", m.run.id, ErrFinished, anew(root.Body() != nil))
	case m.report.Past() != nil, m.report.More > 0:
		return &PastError{m.run.id, root.Body() != nil, m.report}
	}
	return nil
}

// move passes a move to the loop of the run, and returns once it is durable or refused. Of a run that no engine goes on with it is
// journaled here.
func (r asked) move(ctx context.Context, event journal.Event, take func(upto uint64) (*reactive.Root, error)) error {
	e := r.engine
	defer e.BeginCommand(r.id)()
	if err := r.admitMove(ctx, &event); err != nil { // since it was checked, the run may have been imported
		return err
	}
	if r.Driven() {
		return r.ask(ctx, decide.Item{Event: event, Move: take})
	}
	return e.notes.Move(ctx, r.id, event, take)
}

// move carries out the move that is the i-th of the items that were just taken, and puts the others back. What follows is decided by
// the stepper of the new workflow, as after a recovery.
func (r *run) move(ctx context.Context, i int) bool {
	it := r.pending[i]
	r.inbox.PutBack(slices.Delete(slices.Clone(r.pending), i, i+1), r.ended)
	r.pending, r.ended = []decide.Item{it}, nil
	root, err := it.Move(r.seq)
	if err != nil || root == nil {
		r.pending = nil
		it.Reply(err)
		return true
	}
	entry, err := r.engine.registry.Read(ctx, it.Event.Detail.Start.Workflow, it.Event.Detail.Start.Children)
	if err != nil {
		r.pending = nil
		it.Reply(err)
		return true
	}
	head := decide.MoveTo(root, &it.Event, r.seq+1, r.instant())
	if r.failed = r.commit(ctx, []journal.Event{it.Event}, head); r.failed != nil {
		return false
	}
	before := r.host
	before.GiveUp(r.step.Room())
	r.inProgress.Move(root)
	r.setRoot(entry, root, it.Event.At)
	r.engine.parked.Remove(r.id)
	r.host.TakeHeld(before)
	r.pending, r.more = nil, true
	r.resume(ctx)
	it.Reply(nil)
	return true
}
