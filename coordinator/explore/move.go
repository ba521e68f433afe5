package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// move is an event that may come next.
type move struct {
	label string
	at    int64 // Unix nanoseconds; 0: at once
	items []decide.Item
}

// commandMove returns the move that a command makes.
func commandMove(label string, e journal.Event) move {
	if e.Detail == nil {
		e.Detail = &journal.Detail{}
	}
	e.Detail.Actor = "check"
	return move{label: label, items: []decide.Item{{Event: e}}}
}

// possible returns the moves from a state: first those of calls, last that of time.
func (p *play) possible() []move {
	var list []move
	due := p.root.NextDue()
	for _, req := range p.root.OpenCalls() {
		list = append(list, p.answers(req)...)
		if p.e.reduced && due == 0 && len(list) > 0 {
			break // the order makes no difference, so only this call ends next
		}
	}
	list = append(list, p.messages()...)
	list = append(list, p.decisions()...)
	list = append(list, p.e.kind.patches(p)...)
	if due > 0 {
		list = append(list, move{label: "time passes: " + p.due(due), at: due})
	}
	return list
}

// answers returns the moves that end a call.
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
		if f != plainFailure {
			label = with(" fails with "+f.Code, f.Details)
		}
		list = append(list, outcome(label, nil, f))
	}
	return list
}

// reply returns the result of an operation with an output. An HTTP request succeeds with status 200.
func (p *play) reply(req reactive.Request, out value.Value) any {
	if steps := p.root.Steps(); steps != nil {
		if at, ok := steps.Place(req.Node); ok && at.Kind == "http" {
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

// short returns a value as a text for labels.
func short(v value.Value) string {
	text, err := value.JSON(v)
	if err != nil {
		return err.Error()
	}
	return expr.Clip(string(text))
}

// messages returns the moves of messages that steps wait for, with the payloads that the document distinguishes.
func (p *play) messages() []move {
	var list []move
	for _, w := range p.root.Awaiting() {
		for _, payload := range p.e.guesses.of(p.root, w.Request) {
			list = append(list, commandMove(with("message "+w.Message+" comes", payload), journal.Event{
				Type: journal.MessageReceived, Value: payload, Detail: &journal.Detail{Name: w.Message},
			}))
		}
	}
	return list
}

// decisions returns the moves that decide tasks.
func (p *play) decisions() []move {
	var list []move
	for v := range p.root.Len() {
		if !p.root.Decidable(v) {
			continue
		}
		for _, s := range []call.Fulfillment{call.Fulfilled, call.NotFulfilled} {
			key := p.root.Key(v)
			list = append(list, commandMove(fmt.Sprintf("a person decides that %s is %s", key, s), journal.Event{
				Type: journal.DecisionReceived, Node: key, Detail: &journal.Detail{State: string(s)},
			}))
		}
	}
	return list
}

// due describes the timers that are due at an instant.
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
