package inspect

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// stepWatch tells how the steps of a playbook move, run by run, and how far their loops have come. What moves in a root are
// their calls.
type stepWatch struct {
	net     *net.Net
	was     []reactive.Status // of each step, as it was told
	live    map[string]*LoopChange
	waiting map[int]bool
	changes []StepChange
	loops   []*LoopChange
}

// watchSteps watches the steps of a playbook's run from now on; nil for any other run.
func watchSteps(root *reactive.Root) *stepWatch {
	n := net.Of(root)
	if n == nil {
		return nil
	}
	w := &stepWatch{
		net: n, was: make([]reactive.Status, len(n.Playbook().Steps)), live: map[string]*LoopChange{}, waiting: map[int]bool{},
	}
	for i := range w.was {
		w.was[i] = n.Step(i).Status
		if w.was[i] == reactive.Waiting {
			w.waiting[i] = true
		}
	}
	for _, wait := range n.Waits() {
		if wait.Run != "" && w.live[wait.Run] == nil {
			w.live[wait.Run] = &LoopChange{Step: wait.Run}
		}
		if wait.Kind == net.ForItems {
			*w.live[wait.Run] = LoopChange{Step: wait.Run, Done: wait.Done - wait.Failed, Failed: wait.Failed, Items: wait.Total}
		}
	}
	n.Watch(w.see)
	return w
}

// see turns what happens in the net into changes of steps.
func (w *stepWatch) see(v net.View) {
	i, ok := w.net.Playbook().StepIndex(v.Step)
	switch v.Name {
	case net.StepScheduled:
		w.live[v.Run] = &LoopChange{Step: v.Run}
		w.move(i, v.Run, reactive.Running, nil)
	case net.StepDone:
		delete(w.live, v.Run)
		w.move(i, v.Run, reactive.Completed, nil)
	case net.StepFailed:
		delete(w.live, v.Run)
		w.move(i, v.Run, reactive.Failed, v.Failure)
	case net.AdmitEvaluated:
		if ok && v.Status != "allow" && w.net.Step(i).Live == 0 {
			w.waiting[i] = true
			w.move(i, v.Step, reactive.Waiting, nil)
		}
	case net.LoopStarted:
		w.progress(v.Run, func(l *LoopChange) { l.Items = v.Count })
	case net.IterationDone:
		w.progress(v.Run, func(l *LoopChange) { l.Done++ })
	case net.IterationFailed:
		w.progress(v.Run, func(l *LoopChange) { l.Failed++ })
	case net.ExecutionCancelled:
		for _, run := range v.Runs {
			step, _, _ := strings.Cut(run, "@")
			i, _ := w.net.Playbook().StepIndex(step)
			w.move(i, run, reactive.Aborted, nil)
		}
		clear(w.live)
	}
}

func (w *stepWatch) move(i int, step string, to reactive.Status, f *journal.Failure) {
	w.changes = append(w.changes, StepChange{Step: step, From: w.was[i], To: to, Attempt: 1, Failure: f})
	w.was[i] = to
}

// progress notes how far a loop has come. Of one event only the last is told.
func (w *stepWatch) progress(run string, change func(*LoopChange)) {
	l := w.live[run]
	if l == nil {
		return
	}
	change(l)
	if !slices.Contains(w.loops, l) {
		w.loops = append(w.loops, l)
	}
}

// take completes an update with what has changed since the last call. A step whose tokens were taken away waits no more, and
// nobody says so.
func (w *stepWatch) take(u *Update) {
	admitted := w.net.Counts().Admitted > 0
	for _, i := range slices.Sorted(maps.Keys(w.waiting)) {
		if w.was[i] != reactive.Waiting {
			delete(w.waiting, i)
		} else if admitted {
			continue // a token that was let in is taken next
		} else if now := w.net.Step(i); now.Status != reactive.Waiting {
			delete(w.waiting, i)
			w.move(i, now.Step, now.Status, nil)
		}
	}
	u.Changes = append(u.Changes, w.changes...)
	for _, l := range w.loops {
		u.Loops = append(u.Loops, *l)
	}
	w.changes, w.loops = nil, nil
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
		if s.Status == reactive.Completed {
			state.Output = s.Result
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
