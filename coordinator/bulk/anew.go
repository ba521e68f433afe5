package bulk

import (
	"context"
	"errors"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// carryRerun starts a run that repeats this one.
func carryRerun(ctx context.Context, a *request) Outcome {
	if head, err := a.reader.Head(ctx, a.run); err == nil {
		if o := foreseeRerun(&a.act, &head, false); o.Result != "" {
			return o
		}
	}
	return a.outcomeOf(ctx, a.engine.Rerun(ctx, a.run, a.act.Actor, a.stream, *a.act.Rerun, newID(a.id, a.so.Began, a.run), a.act.Dir))
}

// reran reports whether the act has started the run that repeats run, even if the new run was deleted since.
func (d *driver) reran(ctx context.Context, run string) (bool, error) {
	for e, err := range d.store.Read(ctx, newID(d.id, d.so.Began, run), 1) {
		if errors.Is(err, journal.ErrDeleted) {
			return true, nil
		}
		return err == nil && e.Detail != nil && e.Detail.ID == d.stream, err
	}
	return false, nil
}

// previewRerun previews a rerun of a run.
func previewRerun(ctx context.Context, a *acts, act *Act, run string, x *examined) error {
	p, err := a.engine.PreviewRerun(ctx, run, *act.Rerun)
	if err != nil {
		return err
	}
	x.will, x.may, x.kept = len(p.Will), len(p.May), len(p.Kept)
	for _, s := range p.Will {
		if s.NonIdempotent {
			x.again = append(x.again, s.Step)
		}
	}
	for _, s := range p.May {
		if s.NonIdempotent {
			x.again = append(x.again, s.Step)
		}
	}
	return nil
}

// carryMove switches the run to the workflow of the act.
func carryMove(ctx context.Context, a *request) Outcome {
	return a.outcomeOf(ctx, a.engine.Move(ctx, a.run, a.act.Actor, a.stream, a.act.Reason, a.act.Entry))
}

func previewMove(ctx context.Context, a *acts, act *Act, run string, _ *examined) error {
	return a.engine.PreviewMove(ctx, run, act.Entry)
}

// followsReason is the reason for a run that a move would not change.
const followsReason = "it follows this version already"

func foreseeMove(a *Act, h *journal.Head, _ bool) (o Outcome) {
	switch {
	case !h.Open:
		return ended(h)
	case h.Workflow == a.Entry.Plan.Hash && !a.Entry.HasChildren(): // else its child workflows may differ, and only its journal records them
		return already(followsReason)
	}
	return unfit(verbMove, h)
}

func foreseeRerun(_ *Act, h *journal.Head, _ bool) Outcome { return unfit(verbRerun, h) }
