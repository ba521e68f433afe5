package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/playbook"
)

// playbookStep explains a step of a playbook, or a run of it that is under way; nil when the name means neither.
func (x *Explainer) playbookStep(name string) *Explanation {
	step, _, isRun := strings.Cut(name, "@")
	i, ok := x.net.Playbook().StepIndex(step)
	if !ok || isRun && !x.net.Live(name) {
		return nil
	}
	s := x.net.Step(i)
	out := &Explanation{About: name, Kind: "step", Status: s.Status.String(), Decided: x.steps[name]}
	if isRun {
		out.Kind = "step-run"
	}
	for _, w := range x.net.Waits() {
		if w.Step == step && (!isRun || w.Run == name) {
			out.Reasons = append(out.Reasons, x.wait(&w))
		}
	}
	if len(out.Reasons) > 0 {
		out.Reasons = append(x.pause(), out.Reasons...)
	}
	switch {
	case s.Status == reactive.Failed:
		out.Reasons = append(out.Reasons, Reason{Kind: "failure", Text: s.Failure.Error(), Decided: x.steps[step]})
	case s.Status == reactive.Aborted:
		out.Reasons = append(out.Reasons, x.cut(name))
	case s.Status == reactive.Idle:
		out.Reasons = append(out.Reasons, x.unreached(i)...)
	}
	if s.Runs > 0 && !isRun && len(out.Reasons) == 0 {
		out.Reasons = append(out.Reasons, Reason{Kind: "end", Text: "it has run " + times(s.Runs), Decided: x.steps[step]})
	}
	run := name
	if !isRun {
		run = fmt.Sprintf("%s@%d", step, s.Runs) // the newest
	}
	out.Reasons = append(out.Reasons, x.lostItems(run)...)
	return out
}

// faults returns the reasons why a playbook did not complete: the steps whose newest run has failed, arcs that could
// not be followed, and where it was given up since nothing else could move, the gates that were shut.
func (x *Explainer) faults(code string) (list []Reason) {
	for i, step := range x.net.Playbook().Steps {
		s := x.net.Step(i)
		if s.Status == reactive.Failed {
			list = append(list, Reason{
				Kind: "failure", Step: s.Step, Text: fmt.Sprintf("step %s has failed: %s", s.Step, s.Failure.Error()), Decided: x.steps[s.Step],
			})
		}
		if s.Routed.Failure != nil {
			list = append(list, x.unrouted(&s))
		}
		if d, ok := x.denied[s.Step]; ok && code == net.ReasonBlocked && !step.Admit.Discard {
			r := x.refusal(d)
			r.Text = fmt.Sprintf("a token has waited at the gate of step %s: %s", s.Step, r.Text)
			list = append(list, r)
		}
	}
	return list
}

// unreached returns why no token has come to a step.
func (x *Explainer) unreached(to int) []Reason {
	book := x.net.Playbook()
	var list []Reason
	if book.Executor.Final == to {
		list = append(list, x.final(to))
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

// final returns why the final step has not run.
func (x *Explainer) final(i int) Reason {
	d, denied := x.denied[x.net.Playbook().Steps[i].Name]
	by := x.root.ClosedBy()
	r := Reason{Kind: "final", Text: "it is the final step: it runs when nothing else can move any more"}
	switch {
	case by != nil:
		r.Text, r.Decided = "it is the final step, which does not run where the whole run is ended", x.at(by.Seq)
	case denied:
		r = x.refusal(d)
		r.Kind, r.Text = "final", "it is the final step, and its gate has denied it: "+r.Text
	}
	return r
}

// unrouted returns why nothing went on from a step.
func (x *Explainer) unrouted(s *routed.StepState) Reason {
	return Reason{
		Kind: "routed", Step: s.Step, Decided: x.at(s.Routed.Seq), Values: shortened(x.routed[s.Step].Reads),
		Text: fmt.Sprintf("the arcs of step %s could not be followed: %s", s.Step, s.Routed.Failure.Error()),
	}
}

// sent returns why a step has not run although a token has come to it by an arc.
func (x *Explainer) sent(from *routed.StepState, to int) Reason {
	step := x.net.Playbook().Steps[to]
	text := fmt.Sprintf("step-run %s has sent a token here, ", from.Routed.Run)
	r := Reason{Decided: x.at(from.Routed.Seq)}
	switch d, denied := x.denied[step.Name]; {
	case denied:
		r = x.refusal(d)
		text += "and its gate has denied it: " + r.Text
	case step.Join != nil && !x.root.Closed():
		text += "and its join has not let it go on: other branches of the fan-out have failed, or too few have come"
	default:
		text += "and it was dropped: nothing new was started any more"
	}
	r.Kind, r.Step, r.Text = "routed", from.Step, text
	return r
}

// arc returns why nothing has come by an arc.
func (x *Explainer) arc(from, k int) Reason {
	book := x.net.Playbook()
	s := x.net.Step(from)
	arc := &book.Steps[from].Next.Arcs[k]
	r := Reason{Kind: "routed", Step: s.Step}
	guard := ""
	if arc.When != nil {
		guard = " when " + arc.Text
	}
	switch {
	case slices.Contains(s.Routed.Arcs, k) && s.Routed.Failure == nil:
		return x.sent(&s, arc.To)
	case s.Routed.Run == "" && s.Live > 0:
		r.Text, r.Decided = fmt.Sprintf("step %s leads here%s, and is still running", s.Step, guard), x.steps[s.Step]
	case s.Routed.Run == "" && (s.Status == reactive.Completed || s.Status == reactive.Failed):
		r.Text = fmt.Sprintf("step %s leads here%s, and when it had ended nothing new was started any more", s.Step, guard)
		r.Decided = x.steps[s.Step]
	case s.Routed.Run == "":
		r.Text = fmt.Sprintf("step %s leads here%s, and has not run to its end", s.Step, guard)
	case s.Routed.Failure != nil:
		return x.unrouted(&s)
	case len(s.Routed.Arcs) == 0:
		r.Text, r.Decided = fmt.Sprintf("step-run %s leads here%s: no arc of it has held", s.Routed.Run, guard), x.at(s.Routed.Seq)
		r.Values = x.readBy(arc, s.Step)
	default:
		names := make([]string, len(s.Routed.Arcs))
		for i, a := range s.Routed.Arcs {
			names[i] = book.Steps[book.Steps[from].Next.Arcs[a].To].Name
		}
		r.Text = fmt.Sprintf("step-run %s leads here%s, and went to %s instead", s.Routed.Run, guard, strings.Join(names, ", "))
		r.Decided, r.Values = x.at(s.Routed.Seq), x.readBy(arc, s.Step)
	}
	return r
}

// readBy returns the values that the guard of an arc read when the newest run of its step was routed.
func (x *Explainer) readBy(arc *playbook.Arc, step string) map[string]any {
	values := map[string]any{}
	if arc.When == nil {
		return nil
	}
	for path, v := range x.routed[step].Reads {
		name, rest, _ := strings.Cut(path, ".")
		key, _, _ := strings.Cut(rest, ".")
		if keys, all := arc.When.Keys(name); all || slices.Contains(keys, key) {
			values[path] = v
		}
	}
	return shortened(values)
}

// wait puts what a playbook's run waits for into words.
func (x *Explainer) wait(w *routed.Wait) Reason {
	r := Reason{Kind: string(w.Kind), Step: w.Step, Decided: x.at(w.Since)}
	switch w.Kind {
	case routed.AtGate:
		r.Text = fmt.Sprintf("a token waits at the gate of step %s: %s", w.Step, x.verdict(w.Step, w.Rule, w.Err))
		r.Values = shortened(w.Reads)
	case routed.AtJoin:
		r.Text = fmt.Sprintf("the join at step %s (%s) has tokens from %s, of the fan-out of %s; still to come: %d",
			w.Step, w.Mode, strings.Join(w.Arrived, ", "), w.FanOut, w.Live)
	case routed.ForTurn:
		r.Text = fmt.Sprintf("a token may go on to step %s, and was not taken yet", w.Step)
	case routed.ForDelay:
		r = timerReason(fmt.Sprintf("task %s of %s is tried again: that", w.Task, w.Run), w.Due)
	case routed.ForItems:
		r.Text, r.Decided = fmt.Sprintf("%s has done %d of %d items", w.Run, w.Done, w.Total), x.steps[w.Run]
	case routed.ForCall:
		r = x.about(w.Node, 1)
		r.Kind = string(routed.ForCall)
	}
	return r
}

// denial is a gate's no, and the event that has brought it about.
type denial struct {
	view    routed.View
	decided *DecidingEvent
}

// refusal returns why a gate has said no, with what its rules had read.
func (x *Explainer) refusal(d denial) Reason {
	err := ""
	if d.view.Failure != nil {
		err = d.view.Failure.Message
	}
	return Reason{
		Kind: string(routed.AtGate), Step: d.view.Step, Text: x.verdict(d.view.Step, d.view.Count, err), Values: shortened(d.view.Reads),
		Decided: d.decided,
	}
}

// verdict returns which rule of a step's gate keeps a token back; -1: none lets it in.
func (x *Explainer) verdict(step string, rule int, err string) string {
	i, _ := x.net.Playbook().StepIndex(step)
	admit := x.net.Playbook().Steps[i].Admit
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
