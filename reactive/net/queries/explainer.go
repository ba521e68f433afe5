// Package queries answers queries about a playbook's run: the reasons for the statuses of its steps, and their changes. A net
// drops ended step-runs, so the answers come from watching it while the events of a journal are applied.
package queries

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/playbook"
)

// Net has the queries of a net.
type Net interface {
	reactive.Body
	reactive.Steps

	// Playbook returns the playbook of the run.
	Playbook() *playbook.Playbook

	// Step returns the state of a step, by its index.
	Step(i int) routed.StepState

	// Live reports whether a step-run is in progress.
	Live(run string) bool
}

// Explainer is an explain.Body for a net. It records details that the net drops, and the event of each decision.
type Explainer struct {
	net    Net
	book   *playbook.Playbook
	root   *reactive.Root
	run    explain.Run
	steps  map[string]*explain.Event        // by step and step-run
	ended  map[string]ending                // by key of a step-run, an iteration or a call
	lost   map[string][]string              // by step-run: keys of failed iterations
	failed map[*journal.Failure]routed.View // the failed step-runs
	left   map[string]routed.View           // by step: the arcs that its newest run took
	denied map[string]denial                // by step: the last verdict of its gate, if it was to deny
}

// ending is the end of a step-run, an iteration or a call.
type ending struct {
	status  reactive.Status
	failure *journal.Failure
	decided *explain.Event
}

// denial is a gate's verdict to deny, and the event that caused it.
type denial struct {
	view    routed.View
	decided *explain.Event
}

// NewExplainer returns the explainer of a net, which it watches.
func NewExplainer(n Net, root *reactive.Root, run explain.Run) *Explainer {
	x := &Explainer{
		net: n, book: n.Playbook(), root: root, run: run, steps: map[string]*explain.Event{}, ended: map[string]ending{},
		lost: map[string][]string{}, failed: map[*journal.Failure]routed.View{}, left: map[string]routed.View{}, denied: map[string]denial{},
	}
	n.Watch(x.see)
	return x
}

// CallEnded implements explain.Body.
func (x *Explainer) CallEnded(key string, status reactive.Status, f *journal.Failure) {
	x.ended[key] = ending{status, f, x.run.Event()}
}

// see records a view of the net.
func (x *Explainer) see(v routed.View) {
	now := x.run.Event()
	switch v.Name {
	case routed.StepDone:
		x.ended[v.Run] = ending{reactive.Completed, nil, now}
	case routed.StepFailed:
		x.ended[v.Run] = ending{reactive.Failed, v.Failure, now}
		x.failed[v.Failure] = v
	case routed.IterationDone:
		x.ended[iterationKey(v.Run, v.Iteration-1)] = ending{reactive.Completed, nil, now}
	case routed.IterationFailed:
		key := iterationKey(v.Run, v.Iteration-1)
		x.ended[key] = ending{reactive.Failed, v.Failure, now}
		x.lost[v.Run] = append(x.lost[v.Run], key)
	case routed.ExecutionCancelled:
		for _, run := range v.Runs {
			step, _, _ := strings.Cut(run, "@")
			x.ended[run] = ending{reactive.Aborted, nil, now}
			x.steps[step] = now
		}
	case routed.NextEvaluated:
		x.left[v.Step] = v
	case routed.AdmitEvaluated:
		delete(x.denied, v.Step)
		if v.Status != "allow" {
			x.denied[v.Step] = denial{view: v, decided: now}
		}
	}
	switch v.Name {
	case routed.StepScheduled, routed.StepDone, routed.StepFailed, routed.AdmitEvaluated:
		x.steps[v.Step] = now
		if v.Run != "" {
			x.steps[v.Run] = now
		}
	}
}

// Waiting implements explain.Body.
func (x *Explainer) Waiting() (list []explain.Reason) {
	for _, w := range x.net.Waits() {
		list = append(list, x.wait(&w))
	}
	return list
}

// Ending implements explain.Body. It returns the deciding failure, the steps whose newest run has failed, arcs that could not
// be followed and, if the run ended because no token could move, the closed gates.
func (x *Explainer) Ending(f *journal.Failure) []explain.Reason {
	list := []explain.Reason{{Kind: "failure", Text: f.Error(), Reasons: x.decisive()}}
	for i, step := range x.book.Steps {
		s := x.net.Step(i)
		if s.Status == reactive.Failed {
			list = append(list, explain.Reason{
				Kind: "failure", Step: s.Step, Text: fmt.Sprintf("step %s has failed: %s", s.Step, s.Failure.Error()), Decided: x.steps[s.Step],
			})
		}
		if s.Routed.Failure != nil {
			list = append(list, x.unrouted(&s))
		}
		if d, ok := x.denied[s.Step]; ok && f.Code == routed.CodeBlocked && !step.Admit.Discard {
			r := x.refusal(d)
			r.Text = fmt.Sprintf("a token has waited at the gate of step %s: %s", s.Step, r.Text)
			list = append(list, r)
		}
	}
	return list
}

// decisive returns the step-run whose failure is the failure of the run. It need not be the newest of its step, and tokens may
// have moved after it.
func (x *Explainer) decisive() []explain.Reason {
	v, ok := x.failed[x.net.Verdict().Failure]
	if !ok {
		return nil
	}
	text := "step-run " + v.Run + " has failed with that"
	if i, _ := x.book.StepIndex(v.Step); x.book.Steps[i].Next != nil {
		text += ", and no arc with a when has taken it up"
	}
	return []explain.Reason{{Kind: "failure", Step: v.Run, Text: text, Decided: x.run.At(v.Seq)}}
}

// Explain implements explain.Body.
func (x *Explainer) Explain(name string) *explain.Explanation {
	if out := x.step(name); out != nil {
		return out
	}
	return x.part(name)
}
