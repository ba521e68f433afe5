package queries

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
)

// Changes collects the changes of a playbook's steps, run by run, and the progress of their loops. It implements routed.Changes.
type Changes struct {
	net     reactive.Steps
	steps   []string
	index   map[string]int    // of each step
	was     []reactive.Status // of each step, as last reported
	live    map[string]*routed.LoopChange
	waiting map[int]bool
	changes []routed.StepChange
	loops   []*routed.LoopChange
}

// NewChanges returns the changes of a net from now on. It watches the net.
func NewChanges(n reactive.Steps) *Changes {
	steps := n.Names()
	w := &Changes{
		net: n, steps: steps, index: map[string]int{}, was: make([]reactive.Status, len(steps)), live: map[string]*routed.LoopChange{},
		waiting: map[int]bool{},
	}
	for i, name := range steps {
		w.index[name] = i
		step, _ := n.StepNow(name)
		w.was[i] = step.Status
		if w.was[i] == reactive.Waiting {
			w.waiting[i] = true
		}
	}
	for _, wait := range n.Waits() {
		if wait.Run != "" && w.live[wait.Run] == nil {
			w.live[wait.Run] = &routed.LoopChange{Step: wait.Run}
		}
		if wait.Kind == routed.ForItems {
			*w.live[wait.Run] = routed.LoopChange{Step: wait.Run, Done: wait.Done - wait.Failed, Failed: wait.Failed, Items: wait.Total}
		}
	}
	n.Watch(w.see)
	return w
}

// see records a view of the net.
func (w *Changes) see(v routed.View) {
	i, ok := w.index[v.Step]
	switch v.Name {
	case routed.StepScheduled:
		w.live[v.Run] = &routed.LoopChange{Step: v.Run}
		w.move(i, v.Run, reactive.Running, nil)
	case routed.StepDone:
		delete(w.live, v.Run)
		w.move(i, v.Run, reactive.Completed, nil)
	case routed.StepFailed:
		delete(w.live, v.Run)
		w.move(i, v.Run, reactive.Failed, v.Failure)
	case routed.AdmitEvaluated:
		if step, _ := w.net.StepNow(v.Step); ok && v.Status != "allow" && step.Live == 0 {
			w.waiting[i] = true
			w.move(i, v.Step, reactive.Waiting, nil)
		}
	case routed.LoopStarted:
		w.progress(v.Run, func(l *routed.LoopChange) { l.Items = v.Count })
	case routed.IterationDone:
		w.progress(v.Run, func(l *routed.LoopChange) { l.Done++ })
	case routed.IterationFailed:
		w.progress(v.Run, func(l *routed.LoopChange) { l.Failed++ })
	case routed.ExecutionCancelled:
		for _, run := range v.Runs {
			step, _, _ := strings.Cut(run, "@")
			w.move(w.index[step], run, reactive.Aborted, nil)
		}
		clear(w.live)
	}
}

// move records a change of a step's status.
func (w *Changes) move(i int, step string, to reactive.Status, f *journal.Failure) {
	w.changes = append(w.changes, routed.StepChange{Step: step, From: w.was[i], To: to, Failure: f})
	w.was[i] = to
}

// progress records the progress of a loop.
func (w *Changes) progress(run string, change func(*routed.LoopChange)) {
	l := w.live[run]
	if l == nil {
		return
	}
	change(l)
	if !slices.Contains(w.loops, l) {
		w.loops = append(w.loops, l)
	}
}

// Take implements routed.Changes. No view reports a step whose tokens were taken away: it waits no more.
func (w *Changes) Take() ([]routed.StepChange, []routed.LoopChange) {
	admitted := w.net.Counts().Admitted > 0
	for _, i := range slices.Sorted(maps.Keys(w.waiting)) {
		if w.was[i] != reactive.Waiting {
			delete(w.waiting, i)
		} else if admitted {
			continue // a token that was let in is taken next
		} else if now, _ := w.net.StepNow(w.steps[i]); now.Status != reactive.Waiting {
			delete(w.waiting, i)
			w.move(i, now.Step, now.Status, nil)
		}
	}
	changes := w.changes
	var loops []routed.LoopChange
	for _, l := range w.loops {
		loops = append(loops, *l)
	}
	w.changes, w.loops = nil, nil
	return changes, loops
}
