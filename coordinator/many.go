package coordinator

import (
	"context"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/template"
)

// Methods that acts on many runs call for a single run, besides commands: see bulk.Engine.

func (p process) Learn(w *template.Workflow) (*registry.Entry, error) { return p.learn(w) }

func (p process) Rerun(ctx context.Context, run, actor, act string, what Rerun, id, dir string) error {
	opts := []Option{WithID(id)}
	if dir != "" {
		opts = append(opts, WithDir(dir))
	}
	_, err := p.handle(run, actor).rerunFor(ctx, act, &what, opts)
	return err
}

func (p process) PreviewRerun(ctx context.Context, run string, what Rerun) (*RerunPreview, error) {
	return p.handle(run, "").PreviewRerun(ctx, what)
}

func (p process) Move(ctx context.Context, run, actor, act, reason string, to *registry.Entry) error {
	_, err := p.mover.MoveFor(ctx, requests{p.handle(run, actor)}, to, act, reason)
	return err
}

func (p process) PreviewMove(ctx context.Context, run string, to *registry.Entry) error {
	_, err := p.mover.Preview(ctx, requests{p.handle(run, "")}, to)
	return err
}
