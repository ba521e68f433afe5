package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api/many"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/parcel"
)

// Acts on many runs: see package many.
type (
	Act        = many.Act
	Outcome    = many.Outcome
	ActPreview = many.ActPreview
)

// manyRuns carries out the requests about acts on many runs.
func manyRuns(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	var s bulk.Status
	var err error
	switch {
	case req.Verb == Bulk:
		return begin(ctx, engine, req, emit)
	case req.Verb == StopAct && req.Dry:
		s, err = engine.PreviewStopBulk(ctx, req.Number)
	case req.Verb == StopAct:
		s, err = engine.StopBulk(ctx, req.Number, req.Actor)
	case req.Verb == AwaitAct:
		s, err = engine.AwaitBulk(ctx, req.Number)
	case req.Number == 0:
		for s, err := range engine.BulkActs(ctx) {
			if err == nil {
				err = emit(&Reply{Act: many.Of(&s)})
			}
			if err != nil {
				return err
			}
		}
		return nil
	default:
		if s, err = engine.BulkAct(ctx, req.Number); err == nil {
			err = outcomes(ctx, engine, req, emit)
		}
	}
	if err != nil {
		return actError(err)
	}
	return emit(&Reply{Act: many.Of(&s)})
}

// begin begins an act. With Dry, it only previews the act.
func begin(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	act, release, err := req.act(ctx, engine)
	if err != nil {
		return err
	}
	defer release()
	if req.Dry {
		p, err := engine.PreviewBulk(ctx, *act)
		if err != nil {
			return actError(refusedInput(err))
		}
		return emit(&Reply{Preview: many.PreviewOf(p)})
	}
	id, err := engine.BeginBulk(ctx, *act)
	if err != nil {
		return actError(refusedInput(err))
	}
	s, err := engine.BulkAct(ctx, id)
	if err != nil { // the act has begun: after an error, the caller would begin another one
		s = bulk.Status{Act: *act, ID: id, State: bulk.Running}
	}
	return emit(&Reply{Act: many.Of(&s)})
}

// act returns the requested act. The attached definitions stay stored until the call of release.
func (r *Request) act(ctx context.Context, engine *coordinator.Engine) (_ *bulk.Act, release func(), err error) {
	act, release := &bulk.Act{Verb: r.Act, Where: r.Query, Expect: r.Expect, Reason: r.Reason, Actor: r.Actor, Dir: r.Dir}, func() {}
	a, err := r.attached()
	switch {
	case err != nil:
	case r.Rerun != nil && r.Name == "":
		act.Rerun, release, err = rerunOf(ctx, engine, r)
	case r.Rerun != nil:
		if act.Rerun, release, err = rerunOf(ctx, engine, r); err == nil {
			act.Rerun.Entry, err = workflowOf(ctx, engine, r.Name, a.Parcel)
		}
	case a.Parcel != nil && r.Name == "" && !r.Dry:
		act.Entry, release, err = parcel.Unpack(ctx, engine, a.Parcel)
	case a.Parcel != nil || r.Name != "":
		act.Entry, err = workflowOf(ctx, engine, r.Name, a.Parcel)
	}
	if err != nil && release != nil {
		release()
	}
	return act, release, err
}

// outcomes emits the outcome of an act for each run.
func outcomes(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	for o, err := range engine.BulkOutcomes(ctx, req.Number) {
		if errors.Is(err, bulk.ErrNotFound) {
			return nil // the outcomes are no longer stored, only the counts
		}
		if err == nil {
			err = emit(&Reply{Outcome: many.OutcomeOf(&o)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// actError converts the error of a request about an act.
func actError(err error) error {
	if errors.Is(err, bulk.ErrAct) {
		return fmt.Errorf("%w: %s", ErrBadRequest, strings.TrimPrefix(err.Error(), bulk.ErrAct.Error()+": "))
	}
	return err
}
