package queries

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/playbook"
)

// wait describes a wait of the run.
func (x *Explainer) wait(w *routed.Wait) explain.Reason {
	r := explain.Reason{Kind: string(w.Kind), Step: w.Step, Decided: x.run.At(w.Since)}
	switch w.Kind {
	case routed.AtGate:
		r.Text = fmt.Sprintf("a token waits at the gate of step %s: %s", w.Step, x.verdict(w.Step, w.Rule, w.Err))
		r.Values = explain.Shorten(w.Reads)
	case routed.AtJoin:
		r.Text = fmt.Sprintf("the join at step %s (%s) has tokens from %s, of the fan-out of %s; still to come: %d",
			w.Step, w.Mode, strings.Join(w.Arrived, ", "), w.FanOut, w.Live)
	case routed.ForTurn:
		r.Text = fmt.Sprintf("a token may go on to step %s, and was not taken yet", w.Step)
	case routed.ForDelay:
		r = explain.Timer(fmt.Sprintf("task %s of %s is tried again: that", w.Task, w.Run), w.Due)
	case routed.ForItems:
		r.Text, r.Decided = fmt.Sprintf("%s has done %d of %d items", w.Run, w.Done, w.Total), x.steps[w.Run]
	case routed.ForCall:
		r = x.run.Call(w.Node)
		r.Kind = string(routed.ForCall)
	}
	return r
}

// refusal returns the reason for which a gate has denied a token, with the values that its rules had read.
func (x *Explainer) refusal(d denial) explain.Reason {
	err := ""
	if d.view.Failure != nil {
		err = d.view.Failure.Message
	}
	return explain.Reason{
		Kind: string(routed.AtGate), Step: d.view.Step, Text: x.verdict(d.view.Step, d.view.Count, err), Values: explain.Shorten(d.view.Reads),
		Decided: d.decided,
	}
}

// verdict describes the rule of a step's gate that denies a token; -1: no rule admits it.
func (x *Explainer) verdict(step string, rule int, err string) string {
	i, _ := x.book.StepIndex(step)
	admit := x.book.Steps[i].Admit
	switch {
	case err != "":
		return "its rule " + admit.Rules[rule].Text + " could not be evaluated: " + err
	case rule >= 0 && admit.Rules[rule].When != nil:
		return "its rule " + admit.Rules[rule].Text + " denies it"
	case len(admit.Rules) > 0:
		return "no rule lets it in: " + rulesText(admit)
	}
	return "it has no rule that lets anything in"
}

// rulesText returns the conditions of a gate that admit tokens.
func rulesText(admit *playbook.Admit) string {
	var list []string
	for i := range admit.Rules {
		if admit.Rules[i].Allow && admit.Rules[i].When != nil {
			list = append(list, admit.Rules[i].Text)
		}
	}
	return strings.Join(list, ", ")
}
