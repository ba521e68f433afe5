package explore

import (
	"strings"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// guesses has the values that steps may answer with, by step; for routed steps, by step.task or step.
type guesses struct {
	given   map[string][]value.Value
	guessed map[string][]value.Value
	failing map[string][]*operation.Error // besides the failure plainly
	context map[string][]value.Value      // of keys of the context that gates read
	inputs  []value.Value                 // of the run; empty: the document reads no part of it
}

// guess makes outputs, failures and values of the context that differ in the parts that the document reads.
func guess(p *plan.Plan, k kind, given map[string][]value.Value, never []string) guesses {
	g := guesses{
		given: given, guessed: map[string][]value.Value{}, failing: map[string][]*operation.Error{}, context: map[string][]value.Value{},
	}
	for of, s := range learn(p, k, never) {
		switch of.what {
		case input:
			g.inputs = s.variants()
		case context:
			g.context[of.name] = s.variants()
		case failure:
			g.failing[of.name] = failures(s)
		case output:
			g.guessed[of.name] = s.variants()
		}
	}
	return g
}

// of returns the values that a call may answer with, at least one.
func (g guesses) of(root *reactive.Root, req reactive.Request) []value.Value {
	if req.Decision != 0 {
		return decisionsOf(root, req.Node)
	}
	names := namesOf(root, req.Node)
	for _, from := range []map[string][]value.Value{g.given, g.guessed} {
		for _, name := range names {
			if list := from[name]; len(list) > 0 {
				return list
			}
		}
	}
	return []value.Value{unread}
}

// unread is the answer of a call whose output the document does not read.
var unread value.Value = map[string]any{}

// namesOf returns the names that guesses about a node have, the most specific first.
func namesOf(root *reactive.Root, v int32) []string {
	if steps := root.Steps(); steps != nil {
		at, _ := steps.Place(v)
		return []string{at.Step + "." + at.Task, at.Step}
	}
	step, _, _ := strings.Cut(root.Key(v), "[") // of a map's item
	return []string{step}
}

// plainFailure is the failure that any call may have.
var plainFailure = &operation.Error{Code: "error", Message: "as explored", Permanent: true}

// failuresOf returns the failures that a call may have, plainly first.
func (g guesses) failuresOf(root *reactive.Root, req reactive.Request) []*operation.Error {
	list := []*operation.Error{plainFailure}
	if req.Decision == 0 {
		for _, name := range namesOf(root, req.Node) {
			list = append(list, g.failing[name]...)
		}
	}
	return list
}

// failures returns the failures that a document distinguishes from plainly.
func failures(asked *shape) []*operation.Error {
	var list []*operation.Error
	for _, v := range asked.variants() {
		object, _ := v.(map[string]any)
		f := *plainFailure
		details := map[string]any{}
		if e, ok := object["error"].(map[string]any); ok {
			if code, ok := e["code"].(string); ok {
				f.Code = code
			}
			if kind, ok := e["kind"].(string); ok {
				details["kind"] = kind
			}
			retryable, _ := e["retryable"].(bool)
			f.Permanent = !retryable
		}
		for _, k := range []string{"http", "pg"} {
			if about, ok := object[k]; ok {
				details[k] = about
			}
		}
		if len(details) > 0 {
			f.Details = details
		}
		list = append(list, &f)
	}
	return list
}

// decisionsOf returns the answers of a decision source: fulfilled and not fulfilled, as the step's result_match reads them, and null.
func decisionsOf(root *reactive.Root, v int32) []value.Value {
	m := root.Place(v).Step.Fulfillment.ResultMatch
	if m == nil {
		var list []value.Value
		for _, s := range []call.Fulfillment{call.Fulfilled, call.NotFulfilled} {
			list = append(list, map[string]any{"schema": call.Envelope, "fulfillment/status": string(s)})
		}
		return append(list, nil)
	}
	pointer, err := value.ParsePointer(m.Path)
	if err != nil {
		return []value.Value{nil}
	}
	var list []value.Value
	for _, some := range [][]value.Value{m.FulfilledValues, m.NotFulfilledValues} {
		if len(some) > 0 {
			list = append(list, nest(pointer, some[0]))
		}
	}
	return append(list, nil)
}

// nest returns a value with v at a path.
func nest(path value.Pointer, v value.Value) value.Value {
	for i := len(path) - 1; i >= 0; i-- {
		v = map[string]any{path[i]: v}
	}
	return v
}
