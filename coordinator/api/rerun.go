package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/template/value"
)

// Rerun selects the steps of a run that run again, and has the new values: see coordinator.Rerun. A new workflow or input is attached.
type Rerun struct {
	From    string                     `json:"from,omitempty"`    // key of the first step
	Only    string                     `json:"only,omitempty"`    // key of the only step
	Failed  bool                       `json:"failed,omitempty"`  // failed steps
	Changed bool                       `json:"changed,omitempty"` // steps with another operation or input
	At      uint64                     `json:"at,omitempty"`      // repeat the run as of this event
	Set     map[string]json.RawMessage `json:"set,omitempty"`     // values by place, such as `steps.price.output`
}

// RerunStep is a step of a preview: steps that will run come first, then those that may, then kept ones, each in the workflow's order.
type RerunStep struct {
	Does string `json:"does"` // WillRun, MayRun or IsKept
	coordinator.RerunStep
}

// Values of RerunStep.Does.
const (
	WillRun = "will"
	MayRun  = "may"
	IsKept  = "kept"
)

// rerun starts a new run that repeats a part of another. With Dry, it only previews the new run.
func rerun(ctx context.Context, engine *coordinator.Engine, run *coordinator.Run, req *Request, done *Done, emit func(*Reply) error) error {
	what, release, err := rerunOf(ctx, engine, req)
	if err != nil {
		return err
	}
	defer release()
	opts := []coordinator.Option{coordinator.WithActor(req.Actor)}
	if req.Dir != "" {
		opts = append(opts, coordinator.WithDir(req.Dir))
	}
	if req.Labels != nil {
		opts = append(opts, coordinator.WithLabels(req.Labels))
	}
	if req.ID != "" {
		opts = append(opts, coordinator.WithID(req.ID))
	}
	if req.Dry {
		preview, err := run.PreviewRerun(ctx, *what, opts...)
		if err != nil {
			return refusedInput(err)
		}
		done.Seq = preview.Seq
		return emitPreview(preview, emit)
	}
	next, err := run.Rerun(ctx, *what, opts...)
	if err != nil {
		return refusedInput(err)
	}
	done.Run, done.Driven, done.Of = next.ID(), next.Driven(), run.ID()
	return nil
}

// refusedInput marks the error about an input that the workflow refuses.
func refusedInput(err error) error {
	if refused, ok := errors.AsType[*coordinator.InputError](err); ok {
		return fmt.Errorf("%w: %w", ErrBadInput, refused)
	}
	return err
}

// rerunOf reads a rerun from a request and its attachment. The attached definitions stay stored until the call of release.
func rerunOf(ctx context.Context, engine *coordinator.Engine, req *Request) (_ *coordinator.Rerun, release func(), err error) {
	r := req.Rerun
	what := &coordinator.Rerun{From: r.From, Only: r.Only, Failed: r.Failed, Changed: r.Changed, At: r.At, Set: map[string]any{}}
	for place, text := range r.Set {
		v, err := value.ParseInput(text)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %s: %w", ErrBadRequest, place, err)
		}
		what.Set[place] = v
	}
	a, err := req.attached()
	if err != nil {
		return nil, nil, err
	}
	if len(a.Input) > 0 {
		if what.Input, err = value.ParseInput(a.Input); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrBadInput, err)
		}
		what.Null = what.Input == nil
	}
	if a.Parcel == nil {
		return what, func() {}, nil
	}
	what.Entry, release, err = parcel.Unpack(ctx, engine, a.Parcel)
	return what, release, err
}

func emitPreview(p *coordinator.RerunPreview, emit func(*Reply) error) error {
	for _, part := range []struct {
		does string
		list []coordinator.RerunStep
	}{{WillRun, p.Will}, {MayRun, p.May}, {IsKept, p.Kept}} {
		for _, s := range part.list {
			if err := emit(&Reply{Rerun: &RerunStep{part.does, s}}); err != nil {
				return err
			}
		}
	}
	return nil
}
