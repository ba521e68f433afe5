package explore

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// tree is the kind of workflows without routing.
type tree struct{ plan *plan.Plan }

func (t tree) reader(l *learner) reader {
	return &treeReader{learner: l, plan: t.plan, last: map[string]string{}, bound: map[string]string{}}
}

func (tree) tasks() []string      { return nil }
func (tree) once() string         { return "" }
func (tree) patches(*play) []move { return nil }

func (tree) describe(p *play) (step, why string) {
	for v := range p.root.Len() {
		if s := p.root.Status(v); s == reactive.Running && p.root.Row(v).Kind == plan.Step || p.root.Decidable(v) {
			return p.root.Key(v), "it waits for step " + p.root.Key(v)
		}
	}
	return "", "nothing is under way, and it has not ended"
}

// treeReader reads the document of a tree.
type treeReader struct {
	*learner
	plan  *plan.Plan
	last  map[string]string // by map: the step whose output is the output of an item
	bound map[string]string // by step: its operation
}

func (*treeReader) outlines(text string) ([]*expr.Outline, bool, error) { return expr.Outlines(text) }

func (r *treeReader) document() {
	document := r.plan.Workflow.Document()
	r.assignments("", document)
	r.texts("", document)
	r.bindings(document)
}

// bindings visits the expressions of operations, for each step that calls them.
func (r *treeReader) bindings(document value.Value) {
	object, _ := document.(map[string]any)
	operations, _ := object["operations"].(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(r.bound)) {
		r.place = place{call: id}
		r.texts("", operations[r.bound[id]])
	}
	r.place = place{}
}

// assignment records the values that steps receive without reading outputs.
func (r *treeReader) assignment(key string, v map[string]any) {
	if key == "map" {
		r.element(cmp.Or(text(v, "as"), "item"), v["over"])
		if steps, _ := v["steps"].([]any); len(steps) > 0 {
			step, _ := steps[len(steps)-1].(map[string]any)
			r.last[text(v, "id")] = idOf(step)
		}
	}
	if id := idOf(v); id != "" {
		r.bound[id] = text(v, "operation")
		r.assign(id+".input", nil, v["input"])
	}
	if key == "operations" {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			binding, _ := v[name].(map[string]any)
			r.assign(name+".value", nil, binding["value"])
		}
	}
}

func text(v map[string]any, key string) string {
	s, _ := v[key].(string)
	return s
}

// idOf returns the id of a step that calls an operation.
func idOf(step map[string]any) string { return cmp.Or(text(step, "id"), text(step, "operation")) }

// enter skips the operations, where `input` depends on the step that calls: bindings visits them for each such step.
func (*treeReader) enter(key string, visit func()) {
	if key != "operations" {
		visit()
	}
}

func (*treeReader) pointer(key, text string) (path []string, isPointer bool) {
	if key != "from" {
		return nil, false
	}
	path, _ = value.ParsePointer(text)
	return path, true
}

// read is for the input, the outputs and errors of steps, the items of maps, and the input of an operation that is bound to a
// value.
func (r *treeReader) read(path []string, values []value.Value) {
	switch {
	case path[0] == "input" && r.call != "":
		r.follow(r.call+".input", path[1:], values)
	case path[0] == "input":
		r.shape(input, "").note(path[1:], values)
	case path[0] != "steps":
		r.follow(path[0], path[1:], values)
	case len(path) > 2 && path[2] == "error":
		r.shape(failure, path[1]).note(path[2:], values)
	case len(path) > 2 && path[2] == "output":
		name, rest := path[1], path[3:]
		r.shape(output, name).note(rest, values)
		if last := r.last[name]; last != "" && len(rest) > 0 && rest[0] == expr.Element {
			r.learner.read(append([]string{"steps", last, "output"}, rest[1:]...), values)
		}
		r.followIn(name, r.bound[name]+".value", rest, values)
	}
}

func (r *treeReader) condition(path []string, values []value.Value) { r.learner.read(path, values) }
