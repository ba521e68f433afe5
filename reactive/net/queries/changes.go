package queries

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/marks"
	"github.com/sluiceflow/sluice/reactive/routed"
)

// Changes collects the changes of a playbook's steps, run by run, and the progress of their loops. It implements routed.Changes.
type Changes struct {
	net     reactive.Steps
	marks   *marks.Marks
	steps   []string
	index   map[string]int    // of each step
	was     []reactive.Status // of each step, as last reported
	live    map[string]*routed.LoopChange
	waiting map[int]bool // with tokens at its gate, or with admitted tokens that were not taken yet
	moved   map[int]bool // its status was recorded in this event
	touched []int        // in this event, for Marks
	changes []routed.StepChange
	loops   []*routed.LoopChange
}

// NewChanges returns a recorder of the later changes of a net, which it watches. The net records changes of its markings in m.
func NewChanges(n reactive.Steps, m *marks.Marks) *Changes {
	steps := n.Names()
	w := &Changes{
		net: n, marks: m, steps: steps, index: map[string]int{}, was: make([]reactive.Status, len(steps)), live: map[string]*routed.LoopChange{},
		waiting: map[int]bool{}, moved: map[int]bool{},
	}
	for i, name := range steps {
		w.index[name] = i
		step, _ := n.StepNow(name)
		w.was[i] = step.Status
		if step.Live == 0 && step.Pending+step.Ready > 0 {
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
	i := w.index[v.Step]
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
	w.moved[i] = true
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

// Marks implements routed.Changes.
func (w *Changes) Marks() (list []routed.Marking, revision uint64) {
	for _, i := range w.touched {
		step, _ := w.net.StepNow(w.steps[i])
		list = append(list, step.Marking())
	}
	return list, w.marks.Revision()
}

// look records whether a step with a changed marking waits. This depends only on the net, not on the begin of the watch. No view
// reports a step whose tokens were removed; such a step no longer waits.
func (w *Changes) look(i int) {
	now, _ := w.net.StepNow(w.steps[i])
	switch {
	case now.Live == 0 && now.Pending > 0:
		if w.waiting[i] = true; w.was[i] != reactive.Waiting {
			w.move(i, now.Step, reactive.Waiting, nil)
		}
	case now.Live == 0 && now.Ready > 0: // its token is taken next
		w.waiting[i] = true
	case w.waiting[i]:
		if delete(w.waiting, i); !w.moved[i] {
			w.move(i, now.Step, now.Status, nil)
		}
	}
}

// Take implements routed.Changes.
func (w *Changes) Take() ([]routed.StepChange, []routed.LoopChange) {
	w.touched = w.marks.Touched()
	for _, i := range w.touched {
		w.look(i)
	}
	clear(w.moved)
	changes := w.changes
	var loops []routed.LoopChange
	for _, l := range w.loops {
		loops = append(loops, *l)
	}
	w.changes, w.loops = nil, nil
	return changes, loops
}
