package inspect

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// A playbook's net forgets step-runs that are over: their ends are recorded while the journal is read.

// past is how a step-run, an iteration or a call has ended.
type past struct {
	status  reactive.Status
	failure *journal.Failure
	decided *DecidingEvent
}

func iterationKey(run string, i int) string { return fmt.Sprintf("%s[%d]", run, i) }

// view records a view of the net.
func (x *Explainer) view(v routed.View) {
	switch v.Name {
	case routed.StepDone:
		x.past[v.Run] = past{reactive.Completed, nil, x.event}
	case routed.StepFailed:
		x.past[v.Run] = past{reactive.Failed, v.Failure, x.event}
		x.failed[v.Failure] = v
	case routed.IterationDone:
		x.past[iterationKey(v.Run, v.Iteration-1)] = past{reactive.Completed, nil, x.event}
	case routed.IterationFailed:
		key := iterationKey(v.Run, v.Iteration-1)
		x.past[key] = past{reactive.Failed, v.Failure, x.event}
		x.lost[v.Run] = append(x.lost[v.Run], key)
	case routed.ExecutionCancelled:
		for _, run := range v.Runs {
			step, _, _ := strings.Cut(run, "@")
			x.past[run] = past{reactive.Aborted, nil, x.event}
			x.steps[step] = x.event
		}
	case routed.NextEvaluated:
		x.routed[v.Step] = v
	case routed.AdmitEvaluated:
		delete(x.denied, v.Step)
		if v.Status != "allow" {
			x.denied[v.Step] = denial{view: v, decided: x.event}
		}
	}
	switch v.Name {
	case routed.StepScheduled, routed.StepDone, routed.StepFailed, routed.AdmitEvaluated:
		x.steps[v.Step] = x.event
		if v.Run != "" {
			x.steps[v.Run] = x.event
		}
	}
}

// cut returns how something has ended that has not come to an end of its own: with its step-run, or with the whole run.
func (x *Explainer) cut(name string) Reason {
	run := runOf(name)
	if p, over := x.past[run]; over && run != name {
		return Reason{Kind: "end", Step: run, Text: "it was under way when step-run " + run + " ended, which is " + p.status.String(), Decided: p.decided}
	}
	r := Reason{Kind: "end", Text: "it was under way when the run was ended"}
	if by := x.root.ClosedBy(); by != nil {
		r.Decided = x.at(by.Seq)
	}
	return r
}

// lostMax is how many of a loop's iterations that have failed are named.
const lostMax = 5

// lostItems returns the iterations of a step-run that have failed, the first of them named.
func (x *Explainer) lostItems(run string) []Reason {
	keys := x.lost[run]
	if len(keys) == 0 {
		return nil
	}
	r := Reason{Kind: "items", Step: run, Text: fmt.Sprintf("items of %s that have failed: %d", run, len(keys))}
	for _, key := range keys[:min(lostMax, len(keys))] {
		p := x.past[key]
		r.Reasons = append(r.Reasons, Reason{Kind: "failure", Step: key, Text: key + ": " + p.failure.Error(), Decided: p.decided})
	}
	if more := len(keys) - lostMax; more > 0 {
		r.Reasons = append(r.Reasons, Reason{Kind: "items", Text: fmt.Sprintf("and %d more", more)})
	}
	return []Reason{r}
}

// within explains what is a part of a step: a run, an iteration or a call that is over, or an iteration under way; nil when
// the name means none of them.
func (x *Explainer) within(name string) *Explanation {
	if x.net == nil {
		return nil
	}
	for _, w := range x.net.Waits() {
		if w.Iteration >= 0 && w.Run != "" && iterationKey(w.Run, w.Iteration) == name {
			return &Explanation{About: name, Kind: partKind(name), Status: reactive.Running.String(), Reasons: []Reason{x.wait(&w)}}
		}
	}
	p, ok := x.past[name]
	if run, over := x.past[runOf(name)]; !ok && over && x.called(name) {
		p, ok = past{reactive.Aborted, nil, run.decided}, true
	}
	if !ok {
		return nil
	}
	out := &Explanation{About: name, Kind: partKind(name), Status: p.status.String(), Decided: p.decided}
	switch {
	case p.failure != nil:
		out.Reasons = []Reason{{Kind: "failure", Text: p.failure.Error()}}
	case p.status == reactive.Aborted:
		out.Reasons = []Reason{x.cut(name)}
	}
	out.Reasons = append(out.Reasons, x.lostItems(name)...)
	return out
}

// called reports whether an iteration has made a call that is over.
func (x *Explainer) called(iteration string) bool {
	for key := range x.past {
		if strings.HasPrefix(key, iteration+".") {
			return true
		}
	}
	return false
}

// runOf returns the key of the step-run that the key of a part of a step is in.
func runOf(key string) string {
	at := strings.IndexByte(key, '@') + 1
	if end := strings.IndexAny(key[at:], "[."); end >= 0 {
		return key[:at+end]
	}
	return key
}

// partKind returns the kind of a part of a step, by its key.
func partKind(key string) string {
	_, part, _ := strings.Cut(key, "@")
	switch {
	case strings.Contains(part, "."):
		return "call"
	case strings.HasSuffix(part, "]"):
		return "item"
	}
	return "step-run"
}
