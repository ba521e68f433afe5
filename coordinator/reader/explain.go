package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/inspect"
)

// Explain implements coordinator.Run.Explain.
func (r *Reader) Explain(ctx context.Context, run, step string) (*explain.Explanation, error) {
	out, finished, err := r.explained(ctx, run, step)
	if err != nil && !errors.Is(err, decide.ErrStepNotFound) && !errors.Is(err, decide.ErrCellNotFound) && r.lost(ctx, run, err) {
		return r.unexplained(ctx, run, step, err)
	}
	if err != nil {
		return nil, err
	}
	if finished || out.Over() {
		return out, nil
	}
	if err := r.process.Parked(ctx, run); errors.Is(err, decide.ErrParked) {
		out.Reasons = slices.Insert(out.Reasons, 0, parkedReason(err))
	} else if !r.process.Drives(run) {
		undriven := explain.Reason{Kind: "nobody", Text: "no process works on the run; it goes on when one does"}
		out.Reasons = slices.Insert(out.Reasons, 0, undriven)
	}
	return out, nil
}

// parkedReason describes why a run is parked.
func parkedReason(err error) explain.Reason {
	return explain.Reason{Kind: "parked", Text: "the run is parked, and cannot go on in this process: " + ParkedReason(err)}
}

// explained is Explain derived from the journal. Of a world it reads the events after the newest snapshot. It reads all that are left
// only if the explanation names an earlier decision.
func (r *Reader) explained(ctx context.Context, run, step string) (out *explain.Explanation, finished bool, err error) {
	if from, ok := inspect.EventNumber(step); ok {
		return r.explainedBy(ctx, run, step, func() (route, error) { return r.since(ctx, run, from) })
	}
	newest, _, err := r.snapshots(ctx, run)
	if err == nil && newest != nil {
		out, finished, err = r.explainedBy(ctx, run, step, func() (route, error) { return r.newest(ctx, run) })
		if err == nil && decided(out) {
			return out, finished, nil
		}
	}
	return r.explainedBy(ctx, run, step, func() (route, error) { return r.since(ctx, run, 1) })
}

// decided reports whether an explanation has the deciding event, also of each reason in it that an event decides.
func decided(x *explain.Explanation) bool {
	return x.Decided != nil && !slices.ContainsFunc(x.Reasons, undecided)
}

func undecided(r explain.Reason) bool {
	switch r.Kind {
	case "timer", "message", "held", "machine": // follow from the state
		return slices.ContainsFunc(r.Reasons, undecided)
	}
	return r.Decided == nil || slices.ContainsFunc(r.Reasons, undecided)
}

// explainedBy is explained on a route.
func (r *Reader) explainedBy(
	ctx context.Context, run, step string, way func() (route, error),
) (out *explain.Explanation, finished bool, err error) {
	out, finished, err = r.explainedFrom(ctx, run, step, way, r.lean)
	if errors.Is(err, errUnread) {
		out, finished, err = r.explainedFrom(ctx, run, step, way, r.whole)
	}
	return out, finished, err
}

// explainedFrom is explained with a reading of the values; errUnread: values that were not loaded may be needed.
func (r *Reader) explainedFrom(
	ctx context.Context, run, step string, way func() (route, error), read reading,
) (out *explain.Explanation, finished bool, err error) {
	var x *inspect.Explainer
	unread := false
	root, err := r.followTo(ctx, run, way, recordingSkips(read, &unread), func(root *reactive.Root) follower {
		x = inspect.NewExplainer(run, step, root)
		x.ForWorker = func(operation string) string { return r.process.ForWorker(run, operation) }
		return follower{apply: x.Apply, trimmed: x.Trimmed, restored: x.Restored}
	})
	if err != nil {
		return nil, false, err
	}
	if unread && isOverdue(r.process, run, root.NextDue()) {
		return nil, false, errUnread
	}
	late, err := r.settle(ctx, root, x.Ahead)
	if err != nil {
		return nil, false, err
	}
	panicked := r.Derived(run, func() {
		finished = root.Finished() != nil
		out, err = x.Explain(step)
	})
	if late && out != nil {
		out.Reasons = slices.Insert(out.Reasons, 0, explain.Reason{Kind: "late", Text: "timers have fallen due since a process worked on the run: " +
			"what follows from them is not journaled yet"})
	}
	return out, finished, errors.Join(panicked, cmp.Or(root.Cells().Err(), err))
}

// unexplained is Explain for a run whose journal cannot be followed.
func (r *Reader) unexplained(ctx context.Context, run, step string, because error) (*explain.Explanation, error) {
	s, err := r.stateFromHead(ctx, run, because)
	switch {
	case err != nil:
		return nil, err
	case s.Finished && errors.Is(because, decide.ErrRules):
		return unexplainedEnd(s, step)
	case s.Finished:
		return nil, because
	case step != "":
		return &explain.Explanation{About: step, Kind: "step", Status: "parked", Reasons: []explain.Reason{parkedReason(s.Parked)}}, nil
	}
	return &explain.Explanation{About: "run", Kind: "run", Status: string(s.Status), Reasons: []explain.Reason{parkedReason(s.Parked)}}, nil
}

// unexplainedEnd explains the end of a run that has the rules of another version.
func unexplainedEnd(s *inspect.State, step string) (*explain.Explanation, error) {
	if step != "" {
		return nil, fmt.Errorf("%w: the run followed the rules of another version, so its steps cannot be explained", decide.ErrFinished)
	}
	reason := explain.Reason{Kind: "end", Text: "the run has finished under the rules of another version, so its end cannot be explained"}
	if s.Failure != nil {
		reason = explain.Reason{Kind: "failure", Step: s.Failure.Step, Text: s.Failure.Error(), Reasons: []explain.Reason{reason}}
	}
	return &explain.Explanation{About: "run", Kind: "run", Status: string(s.Status), Reasons: []explain.Reason{reason}}, nil
}
