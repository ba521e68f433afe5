package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/versions"
	"github.com/sluiceflow/sluice/reactive/shadow"
)

// Shadowed is how a run would have gone by another workflow.
type Shadowed struct {
	shadow.Report
	Error *Error `json:"error,omitempty"` // of one of many runs: why it has no shadow
}

// changes carries out a request that compares workflows, or runs with one.
func changes(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) (*Done, error) {
	var a Attachment
	if len(req.Attachment) > 0 {
		d := json.NewDecoder(bytes.NewReader(req.Attachment))
		d.DisallowUnknownFields()
		if err := d.Decode(&a); err != nil {
			return nil, fmt.Errorf("%w: attachment: %w", ErrBadRequest, err)
		}
	}
	now, err := version(ctx, engine, req.Name, a.Parcel)
	if err != nil {
		return nil, err
	}
	if req.Verb == Compare {
		old, err := version(ctx, engine, req.Old, a.Old)
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

// version returns the workflow that came along, or the published one of a name, such as `order` or `order@3`.
func version(ctx context.Context, engine *coordinator.Engine, name string, p *parcel.Parcel) (*registry.Entry, error) {
	l, err := engine.Registry()
	switch {
	case err != nil:
		return nil, err
	case p != nil && name != "" || p == nil && name == "":
		return nil, fmt.Errorf("%w: a workflow is either named or attached", ErrBadRequest)
	case p != nil:
		e, err := l.Look(p)
		if errors.Is(err, parcel.ErrParcel) {
			err = fmt.Errorf("%w: %w", ErrBadRequest, err)
		}
		return e, err
	}
	number := uint64(0)
	of, text, numbered := strings.Cut(name, "@")
	if numbered {
		if number, err = strconv.ParseUint(text, 10, 64); err != nil || number == 0 {
			return nil, fmt.Errorf("%w: %q: a version is written NAME@NUMBER, from 1", ErrBadRequest, name)
		}
	}
	e, _, err := l.Published(ctx, of, number)
	return e, err
}

// shadows emits the shadow of a run, or of those that a query selects.
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
