package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Explain says what the run, or one of its steps, waits for, or why it has ended as it has. The step is named by its key;
// of a playbook also by the step's name or that of one of its runs; "" is the run. It follows the whole journal, as State
// does, with what has fallen due as there, and does not hold up the run. Of a parked run the first reason says why it is; where its journal cannot be followed
// that is all there is to say, also of a step.
func (r *Run) Explain(ctx context.Context, step string) (*Explanation, error) {
	if err := r.engine.down(); err != nil {
		return nil, err
	}
	out, finished, err := r.explained(ctx, step)
	if err != nil && !errors.Is(err, ErrStepNotFound) && r.lost(err) {
		return r.unexplained(ctx, step, err)
	}
	if err != nil {
		return nil, r.engine.why(ctx, err)
	}
	if finished || out.Over() {
		return out, nil
	}
	if err := r.Parked(ctx); errors.Is(err, ErrParked) {
		out.Reasons = slices.Insert(out.Reasons, 0, parkedReason(err))
	} else if !r.Driven() {
		nobody := Reason{Kind: "nobody", Text: "no process works on the run, and nothing goes on before one does"}
		out.Reasons = slices.Insert(out.Reasons, 0, nobody)
	}
	return out, nil
}

// parkedReason puts into words why a run is parked.
func parkedReason(err error) Reason {
	return Reason{Kind: "parked", Text: "the run is parked, and cannot go on in this process: " + ParkedReason(err)}
}

// explained is Explain by what follows from the journal.
func (r *Run) explained(ctx context.Context, step string) (out *Explanation, finished bool, err error) {
	var x *inspect.Explainer
	root, err := r.engine.followAll(ctx, r.id, func(root *reactive.Root) func(*journal.Event) {
		x = inspect.NewExplainer(r.id, root)
		return x.Apply
	})
	if err != nil {
		return nil, false, err
	}
	late, err := r.engine.settle(ctx, root, x.Ahead)
	if err != nil {
		return nil, false, err
	}
	panicked := r.engine.derived(r.id, func() {
		finished = root.Finished() != nil
		out, err = x.Explain(step)
	})
	if late != nil && out != nil {
		out.Reasons = slices.Insert(out.Reasons, 0, Reason{Kind: "late", Text: "timers have fallen due since a process worked on the run: " +
			"what follows from them is not journaled yet"})
	}
	return out, finished, errors.Join(panicked, err)
}

// unexplained is Explain for a run whose journal cannot be followed.
func (r *Run) unexplained(ctx context.Context, step string, because error) (*Explanation, error) {
	s, err := r.listed(ctx, because)
	switch {
	case err != nil:
		return nil, r.engine.why(ctx, err)
	case s.Finished && errors.Is(because, decide.ErrRules):
		return unexplainedEnd(s, step)
	case s.Finished:
		return nil, because
	case step != "":
		return &Explanation{About: step, Kind: "step", Status: "parked", Reasons: []Reason{parkedReason(s.Parked)}}, nil
	}
	return &Explanation{About: "run", Kind: "run", Status: string(s.Status), Reasons: []Reason{parkedReason(s.Parked)}}, nil
}

// unexplainedEnd is what is known of the end of a run whose rules are those of another version.
func unexplainedEnd(s *State, step string) (*Explanation, error) {
	if step != "" {
		return nil, fmt.Errorf("%w: it went by rules of another version, so its steps are not explained", ErrFinished)
	}
	reason := Reason{Kind: "end", Text: "the run has finished by rules of another version, so how it came to that is not explained"}
	if s.Failure != nil {
		reason = Reason{Kind: "failure", Step: s.Failure.Step, Text: s.Failure.Error(), Reasons: []Reason{reason}}
	}
	return &Explanation{About: "run", Kind: "run", Status: string(s.Status), Reasons: []Reason{reason}}, nil
}
