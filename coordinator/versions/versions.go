// Package versions computes how a new version of a workflow affects the open runs of another one.
package versions

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// impactMax bounds the open runs that a diff compares, impactTime the time that a diff takes for that, and publishTime the time that a
// publish does: further runs are only counted.
const (
	impactMax   = 1000
	impactTime  = 10 * time.Second
	publishTime = 2 * time.Second
)

// Diff has the differences between a workflow and an earlier one.
type Diff struct {
	Old     string   `json:"old"`               // hash
	New     string   `json:"new"`               // hash
	Added   []string `json:"added,omitempty"`   // steps that only the new one has
	Removed []string `json:"removed,omitempty"` // steps that only the old one has
	Changed []Step   `json:"changed,omitempty"` // steps of both that have changed
	Whole   []Part   `json:"whole,omitempty"`   // of the workflow as a whole

	Children []Child   `json:"children,omitempty"` // child workflows that have changed
	Runs     []OpenRun `json:"runs,omitempty"`     // open runs of the old one
	Left     int       `json:"left,omitempty"`     // open runs that were not compared
}

// Child has the differences between two versions of a child workflow that both versions of the workflow start.
type Child struct {
	Path     string   `json:"path"`              // the operations that lead to it, the outermost first: pay/refund
	Document string   `json:"document"`          // the file or the name in the last of them
	Old      string   `json:"old"`               // hash
	New      string   `json:"new"`               // hash
	Added    []string `json:"added,omitempty"`   // steps that only the new one has
	Removed  []string `json:"removed,omitempty"` // steps that only the old one has
	Changed  []Step   `json:"changed,omitempty"` // steps of both that have changed
	Whole    []Part   `json:"whole,omitempty"`   // of the workflow as a whole
}

// Step is a step that has changed.
type Step struct {
	Step  string `json:"step"`  // its id
	Parts []Part `json:"parts"` // its changes
}

// Part is a part of a step, such as its input, in both versions.
type Part struct {
	Part string `json:"part"` // such as input
	Old  any    `json:"old"`  // null: it had none
	New  any    `json:"new"`  // null: it has none
}

// OpenRun reports whether an open run can be moved to the new workflow.
type OpenRun struct {
	Run     string `json:"run"`               // id
	Same    bool   `json:"same"`              // it can be moved: its history is the same
	Because string `json:"because,omitempty"` // why not
	Differs int    `json:"differs,omitempty"` // differences in its past and future
}

// Of describes the differences of two workflows, and of all below them.
func Of(ctx context.Context, old, now *registry.Entry) (*Diff, error) {
	d, err := registry.Compare(ctx, old, now)
	if err != nil {
		return nil, err
	}
	out := &Diff{Old: old.Plan.Hash, New: now.Plan.Hash, Added: d.Added, Removed: d.Removed, Changed: steps(d.Changed), Whole: parts(d.Whole)}
	for _, c := range d.Children {
		out.Children = append(out.Children, Child{c.Path, c.Document, c.Old, c.New, c.Added, c.Removed, steps(c.Changed), parts(c.Whole)})
	}
	return out, nil
}

func steps(of []difference.Step) (list []Step) {
	for _, s := range of {
		list = append(list, Step{s.ID, parts(s.Parts)})
	}
	return list
}

func parts(of []difference.Part) (list []Part) {
	for _, p := range of {
		list = append(list, Part{p.What, p.Old, p.New})
	}
	return list
}

// None reports whether the two versions are the same.
func (d *Diff) None() bool {
	return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Whole)+len(d.Children) == 0
}

// OpenRuns describes the consequences of the difference for open runs, for people.
func (d *Diff) OpenRuns() string {
	same := 0
	for i := range d.Runs {
		if d.Runs[i].Same {
			same++
		}
	}
	if slices.ContainsFunc(d.Whole, func(p Part) bool { return p.Part == "kind" }) {
		return fmt.Sprintf("of %d of the old version, none can be moved to the new one, which is of another kind", len(d.Runs)+d.Left)
	}
	text := fmt.Sprintf("of %d of the old version, %d can be moved to the new one", len(d.Runs), same)
	if d.Left > 0 {
		text += fmt.Sprintf("; %d more were not looked at", d.Left)
	}
	return text
}

// Find returns the workflow of a parcel, or, if p is nil, the published one of a name, such as `order` or `order@3`.
func Find(ctx context.Context, engine *coordinator.Engine, name string, p *parcel.Parcel) (*registry.Entry, error) {
	l, err := engine.Registry()
	switch {
	case err != nil:
		return nil, err
	case p != nil:
		return l.Look(p)
	}
	number := uint64(0)
	of, text, numbered := strings.Cut(name, "@")
	if numbered {
		if number, err = strconv.ParseUint(text, 10, 64); err != nil || number == 0 {
			newest, err := l.Newest(ctx, of)
			if err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%w: %s: a version is written NAME@NUMBER, and %s", parcel.ErrNotPublished, name, newest.There())
		}
	}
	e, _, err := l.Published(ctx, of, number)
	return e, err
}

// Compare returns the differences of two workflows, and the consequences for the open runs of the old one. say formats an error for people.
func Compare(ctx context.Context, engine *coordinator.Engine, old, now *registry.Entry, say func(error) string) (*Diff, error) {
	out, err := Of(ctx, old, now)
	if err != nil || out.None() && out.Old == out.New {
		return out, err
	}
	out.Runs, out.Left, err = impacts(ctx, engine, old, now, impactTime, say)
	return out, err
}

// impacts returns the consequences of version now for the open runs of version old, and counts those beyond impactMax or the time most.
// If now is of another kind, no run can be moved, and all are only counted. If only child workflows differ, impacts leaves out the runs
// that already follow now.
func impacts(
	ctx context.Context, engine *coordinator.Engine, old, now *registry.Entry, most time.Duration, say func(error) string,
) (list []OpenRun, left int, err error) {
	other := old.Plan.DocumentKind() != now.Plan.DocumentKind()
	name, hash, begun := old.Plan.Workflow.Name, old.Plan.Hash, time.Now()
	for _, status := range []reactive.RunStatus{reactive.RunRunning, reactive.RunWaiting, reactive.RunPaused} {
		for head, err := range engine.List(ctx, journal.Query{Index: journal.ByStatus, Key: string(status)}) {
			switch {
			case err != nil:
				return nil, 0, fmt.Errorf("list runs: %w", err)
			case head.Name != name || head.Workflow != hash:
			case other || len(list) == impactMax || time.Since(begun) > most:
				left++
			default:
				if of, follows := impact(ctx, engine, head.Run, now, say); !follows {
					list = append(list, of)
				}
			}
		}
	}
	return list, left, nil
}

// impact previews the move of an open run by the computation with which a move begins, and reports whether the run already follows the
// other version.
func impact(ctx context.Context, engine *coordinator.Engine, id string, now *registry.Entry, say func(error) string) (out OpenRun, follows bool) {
	out.Run = id
	run, err := engine.Run(ctx, id)
	var report *shadow.Report
	if err == nil {
		report, err = run.PreviewMoveEntry(ctx, now)
	}
	_, follows = errors.AsType[*coordinator.FollowsError](err)
	if past, ok := errors.AsType[*coordinator.PastError](err); ok {
		report, out.Because = past.Report, past.Why()
	} else if err != nil {
		out.Because = say(err)
	}
	if out.Same = err == nil; report != nil {
		out.Differs = len(report.Differences) + report.More
	}
	return out, follows
}

// Replaced returns the consequences of a version for the open runs of the one that it has replaced; nil if there are none and no child
// workflow has changed.
func Replaced(
	ctx context.Context, engine *coordinator.Engine, was, now *parcel.Version, say func(error) string,
) (*Diff, error) {
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
	out, err := Of(ctx, old, is)
	if err == nil {
		out.Runs, out.Left, err = impacts(ctx, engine, old, is, publishTime, say)
	}
	if err != nil || len(out.Runs)+out.Left+len(out.Children) == 0 {
		return nil, err
	}
	return out, nil
}
