package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template/difference"
)

// impactMax bounds the open runs that a diff compares, and impactTime how long it takes for that, publishTime how long a publish does:
// the rest is counted as not looked at.
const (
	impactMax   = 1000
	impactTime  = 10 * time.Second
	publishTime = 2 * time.Second
)

// Shadowed is how a run would have gone by another workflow.
type Shadowed struct {
	shadow.Report
	Error *Error `json:"error,omitempty"` // of one of many runs: why it has no shadow
}

// Diff is how a workflow differs from an earlier one.
type Diff struct {
	Old     string        `json:"old"`               // hash
	New     string        `json:"new"`               // hash
	Added   []string      `json:"added,omitempty"`   // steps that only the new one has
	Removed []string      `json:"removed,omitempty"` // steps that only the old one has
	Changed []DiffStep    `json:"changed,omitempty"` // steps of both that have changed
	Whole   []DiffPart    `json:"whole,omitempty"`   // of the workflow as a whole
	Runs    []DiffOpenRun `json:"runs,omitempty"`    // open runs of the old one
	Left    int           `json:"left,omitempty"`    // open runs that were not looked at
}

// DiffStep is a step that has changed.
type DiffStep struct {
	Step  string     `json:"step"`  // its id
	Parts []DiffPart `json:"parts"` // what has changed of it
}

// DiffPart is a part of a step, such as its input, in both versions.
type DiffPart struct {
	Part string `json:"part"` // such as input
	Old  any    `json:"old"`  // null: it had none
	New  any    `json:"new"`  // null: it has none
}

// DiffOpenRun says of an open run whether all that it has begun would have gone the same way by the new workflow.
type DiffOpenRun struct {
	Run     string `json:"run"`               // id
	Same    bool   `json:"same"`              // nothing that it has begun would have gone otherwise
	Because string `json:"because,omitempty"` // why not
	Differs int    `json:"differs,omitempty"` // differences, also in what is still to come
}

// DiffOf describes a difference.
func DiffOf(old, now string, d *difference.Difference) *Diff {
	out := &Diff{Old: old, New: now, Added: d.Added, Removed: d.Removed, Whole: diffParts(d.Whole)}
	for _, s := range d.Changed {
		out.Changed = append(out.Changed, DiffStep{s.ID, diffParts(s.Parts)})
	}
	return out
}

func diffParts(parts []difference.Part) (list []DiffPart) {
	for _, p := range parts {
		list = append(list, DiffPart{p.What, p.Old, p.New})
	}
	return list
}

// None reports whether the two versions are the same.
func (d *Diff) None() bool { return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Whole) == 0 }

// OpenRuns says for people what the difference means for open runs.
func (d *Diff) OpenRuns() string {
	same := 0
	for i := range d.Runs {
		if d.Runs[i].Same {
			same++
		}
	}
	text := fmt.Sprintf("of %d of the old version, %d have begun nothing that differs", len(d.Runs), same)
	if d.Left > 0 {
		text += fmt.Sprintf("; %d more were not looked at", d.Left)
	}
	return text
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
		return &Done{}, compare(ctx, engine, old, now, emit)
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
		run, err := find(ctx, engine, req.Run)
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

// compare emits how two workflows differ, and what that means for the open runs of the old one.
func compare(ctx context.Context, engine *coordinator.Engine, old, now *registry.Entry, emit func(*Reply) error) error {
	out := DiffOf(old.Plan.Hash, now.Plan.Hash, difference.Between(old.Plan, now.Plan))
	if old.Plan.Hash != now.Plan.Hash {
		var err error
		if out.Runs, out.Left, err = impacts(ctx, engine, old, now, impactTime); err != nil {
			return err
		}
	}
	return emit(&Reply{Diff: out})
}

// impacts says of the open runs of a version what another one means for them, and counts those that it had no time for.
func impacts(
	ctx context.Context, engine *coordinator.Engine, old, now *registry.Entry, most time.Duration,
) (list []DiffOpenRun, left int, err error) {
	name, hash, begun := old.Plan.Workflow.Name, old.Plan.Hash, time.Now()
	for _, status := range []reactive.RunStatus{reactive.RunRunning, reactive.RunWaiting, reactive.RunPaused} {
		for head, err := range engine.List(ctx, journal.Query{Index: journal.ByStatus, Key: string(status)}) {
			switch {
			case err != nil:
				return nil, 0, fmt.Errorf("list runs: %w", err)
			case head.Name != name || head.Workflow != hash:
			case len(list) == impactMax || time.Since(begun) > most:
				left++
			default:
				list = append(list, impact(ctx, engine, head.Run, now))
			}
		}
	}
	return list, left, nil
}

func impact(ctx context.Context, engine *coordinator.Engine, run string, now *registry.Entry) DiffOpenRun {
	found := engine.ImpactOf(ctx, run, now)
	out := DiffOpenRun{Run: run, Same: found.Same()}
	if found.Report != nil {
		out.Differs = len(found.Report.Differences) + found.Report.More
	}
	switch {
	case found.Err != nil:
		out.Because = ErrorOf(found.Err).Message
	case found.Ahead != nil:
		out.Because = found.Ahead.String()
	}
	return out
}

// effect returns what a version means for the open runs of the one that it has replaced; nil if there are none.
func effect(ctx context.Context, engine *coordinator.Engine, was, now *parcel.Version) (*Diff, error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, err
	}
	old, err := l.Read(ctx, was.Hash, was.Children)
	if err != nil {
		return nil, err
	}
	is, err := l.Read(ctx, now.Hash, now.Children)
	if err != nil {
		return nil, err
	}
	out := DiffOf(was.Hash, now.Hash, difference.Between(old.Plan, is.Plan))
	if out.Runs, out.Left, err = impacts(ctx, engine, old, is, publishTime); err != nil || len(out.Runs)+out.Left == 0 {
		return nil, err
	}
	return out, nil
}
