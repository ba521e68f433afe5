package queries

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/playbook"
)

// unreached returns the reasons for which no token has reached a step.
func (x *Explainer) unreached(to int) []explain.Reason {
	var list []explain.Reason
	if x.book.Executor.Final == to {
		list = append(list, x.final(to))
	}
	for i, from := range x.book.Steps {
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
		list = append(list, explain.Reason{Kind: "routed", Text: "no arc leads to it"})
	}
	return list
}

// final returns the reason for which the final step has not run.
func (x *Explainer) final(i int) explain.Reason {
	d, denied := x.denied[x.book.Steps[i].Name]
	by := x.root.ClosedBy()
	r := explain.Reason{Kind: "final", Text: "it is the final step: it runs when nothing else can move any more"}
	switch {
	case by != nil:
		r.Text, r.Decided = "it is the final step, which does not run where the whole run is ended", x.run.At(by.Seq)
	case denied:
		r = x.refusal(d)
		r.Kind, r.Text = "final", "it is the final step, and its gate has denied it: "+r.Text
	}
	return r
}

// unrouted returns the error for which no token left a step.
func (x *Explainer) unrouted(s *routed.StepState) explain.Reason {
	return explain.Reason{
		Kind: "routed", Step: s.Step, Decided: x.run.At(s.Routed.Seq), Values: explain.Shorten(x.left[s.Step].Reads),
		Text: fmt.Sprintf("the arcs of step %s could not be followed: %s", s.Step, s.Routed.Failure.Error()),
	}
}

// sent returns the reason for which a step has not run although a token has reached it.
func (x *Explainer) sent(from *routed.StepState, to int) explain.Reason {
	step := x.book.Steps[to]
	text := fmt.Sprintf("step-run %s has sent a token here, ", from.Routed.Run)
	r := explain.Reason{Decided: x.run.At(from.Routed.Seq)}
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

// arc returns the reason for which no token has come by an arc.
func (x *Explainer) arc(from, k int) explain.Reason {
	s, step := x.net.Step(from), x.book.Steps[from]
	arc := &step.Next.Arcs[k]
	r := explain.Reason{Kind: "routed", Step: s.Step}
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
		r.Text, r.Decided = fmt.Sprintf("step-run %s leads here%s: no arc of it has held", s.Routed.Run, guard), x.run.At(s.Routed.Seq)
		r.Values = x.readBy(arc, s.Step)
	default:
		names := make([]string, len(s.Routed.Arcs))
		for i, a := range s.Routed.Arcs {
			names[i] = x.book.Steps[step.Next.Arcs[a].To].Name
		}
		r.Text = fmt.Sprintf("step-run %s leads here%s, and went to %s instead", s.Routed.Run, guard, strings.Join(names, ", "))
		r.Decided, r.Values = x.run.At(s.Routed.Seq), x.readBy(arc, s.Step)
	}
	return r
}

// readBy returns the values that the guard of an arc read when the newest run of its step was routed.
func (x *Explainer) readBy(arc *playbook.Arc, step string) map[string]any {
	values := map[string]any{}
	if arc.When == nil {
		return nil
	}
	for path, v := range x.left[step].Reads {
		name, rest, _ := strings.Cut(path, ".")
		key, _, _ := strings.Cut(rest, ".")
		if keys, all := arc.When.Keys(name); all || slices.Contains(keys, key) {
			values[path] = v
		}
	}
	return explain.Shorten(values)
}
