package inspect

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// stepWatch reports changes of a playbook's steps, run by run, and the progress of their loops. The changes of a root are
// those of their calls.
type stepWatch struct {
	body    reactive.Body
	steps   []string
	index   map[string]int    // of each step
	was     []reactive.Status // of each step, as last reported
	live    map[string]*LoopChange
	waiting map[int]bool
	changes []StepChange
	loops   []*LoopChange
}

// watchSteps watches the steps of a playbook's run from now on; nil for any other run.
func watchSteps(root *reactive.Root) *stepWatch {
	body := root.Body()
	if body == nil {
		return nil
	}
	steps := body.Steps()
	w := &stepWatch{
		body: body, steps: steps, index: map[string]int{}, was: make([]reactive.Status, len(steps)), live: map[string]*LoopChange{},
		waiting: map[int]bool{},
	}
	for i, name := range steps {
		w.index[name] = i
		step, _ := body.StepNow(name)
		w.was[i] = step.Status
		if w.was[i] == reactive.Waiting {
			w.waiting[i] = true
		}
	}
	for _, wait := range body.Waits() {
		if wait.Run != "" && w.live[wait.Run] == nil {
			w.live[wait.Run] = &LoopChange{Step: wait.Run}
		}
		if wait.Kind == routed.ForItems {
			*w.live[wait.Run] = LoopChange{Step: wait.Run, Done: wait.Done - wait.Failed, Failed: wait.Failed, Items: wait.Total}
		}
	}
	body.Watch(w.see)
	return w
}

// see turns what happens in the net into changes of steps.
func (w *stepWatch) see(v routed.View) {
	i, ok := w.index[v.Step]
	switch v.Name {
	case routed.StepScheduled:
		w.live[v.Run] = &LoopChange{Step: v.Run}
		w.move(i, v.Run, reactive.Running, nil)
	case routed.StepDone:
		delete(w.live, v.Run)
		w.move(i, v.Run, reactive.Completed, nil)
	case routed.StepFailed:
		delete(w.live, v.Run)
		w.move(i, v.Run, reactive.Failed, v.Failure)
	case routed.AdmitEvaluated:
		if step, _ := w.body.StepNow(v.Step); ok && v.Status != "allow" && step.Live == 0 {
			w.waiting[i] = true
			w.move(i, v.Step, reactive.Waiting, nil)
		}
	case routed.LoopStarted:
		w.progress(v.Run, func(l *LoopChange) { l.Items = v.Count })
	case routed.IterationDone:
		w.progress(v.Run, func(l *LoopChange) { l.Done++ })
	case routed.IterationFailed:
		w.progress(v.Run, func(l *LoopChange) { l.Failed++ })
	case routed.ExecutionCancelled:
		for _, run := range v.Runs {
			step, _, _ := strings.Cut(run, "@")
			w.move(w.index[step], run, reactive.Aborted, nil)
		}
		clear(w.live)
	}
}

func (w *stepWatch) move(i int, step string, to reactive.Status, f *journal.Failure) {
	w.changes = append(w.changes, StepChange{Step: step, From: w.was[i], To: to, Attempt: 1, Failure: f})
	w.was[i] = to
}

// progress records the progress of a loop. Of one event only the last is reported.
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

// take completes an update with the changes since the last call. No view reports a step whose tokens were taken
// away: it waits no more.
func (w *stepWatch) take(u *Update) {
	admitted := w.body.Counts().Admitted > 0
	for _, i := range slices.Sorted(maps.Keys(w.waiting)) {
		if w.was[i] != reactive.Waiting {
			delete(w.waiting, i)
		} else if admitted {
			continue // a token that was let in is taken next
		} else if now, _ := w.body.StepNow(w.steps[i]); now.Status != reactive.Waiting {
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
	Counts  routed.Counts          // since the start of the run
	Context map[string]value.Value // `ctx` of its expressions; shared, must not be changed
}

// routedStates describes the steps of a playbook, each with the calls of its runs that are open.
func routedStates(body reactive.Body, calls []StepState) []StepState {
	var list []StepState
	loops := map[string]*routed.Wait{}
	for _, w := range body.Waits() {
		if w.Kind == routed.ForItems {
			loops[w.Step] = &w
		}
	}
	for _, name := range body.Steps() {
		s, _ := body.StepNow(name)
		state := StepState{
			Step: s.Step, Kind: plan.Step, Status: s.Status, Runs: s.Runs, Live: s.Live, Tokens: s.Pending + s.Held,
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
