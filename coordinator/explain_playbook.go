package coordinator

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/playbook"
)

// playbookStep explains a step of a playbook, or one run of it; nil when the name means neither.
func (x *explainer) playbookStep(name string) *Explanation {
	step, _, isRun := strings.Cut(name, "@")
	i, ok := x.net.Playbook().StepIndex(step)
	if !ok || isRun && (strings.Contains(name, ".") || x.steps[name] == nil) {
		return nil
	}
	s := x.net.Step(i)
	out := &Explanation{About: name, Status: s.Status.String(), Decided: x.steps[name]}
	for _, w := range x.net.Waits() {
		if w.Step == step && (!isRun || w.Run == name) {
			out.Reasons = append(out.Reasons, x.wait(&w))
		}
	}
	switch {
	case isRun && !x.net.Live(name) && s.Runs > 1:
		out.Status = "ended"
	case s.Status == reactive.Failed:
		out.Reasons = append(out.Reasons, Reason{Kind: "failure", Text: s.Failure.Error(), Decided: x.steps[step]})
	case s.Status == reactive.Idle:
		out.Reasons = append(out.Reasons, x.unreached(i)...)
	}
	if s.Runs > 0 && !isRun && len(out.Reasons) == 0 {
		out.Reasons = append(out.Reasons, Reason{Kind: "end", Text: "it has run " + times(s.Runs), Decided: x.steps[step]})
	}
	return out
}

// unreached says why no token has come to a step.
func (x *explainer) unreached(to int) []Reason {
	book := x.net.Playbook()
	var list []Reason
	if book.Executor.Final == to {
		list = append(list, Reason{Kind: "final", Text: "it is the final step: it runs when nothing else can move any more"})
	}
	for i, from := range book.Steps {
		if from.Next == nil {
			continue
		}
		for k := range from.Next.Arcs {
			if from.Next.Arcs[k].To == to {
				list = append(list, x.arc(i, k))
			}
		}
	}
	if len(list) == 0 {
		list = append(list, Reason{Kind: "routed", Text: "no arc leads to it"})
	}
	return list
}

// arc says why nothing has come by an arc.
func (x *explainer) arc(from, k int) Reason {
	book := x.net.Playbook()
	s := x.net.Step(from)
	arc := &book.Steps[from].Next.Arcs[k]
	r := Reason{Kind: "routed", Step: s.Step}
	guard := ""
	if arc.When != nil {
		guard = " when " + arc.Text
	}
	switch {
	case s.Routed.Run == "" && s.Live > 0:
		r.Text, r.Decided = fmt.Sprintf("step %s leads here%s, and is still running", s.Step, guard), x.steps[s.Step]
	case s.Routed.Run == "":
		r.Text = fmt.Sprintf("step %s leads here%s, and has not run to its end", s.Step, guard)
	case s.Routed.Failure != nil:
		r.Text, r.Decided = fmt.Sprintf("the arcs of step %s could not be followed: %s", s.Step, s.Routed.Failure.Error()), x.at(s.Routed.Seq)
	case len(s.Routed.Arcs) == 0:
		r.Text, r.Decided = fmt.Sprintf("step-run %s leads here%s: no arc of it has held", s.Routed.Run, guard), x.at(s.Routed.Seq)
	default:
		names := make([]string, len(s.Routed.Arcs))
		for i, a := range s.Routed.Arcs {
			names[i] = book.Steps[book.Steps[from].Next.Arcs[a].To].Name
		}
		r.Text = fmt.Sprintf("step-run %s leads here%s, and went to %s instead", s.Routed.Run, guard, strings.Join(names, ", "))
		r.Decided = x.at(s.Routed.Seq)
	}
	return r
}

// wait puts what a playbook's run waits for into words.
func (x *explainer) wait(w *net.Wait) Reason {
	r := Reason{Kind: string(w.Kind), Step: w.Step, Decided: x.at(w.Since)}
	switch w.Kind {
	case net.AtGate:
		r.Text = fmt.Sprintf("a token waits at the gate of step %s: %s", w.Step, x.denial(w))
		r.Values = shortened(w.Reads)
	case net.AtJoin:
		r.Text = fmt.Sprintf("the join at step %s (%s) has tokens from %s; still to come: %d",
			w.Step, w.Mode, strings.Join(w.Arrived, ", "), w.Live)
	case net.ForTurn:
		r.Text = fmt.Sprintf("a token may go on to step %s, and was not taken yet", w.Step)
	case net.ForDelay:
		r = timerReason(fmt.Sprintf("task %s of %s is tried again: that", w.Task, w.Run), w.Due)
	case net.ForItems:
		r.Text, r.Decided = fmt.Sprintf("%s has done %d of %d items", w.Run, w.Done, w.Total), x.steps[w.Run]
	case net.ForCall:
		r = x.about(w.Node, 1)
		r.Kind = string(net.ForCall)
	}
	return r
}

// denial says which rule keeps a token back.
func (x *explainer) denial(w *net.Wait) string {
	i, _ := x.net.Playbook().StepIndex(w.Step)
	admit := x.net.Playbook().Steps[i].Admit
	switch {
	case w.Err != "":
		return "its rule " + admit.Rules[w.Rule].Text + " could not be evaluated: " + w.Err
	case w.Rule >= 0 && admit.Rules[w.Rule].When != nil:
		return "its rule " + admit.Rules[w.Rule].Text + " denies it"
	case len(admit.Rules) > 0:
		return "no rule lets it in: " + rulesText(admit)
	}
	return "it has no rule that lets anything in"
}

func rulesText(admit *playbook.Admit) string {
	var list []string
	for i := range admit.Rules {
		if admit.Rules[i].Allow && admit.Rules[i].When != nil {
			list = append(list, admit.Rules[i].Text)
		}
	}
	return strings.Join(list, ", ")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
