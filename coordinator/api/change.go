package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/versions"
	"github.com/sluiceflow/sluice/reactive/shadow"
)

// Shadowed is the result of following a run under another workflow.
type Shadowed struct {
	shadow.Report
	Error *Error `json:"error,omitempty"` // of one of many runs: the error that prevented its shadow
}

// changes carries out a request that compares workflows, or runs with a workflow.
func changes(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) (*Done, error) {
	a, err := req.attached()
	if err != nil {
		return nil, err
	}
	now, err := workflowOf(ctx, engine, req.Name, a.Parcel)
	if err != nil {
		return nil, err
	}
	if req.Verb == Compare {
		old, err := workflowOf(ctx, engine, req.Old, a.Old)
		if err != nil {
			return nil, err
		}
		diff, err := versions.Compare(ctx, engine, old, now, messageOf)
		if err != nil {
			return nil, err
		}
		return &Done{}, emit(&Reply{Diff: diff})
	}
	return shadows(ctx, engine, req, now, emit)
}

// workflowOf returns the workflow that a request either names or has attached.
func workflowOf(ctx context.Context, engine *coordinator.Engine, name string, p *parcel.Parcel) (*registry.Entry, error) {
	switch {
	case p == nil && name == "":
		return nil, fmt.Errorf("%w: no workflow is named or attached", ErrBadRequest)
	case p != nil && name != "":
		return nil, fmt.Errorf("%w: a workflow is named, and one is attached", ErrBadRequest)
	}
	return versions.Find(ctx, engine, name, p)
}

// attached returns the attachment of a request.
func (r *Request) attached() (a Attachment, err error) {
	if len(r.Attachment) == 0 {
		return a, nil
	}
	d := json.NewDecoder(bytes.NewReader(r.Attachment))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, fmt.Errorf("%w: attachment: %w", ErrBadRequest, err)
	}
	return a, nil
}

// moveRun moves a run to another workflow, and emits the differences from the current event on. With Dry, it only checks the move.
func moveRun(ctx context.Context, engine *coordinator.Engine, run *coordinator.Run, req *Request, done *Done, emit func(*Reply) error) error {
	a, err := req.attached()
	if err != nil {
		return err
	}
	act, now, release := run.As(req.Actor).MoveEntry, (*registry.Entry)(nil), func() {}
	if req.Dry {
		act = run.PreviewMoveEntry
	}
	if now, err = workflowOf(ctx, engine, req.Name, a.Parcel); err == nil && a.Parcel != nil && !req.Dry {
		now, release, err = parcel.Unpack(ctx, engine, a.Parcel)
	}
	if err != nil {
		return err
	}
	defer release()
	report, err := act(ctx, now)
	if err != nil {
		return refusedInput(err)
	}
	done.Driven = run.Driven()
	return emit(&Reply{Shadow: &Shadowed{Report: *report}})
}

// shadows emits the shadow of one run, or of each run that a query selects.
func shadows(ctx context.Context, engine *coordinator.Engine, req *Request, now *registry.Entry, emit func(*Reply) error) (*Done, error) {
	if req.Run != "" {
		run, err := find.Run(ctx, engine, req.Run)
		if err != nil {
			return nil, err
		}
		report, err := run.ShadowEntry(ctx, now)
		if err != nil {
			return nil, err
		}
		return &Done{Run: run.ID()}, emit(&Reply{Shadow: &Shadowed{Report: *report}})
	}
	runs, err := selected(ctx, engine, &Request{Query: req.Query})
	if err != nil {
		return nil, err
	}
	for _, id := range runs {
		run, err := engine.Run(ctx, id)
		out := &Shadowed{Report: shadow.Report{Run: id}}
		var report *shadow.Report
		if err == nil {
			report, err = run.ShadowEntry(ctx, now)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			out.Error = ErrorOf(err)
		default:
			out.Report = *report
		}
		if err := emit(&Reply{Shadow: out}); err != nil {
			return nil, err
		}
	}
	return &Done{Looked: len(runs)}, nil
}
