package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// Parcel is a workflow with all below it, as one process passes it to another; Version is a definition that a name stands for.
type (
	Parcel  = registry.Parcel
	Version = registry.Version
)

// Errors about a name for which no workflow was published, and about a parcel that is not whole or holds what its hashes do not say.
var (
	ErrNotPublished = registry.ErrNotPublished
	ErrParcel       = registry.ErrParcel
)

// Pack returns the parcel of a workflow: what PublishParcel and StartParcel of an engine in another process take.
func (e *Engine) Pack(ctx context.Context, w *template.Workflow) (*Parcel, error) {
	entry, err := e.learn(w)
	if err != nil {
		return nil, err
	}
	return e.registry.Pack(ctx, entry)
}

// PublishParcel makes a workflow the newest version of its name: StartNamed starts that one from now on, and runs keep theirs. was
// is the version before, or nil; if it is the same, now is was, and nothing is journaled.
func (e *Engine) PublishParcel(ctx context.Context, p *Parcel, actor string) (now, was *Version, err error) {
	if err := errors.Join(e.checkOpen(), limits.CheckActor(actor)); err != nil {
		return nil, nil, err
	}
	entry, err := e.registry.Unpack(ctx, p)
	if err == nil {
		now, was, err = e.registry.Publish(ctx, entry, actor, e.clock.Now())
	}
	return now, was, e.readError(ctx, err)
}

// StartParcel begins a run of a workflow as Start does.
func (e *Engine) StartParcel(ctx context.Context, p *Parcel, input any, opts ...Option) (*Run, error) {
	if err := e.checkOpen(); err != nil {
		return nil, err
	}
	entry, err := e.registry.Unpack(ctx, p)
	if err != nil {
		return nil, e.readError(ctx, err)
	}
	return e.start(ctx, entry, input, opts)
}

// StartNamed begins a run of the newest version of a workflow, as Start does. It returns ErrNotPublished if there is none.
func (e *Engine) StartNamed(ctx context.Context, name string, input any, opts ...Option) (*Run, error) {
	if err := e.checkOpen(); err != nil {
		return nil, err
	}
	v, err := e.registry.Newest(ctx, name)
	if err != nil {
		return nil, e.readError(ctx, err)
	}
	entry, err := e.registry.Find(ctx, v.Hash, v.Children)
	if err != nil {
		return nil, e.readError(ctx, fmt.Errorf("workflow %s, version %d: %w", name, v.Number, err))
	}
	return e.start(ctx, entry, input, opts)
}

// Document returns the canonical document of the run's workflow.
func (r *Run) Document(ctx context.Context) (any, error) {
	start, err := r.engine.reader.Start(ctx, r.id)
	if err != nil {
		return nil, r.engine.readError(ctx, err)
	}
	entry, err := r.engine.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return nil, r.engine.readError(ctx, err)
	}
	return entry.Plan.Workflow.Document(), nil
}

// noteStart journals the first event of a run that this engine does not go on with: see Config.NotesOnly.
func (e *Engine) noteStart(ctx context.Context, entry *registry.Entry, first journal.Event) (*Run, error) {
	id := first.Detail.Start.Run
	r, root := newRun(e, id), e.reader.NewRoot(e.ctx, id, entry)
	r.setRoot(entry, root, 0)
	var batch []journal.Event
	var err error
	panicked := e.reader.Derived(id, func() { batch, _, err = r.step.Note(r.instant(), first) })
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
