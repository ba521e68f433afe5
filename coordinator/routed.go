package coordinator

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// stepWatch tells how the steps of a playbook move, run by run. What moves in a root are their calls.
type stepWatch struct {
	net     *net.Net
	was     []reactive.Status // of each step
	changes []StepChange
}

// watchSteps watches the steps of a playbook's run; nil for any other run.
func watchSteps(root *reactive.Root) *stepWatch {
	n := net.Of(root)
	if n == nil {
		return nil
	}
	w := &stepWatch{net: n, was: make([]reactive.Status, len(n.Playbook().Steps))}
	for i := range w.was {
		w.was[i] = reactive.Idle
	}
	n.Watch(w.see)
	return w
}

// see turns what happens in the net into changes of steps.
func (w *stepWatch) see(v net.View) {
	i, ok := w.net.Playbook().StepIndex(v.Step)
	if !ok {
		return
	}
	c := StepChange{Step: v.Run, From: w.was[i], Attempt: 1}
	switch v.Name {
	case net.StepScheduled:
		c.To = reactive.Running
	case net.StepDone:
		c.To = reactive.Completed
	case net.StepFailed:
		c.To, c.Failure = reactive.Failed, v.Failure
	case net.AdmitEvaluated:
		if v.Status == "allow" || w.net.Step(i).Live > 0 {
			return
		}
		c.Step, c.To = v.Step, reactive.Waiting
	default:
		return
	}
	w.was[i] = c.To
	w.changes = append(w.changes, c)
}

// take gives the changes since the last call.
func (w *stepWatch) take() []StepChange {
	c := w.changes
	w.changes = nil
	return c
}

// Views yields what has happened in the net of a playbook's run, in order, from the event with sequence from (1: the start) as
// far as its journal goes: admission, tasks, rules, arcs and tokens, none of which the journal holds. They follow from it, and
// are derived again each time. A run of anything else is ErrNotPossible.
func (r *Run) Views(ctx context.Context, from uint64) iter.Seq2[net.View, error] {
	return func(yield func(net.View, error) bool) {
		var root *reactive.Root
		var views []net.View
		for e, err := range r.engine.store.Read(ctx, r.id, 1) {
			if err == nil && root == nil {
				if root, err = r.engine.rootFor(ctx, &e); err == nil {
					err = viewed(root, &views)
				}
			}
			if err != nil {
				yield(net.View{}, fmt.Errorf("read run %s: %w", r.id, err))
				return
			}
			root.Apply(&e)
			for _, v := range views {
				if v.Seq >= from && !yield(v, nil) {
					return
				}
			}
			views = views[:0]
		}
		if root == nil {
			yield(net.View{}, fmt.Errorf("%w: %s", ErrRunNotFound, r.id))
		}
	}
}

// viewed has what happens in a net put into a list.
func viewed(root *reactive.Root, into *[]net.View) error {
	n := net.Of(root)
	if n == nil {
		return fmt.Errorf("%w: only a playbook's run has a net", ErrNotPossible)
	}
	n.Watch(func(v net.View) { *into = append(*into, v) })
	return nil
}

// Routed is where the net of a playbook's run stands.
type Routed struct {
	Counts  net.Counts
	Context map[string]value.Value
}

// routedStates describes the steps of a playbook, each with the calls of its runs that are open.
func routedStates(n *net.Net, calls []StepState) []StepState {
	var list []StepState
	loops := map[string]*net.Wait{}
	for _, w := range n.Waits() {
		if w.Kind == net.ForItems {
			loops[w.Step] = &w
		}
	}
	for i := range n.Playbook().Steps {
		s := n.Step(i)
		state := StepState{
			Step: s.Step, Kind: plan.Step, Status: s.Status, Runs: s.Runs, Live: s.Live, Tokens: s.Pending + s.Parked,
		}
		if s.Status == reactive.Failed {
			state.Failure = s.Failure
		}
		if w := loops[s.Step]; w != nil {
			state.ItemsDone, state.Items = w.Done, w.Total
		}
		list = append(list, state)
		for _, c := range calls {
			if strings.HasPrefix(c.Step, s.Step+"@") {
				c.Depth = 1
				list = append(list, c)
			}
		}
	}
	return list
}
