package lists

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/difference"
)

// Shadow compares the run, ended or not, with a replay under another workflow: the results of its calls, its messages and the
// commands of people are passed to that workflow as they came. No call is made, and nothing is journaled. It follows the whole
// journal. Worlds have no shadow: the error wraps shadow.ErrWorld.
func (r Reading) Shadow(ctx context.Context, w *template.Workflow) (*shadow.Report, error) {
	entry, err := r.in.entry(w)
	if err != nil {
		return nil, err
	}
	return r.ShadowEntry(ctx, entry)
}

// ShadowEntry is Shadow for an entry of the engine's Registry.
func (r Reading) ShadowEntry(ctx context.Context, entry *registry.Entry) (*shadow.Report, error) {
	return read(ctx, r, func(from *reader.Reader) (*shadow.Report, error) { return from.Shadow(ctx, r.id, entry) })
}

// Diff compares two versions of a workflow, and the child workflows that both start.
func (l Lists) Diff(old, now *template.Workflow) (*difference.Difference, error) {
	was, err := l.entry(old)
	if err != nil {
		return nil, fmt.Errorf("the old workflow: %w", err)
	}
	is, err := l.entry(now)
	if err != nil {
		return nil, fmt.Errorf("the new workflow: %w", err)
	}
	return registry.Compare(context.Background(), was, is)
}

// entry compiles a workflow, and registers it as Engine.Register does.
func (l Lists) entry(w *template.Workflow) (entry *registry.Entry, err error) {
	if w == nil {
		return nil, errors.New("coordinator: the workflow is nil")
	}
	if err := l.engine.CheckOpen(); err != nil {
		return nil, err
	}
	err = usercode.Call(func() (err error) {
		entry, err = l.moves.Registry.Add(w)
		return err
	})
	return entry, err
}
