package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api/acts"
	"github.com/sluiceflow/sluice/coordinator/bulk"
)

// Act is an act on many runs, and how far it is; Outcome is what it has done to a run, and ActPreview what it would do, with Reasoned and
// Again.
type (
	Act        = acts.Act
	Outcome    = acts.Outcome
	ActPreview = acts.ActPreview
	Reasoned   = acts.Reasoned
	Again      = acts.Again
)

// Waiting is the result of a run that an act has not asked.
const Waiting = acts.Waiting

// many carries out the requests about acts on many runs.
func many(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	var s bulk.Status
	var err error
	switch {
	case req.Verb == Bulk && req.Dry:
		return previewAct(ctx, engine, req, emit)
	case req.Verb == Bulk:
		var id uint64
		if id, err = engine.BeginBulk(ctx, req.act()); err == nil {
			s, err = engine.BulkAct(ctx, id)
		}
	case req.Verb == StopAct:
		s, err = engine.StopBulk(ctx, req.Number, req.Actor)
	case req.Verb == AwaitAct:
		s, err = engine.AwaitBulk(ctx, req.Number)
	case req.Number == 0:
		for s, err := range engine.BulkActs(ctx) {
			if err == nil {
				err = emit(&Reply{Act: acts.Of(&s)})
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
	return emit(&Reply{Act: acts.Of(&s)})
}

// act returns the act that a request asks for.
func (r *Request) act() bulk.Act {
	return bulk.Act{Verb: r.Act, Where: r.Query, Expect: r.Expect, Reason: r.Reason, Actor: r.Actor}
}

func previewAct(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	p, err := engine.PreviewBulk(ctx, req.act())
	if err != nil {
		return actError(err)
	}
	return emit(&Reply{Preview: acts.PreviewOf(p)})
}

// outcomes emits what an act has done to each run.
func outcomes(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	for o, err := range engine.BulkOutcomes(ctx, req.Number) {
		if errors.Is(err, bulk.ErrNotFound) {
			return nil // they are not kept any more; the counts are
		}
		result := string(o.Result)
		if result == "" {
			result = Waiting
		}
		if err == nil {
			err = emit(&Reply{Outcome: &Outcome{o.Run, result, o.Why}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// actError is the error of a request about an act.
func actError(err error) error {
	if errors.Is(err, bulk.ErrAct) {
		return fmt.Errorf("%w: %s", ErrBadRequest, strings.TrimPrefix(err.Error(), bulk.ErrAct.Error()+": "))
	}
	return err
}
