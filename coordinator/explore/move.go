package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// move is something that may happen next.
type move struct {
	label string
	at    int64 // when, Unix nanoseconds; 0: at once
	items []decide.Item
}

// possible returns the moves that a state has, calls first, gates then, and time last.
func (p *play) possible() []move {
	var list []move
	due := p.root.NextDue()
	for _, req := range p.root.OpenCalls() {
		list = append(list, p.answers(req)...)
		if p.e.reduced && due == 0 && len(list) > 0 {
			break // the order makes no difference: this one goes first
		}
	}
	list = append(list, p.messages()...)
	list = append(list, p.decisions()...)
	list = append(list, p.patches()...)
	if due > 0 {
		list = append(list, move{label: "time passes: " + p.due(due), at: due})
	}
	return list
}

// answers returns the outcomes of a call.
func (p *play) answers(req reactive.Request) []move {
	key := p.root.Key(req.Node)
	name := key
	switch {
	case req.Participant != "":
		name += " (" + req.Participant + ")"
	case req.Decision != 0:
		name = "the decision about " + key
	}
	outcome := func(label string, out any, err error) move {
		e := decide.Ending(req, operation.ResultOf(out, err))
		e.Node, e.Hint = key, req.Node+1
		return move{label: name + label, items: []decide.Item{{Event: e}}}
	}
	var list []move
	for _, out := range p.e.guesses.of(p.root, req) {
		list = append(list, outcome(with(" answers", out), p.reply(req, out), nil))
	}
	for _, f := range p.e.guesses.failuresOf(p.root, req) {
		label := " fails"
		if f != plainly {
			label = with(" fails with "+f.Code, f.Details)
		}
		list = append(list, outcome(label, nil, f))
	}
	return list
}

// reply returns the result of a call with an output: that of an HTTP request has a status of success.
func (p *play) reply(req reactive.Request, out value.Value) any {
	if body := p.root.Body(); body != nil {
		if at, ok := body.Place(req.Node); ok && at.Kind == "http" {
			return operation.Reply{Output: out, About: map[string]any{"http": map[string]any{"status": int64(200)}}}
		}
	}
	return out
}

// with adds a value to the label of a move.
func with(label string, v value.Value) string {
	if v == nil || value.Equal(v, unread) {
		return label
	}
	return label + " " + short(v)
}

func short(v value.Value) string {
	text, err := value.JSON(v)
	if err != nil {
		return err.Error()
	}
	return expr.Clip(string(text))
}

// messages returns the messages that steps wait for, with the payloads that they distinguish.
func (p *play) messages() []move {
	var list []move
	for _, w := range p.root.Awaiting() {
		for _, payload := range p.e.guesses.of(p.root, w.Request) {
			list = append(list, move{label: with("message "+w.Message+" comes", payload), items: []decide.Item{{Event: journal.Event{
				Type: journal.MessageReceived, Value: payload, Detail: &journal.Detail{Name: w.Message, Actor: "check"},
			}}}})
		}
	}
	return list
}

// decisions returns the possible decisions about tasks that wait for one.
func (p *play) decisions() []move {
	var list []move
	for v := range p.root.Len() {
		if !p.root.Decidable(v) {
			continue
		}
		for _, s := range []call.Fulfillment{call.Fulfilled, call.NotFulfilled} {
			key := p.root.Key(v)
			list = append(list, move{label: fmt.Sprintf("somebody decides that %s is %s", key, s), items: []decide.Item{{Event: journal.Event{
				Type: journal.DecisionReceived, Node: key, Detail: &journal.Detail{State: string(s), Actor: "check"},
			}}}})
		}
	}
	return list
}

// patches returns what may be written to a playbook's context so that a gate looks again: true, and what its rules name.
func (p *play) patches() []move {
	book, ok := playbook.Of(p.e.plan.Workflow)
	if !ok {
		return nil
	}
	body := p.root.Body()
	var list []move
	seen := map[string]bool{}
	for _, w := range body.Waits() {
		if w.Kind != routed.AtGate {
			continue
		}
		i, _ := book.StepIndex(w.Step)
		admit := book.Steps[i].Admit
		keys := admit.Keys
		if admit.AllKeys {
			keys = slices.Sorted(maps.Keys(p.e.guesses.gates))
		}
		for _, key := range keys {
			for _, v := range append([]value.Value{true}, p.e.guesses.gates[key]...) {
				label := "ctx." + key + " becomes " + short(v)
				if seen[label] || value.Equal(body.Context()[key], v) {
					continue
				}
				seen[label] = true
				list = append(list, move{label: label, items: []decide.Item{{Event: journal.Event{
					Type: journal.ContextPatched, Value: map[string]any{key: v}, Detail: &journal.Detail{Actor: "check"},
				}}}})
			}
		}
	}
	return list
}

// due reports what happens when time passes.
func (p *play) due(at int64) string {
	var list []string
	for v := range p.root.Len() {
		if p.root.Status(v) == reactive.Absent {
			continue
		}
		for _, c := range inspect.Causes(p.root, v) {
			if c.Kind == inspect.ByTimer && c.Due == at {
				list = append(list, c.Timer+" of "+p.root.Key(v))
			}
		}
	}
	if len(list) == 0 {
		return "a timer is due"
	}
	return strings.Join(slices.Compact(list), ", ")
}

// describe reports what a state waits for, for one from which there is no way out.
func (p *play) describe() (step, why string) {
	if body := p.root.Body(); body != nil {
		for _, w := range body.Waits() {
			switch w.Kind {
			case routed.AtGate:
				return w.Step, "a token waits at the gate of step " + w.Step + ", which nothing opens"
			case routed.ForCall:
				step, why = w.Step, "it goes round by step "+w.Step
			}
		}
		if why == "" {
			why = "it goes round"
		}
		return step, why
	}
	for v := range p.root.Len() {
		if s := p.root.Status(v); s == reactive.Running && p.root.Row(v).Kind == plan.Step || p.root.Decidable(v) {
			return p.root.Key(v), "it waits for step " + p.root.Key(v)
		}
	}
	return "", "nothing is under way, and it has not ended"
}
