package reader

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
)

// Shadow tells how a run would have gone by the workflow of an entry. It follows the run's whole journal, and makes no call.
func (r *Reader) Shadow(ctx context.Context, run string, now *registry.Entry) (report *shadow.Report, err error) {
	if now.Missing != nil && len(now.Plan.Functions) > len(now.Functions) {
		return nil, now.Missing
	}
	var s *shadow.Shadow
	for e, err := range r.store.Read(ctx, run, 1) {
		if err == nil && s == nil {
			s, err = shadowOf(ctx, r, run, &e, now)
		}
		if err != nil {
			return nil, fmt.Errorf("shadow run %s: %w", run, err)
		}
		if err := r.Derived(run, func() { s.Add(&e) }); err != nil {
			return nil, err
		}
	}
	if s == nil {
		return nil, fmt.Errorf("%w: %s", decide.ErrRunNotFound, run)
	}
	panicked := r.Derived(run, func() { report, err = s.Report() })
	return report, errors.Join(panicked, err)
}

// shadowOf returns the shadow of a run that begins with an event.
func shadowOf(ctx context.Context, r *Reader, run string, first *journal.Event, now *registry.Entry) (*shadow.Shadow, error) {
	start := decide.StartOf(first)
	if start == nil {
		return nil, fmt.Errorf("%w: it does not begin with its start", journal.ErrDamaged)
	}
	if err := decide.SameRules(start); err != nil {
		return nil, err
	}
	was, err := r.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return nil, err
	}
	return shadow.New(was.Plan, now.Plan, decide.StartUnder(start, now.Plan), func(root *reactive.Root) decide.Host {
		return r.process.Host(run, now, root)
	})
}
