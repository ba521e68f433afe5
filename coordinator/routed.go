package coordinator

import (
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/plan"
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

// routedStates describes the steps of a playbook, each with the calls of its runs that are open.
func routedStates(n *net.Net, calls []StepState) []StepState {
	var list []StepState
	for i := range n.Playbook().Steps {
		s := n.Step(i)
		state := StepState{
			Step: s.Step, Kind: plan.Step, Status: s.Status, Runs: s.Runs, Tokens: s.Pending + s.Parked,
		}
		if s.Status == reactive.Failed {
			state.Failure = s.Failure
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
