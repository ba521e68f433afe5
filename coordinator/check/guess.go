package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// guesses are what steps may answer with, by step, and of a playbook by step.task or step.
type guesses struct {
	given   map[string][]value.Value
	guessed map[string][]value.Value
	failing map[string][]*operation.Error // beside the plain failure
	gates   map[string][]value.Value      // of keys of a playbook's context that gates read
	inputs  []value.Value                 // of the run; none: the document reads nothing of it
}

// variantsMax bounds the combinations of what an output may hold, and valuesMax what it may hold at one path.
const (
	variantsMax = 24
	valuesMax   = 64
)

// guess makes outputs, failures and contexts of what the document reads of them.
func guess(p *plan.Plan, given map[string][]value.Value, never []string) guesses {
	g := guesses{
		given: given, guessed: map[string][]value.Value{}, failing: map[string][]*operation.Error{}, gates: map[string][]value.Value{},
	}
	for name, s := range learn(p, never) {
		if name == ofInput {
			g.inputs = s.variants()
		} else if key, ok := strings.CutPrefix(name, "ctx."); ok {
			g.gates[key] = s.variants()
		} else if step, ok := strings.CutPrefix(name, "!"); ok {
			g.failing[step] = failures(s)
		} else {
			g.guessed[name] = s.variants()
		}
	}
	return g
}

// of gives what a call may answer with; at least one value.
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

// unread is what a call answers with of whose output nothing is read.
var unread value.Value = map[string]any{}

// namesOf are what guesses about a node are kept under, those that say more first.
func namesOf(root *reactive.Root, v int32) []string {
	if n := net.Of(root); n != nil {
		at, _ := n.Place(v)
		return []string{at.Step + "." + at.Task, at.Step}
	}
	step, _, _ := strings.Cut(root.Key(v), "[") // of a map's item
	return []string{step}
}

// plainly is how any call may fail.
var plainly = &operation.Error{Code: "error", Message: "as explored", Permanent: true}

// failuresOf is how a call may fail, plainly first.
func (g guesses) failuresOf(root *reactive.Root, req reactive.Request) []*operation.Error {
	list := []*operation.Error{plainly}
	if req.Decision == 0 {
		for _, name := range namesOf(root, req.Node) {
			list = append(list, g.failing[name]...)
		}
	}
	return list
}

// failures are those that a playbook's rules and guards tell from the plain one.
func failures(asked *shape) []*operation.Error {
	var list []*operation.Error
	for _, v := range asked.variants() {
		object, _ := v.(map[string]any)
		f := *plainly
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

// decisionsOf are the answers of a decision source: what its step's result_match takes for a yes and for a no.
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

// shape is what is known of an output: values by path.
type shape struct {
	paths  [][]string
	values [][]value.Value // by path
}

// note takes a mention of a path, and values that make a difference there.
func (s *shape) note(path []string, values []value.Value) {
	i := slices.IndexFunc(s.paths, func(p []string) bool { return slices.Equal(p, path) })
	if i < 0 {
		i = len(s.paths)
		s.paths, s.values = append(s.paths, slices.Clone(path)), append(s.values, nil)
	}
	for _, v := range values {
		if !slices.ContainsFunc(s.values[i], func(w value.Value) bool { return value.Equal(v, w) }) {
			s.values[i] = append(s.values[i], v)
		}
	}
}

// variants are outputs in which the paths have their values: in every combination if these are few, else each value at least
// once, in changing company.
func (s *shape) variants() []value.Value {
	order := make([]int, len(s.paths)) // what holds another comes first
	most, all := 1, 1
	for i := range order {
		order[i] = i
		if n := len(s.values[i]); n > 0 {
			most, all = max(most, n), min(all*n, valuesMax+1)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(s.paths[a], s.paths[b]) })
	count := min(all, max(variantsMax, min(most, valuesMax)))
	var list []value.Value
	for n := range count {
		var out value.Value
		rest := n
		for k, i := range order {
			var v value.Value = something
			if size := len(s.values[i]); size > 0 {
				at := rest
				if rest /= size; all > count {
					at = n + n/size*k
				}
				v = s.values[i][at%size]
			}
			out = put(out, s.paths[i], v)
		}
		if !slices.ContainsFunc(list, func(w value.Value) bool { return value.Equal(out, w) }) {
			list = append(list, out)
		}
	}
	return list
}

// put writes a value at a path of another. An empty list stays so: it has no elements to write to.
func put(in value.Value, path []string, v value.Value) value.Value {
	if len(path) == 0 {
		return v
	}
	if path[0] == expr.Element {
		old, ok := in.([]any)
		if !ok {
			old = []any{nil}
		}
		list := make([]any, len(old))
		for i := range list {
			list[i] = put(old[i], path[1:], v)
		}
		return list
	}
	object := map[string]any{}
	if old, ok := in.(map[string]any); ok {
		object = maps.Clone(old)
	}
	object[path[0]] = put(object[path[0]], path[1:], v)
	return object
}

func nest(path value.Pointer, v value.Value) value.Value {
	for i := len(path) - 1; i >= 0; i-- {
		v = map[string]any{path[i]: v}
	}
	return v
}
