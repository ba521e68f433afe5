package queries

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/explain"
)

// step explains a step, or a step-run in progress. It returns nil if there is none with that name.
func (x *Explainer) step(name string) *explain.Explanation {
	step, _, isRun := strings.Cut(name, "@")
	i, ok := x.book.StepIndex(step)
	if !ok || isRun && !x.net.Live(name) {
		return nil
	}
	s := x.net.Step(i)
	out := &explain.Explanation{About: name, Kind: "step", Status: s.Status.String(), Decided: x.steps[name]}
	if isRun {
		out.Kind = "step-run"
	}
	for _, w := range x.net.Waits() {
		if w.Step == step && (!isRun || w.Run == name) {
			out.Reasons = append(out.Reasons, x.wait(&w))
		}
	}
	if len(out.Reasons) > 0 {
		out.Reasons = append(x.run.Pause(), out.Reasons...)
	}
	switch {
	case s.Status == reactive.Failed:
		out.Reasons = append(out.Reasons, explain.Reason{Kind: "failure", Text: s.Failure.Error(), Decided: x.steps[step]})
	case s.Status == reactive.Aborted:
		out.Reasons = append(out.Reasons, x.aborted(name))
	case s.Status == reactive.Idle:
		out.Reasons = append(out.Reasons, x.unreached(i)...)
	}
	if s.Runs > 0 && !isRun && len(out.Reasons) == 0 {
		out.Reasons = append(out.Reasons, explain.Reason{Kind: "end", Text: "it has run " + times(s.Runs), Decided: x.steps[step]})
	}
	run := name
	if !isRun {
		run = fmt.Sprintf("%s@%d", step, s.Runs) // the newest
	}
	out.Reasons = append(out.Reasons, x.failedItems(run)...)
	return out
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
