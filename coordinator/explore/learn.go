package explore

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// learner finds the conditions of a document on the outputs of its steps: where it reads them, also by way of what it has
// passed on or set, and which values make a difference there.
type learner struct {
	book     *playbook.Playbook // nil: a workflow
	outlines func(text string) ([]*expr.Outline, bool, error)
	shapes   map[subject]*shape
	sources  map[string][]source  // of variables, by name
	into     map[int]map[int]bool // steps with arcs to a step
	last     map[string]string    // the step whose output is that of a map's item
	bound    map[string]string    // the operation of a workflow's step
	seen     map[string]bool
	place
}

// place is the position of an expression.
type place struct {
	step int    // of a playbook
	gate bool   // within an admission
	call string // of a workflow: the step whose operation's binding it is in
}

// learn makes guesses of what a document reads.
func learn(p *plan.Plan, never []string) map[subject]*shape {
	l := &learner{
		outlines: expr.Outlines, shapes: map[subject]*shape{}, sources: map[string][]source{}, into: map[int]map[int]bool{},
		last: map[string]string{}, bound: map[string]string{}, seen: map[string]bool{},
	}
	document := p.Workflow.Document()
	if book, ok := playbook.Of(p.Workflow); ok {
		l.book, l.outlines, document = book, book.Outlines, book.Document()
	}
	l.all(document, l.assignments)
	l.all(document, l.texts)
	l.bindings(document)
	for _, text := range never {
		l.condition(text)
	}
	l.allowed(p.Workflow.Input)
	for i := range p.Nodes {
		if s := p.Nodes[i].Step; s != nil {
			l.answered(s)
		}
	}
	return l.shapes
}

// allowed keeps of the values of an input those of which its schema has a list, all of them.
func (l *learner) allowed(schema value.Value) {
	s := l.shapes[subject{what: input}]
	if s == nil {
		return
	}
	for i, path := range s.paths {
		at := schema
		for _, key := range path {
			object, _ := at.(map[string]any)
			if key == expr.Element {
				at = object["items"]
				continue
			}
			properties, _ := object["properties"].(map[string]any)
			at = properties[key]
		}
		object, _ := at.(map[string]any)
		if list, ok := object["enum"].([]any); ok && len(list) > 0 {
			s.values[i] = list
		}
	}
}

// answered records the conditions of a step on its own answers: the best is the one with the best number, and the task may be done
// or not.
func (l *learner) answered(s *template.Step) {
	name := s.ID
	if l.book != nil {
		name, _, _ = strings.Cut(name, ".")
	}
	if s.FanIn != nil && s.FanIn.ScoreField != "" {
		path, err := value.ParsePointer(s.FanIn.ScoreField)
		if err != nil {
			path = strings.Split(s.FanIn.ScoreField, ".")
		}
		l.shape(output, name).note(path, numbers)
	}
	if s.Fulfillment == nil || s.Fulfillment.ResultMatch == nil || s.Fulfillment.Policy != template.OutputMatch {
		return
	}
	m := s.Fulfillment.ResultMatch
	if path, err := value.ParsePointer(m.Path); err == nil {
		for _, values := range [][]value.Value{m.FulfilledValues, m.NotFulfilledValues} {
			l.shape(output, name).note(path, values[:min(1, len(values))])
		}
	}
}

// condition reads a condition that must never hold. It is in the dialect of package expr, also for a playbook, whose steps and context it can read.
func (l *learner) condition(text string) {
	list, _, err := expr.Outlines(text)
	if err != nil {
		return // it is refused when it is compiled
	}
	for _, o := range list {
		sampler(func(path []string, values []value.Value) {
			if path[0] == "steps" && len(path) > 1 {
				path = slices.Clone(path)
				path[1], _, _ = strings.Cut(path[1], "[") // of a map's item
			}
			switch {
			case l.book == nil:
				l.read(path, values)
			case path[0] == "ctx":
				l.read(path, values)
			case path[0] == "steps" && len(path) > 2 && path[2] == "output":
				l.shape(output, path[1]).note(path[3:], values)
			case path[0] == "steps" && len(path) > 2 && path[2] == "error":
				l.shape(failure, path[1]).note(path[2:], values)
			}
		}).walk(o, truths)
	}
}

// all has a document gone through: that of a playbook step by step.
func (l *learner) all(document value.Value, visit func(key string, v value.Value)) {
	if l.book == nil {
		visit("", document)
		return
	}
	object, _ := document.(map[string]any)
	steps, _ := object["workflow"].([]any)
	for i, step := range steps {
		l.step = i
		visit("", step)
	}
}

func (l *learner) shape(what what, name string) *shape {
	of := subject{what, name}
	if l.shapes[of] == nil {
		l.shapes[of] = &shape{}
	}
	return l.shapes[of]
}

// texts visits every expression.
func (l *learner) texts(key string, v value.Value) {
	switch v := v.(type) {
	case string:
		if key == "from" && l.book == nil {
			if pointer, err := value.ParsePointer(v); err == nil {
				l.read(pointer, nil)
			}
			return
		}
		list, alone, err := l.outlines(strings.TrimSpace(v)) // a block ends with a newline
		if err != nil {
			return // it is not meant to be an expression
		}
		var wanted []value.Value
		if alone {
			switch key {
			case "when", "test":
				wanted = truths
			case "in", "over":
				wanted = lists
			}
		}
		for _, o := range list {
			sampler(l.read).walk(o, wanted)
		}
	case []any:
		for _, x := range v {
			l.texts(key, x)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if k == "operations" && l.book == nil {
				continue // what is input there is that of each call
			}
			gate := l.gate
			l.gate = gate || k == "admit"
			l.texts(k, v[k])
			l.gate = gate
		}
	}
}

// bindings visits the expressions of operations, for each step that calls them.
func (l *learner) bindings(document value.Value) {
	object, _ := document.(map[string]any)
	operations, _ := object["operations"].(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(l.bound)) {
		l.place = place{call: id}
		l.texts("", operations[l.bound[id]])
	}
	l.place = place{}
}

// read records that values make a difference at a path, and follows it to their source.
func (l *learner) read(path []string, values []value.Value) {
	text, err := value.JSON([]any{int64(l.step), l.gate, l.call, strings.Join(path, "\x00"), values})
	if err != nil || l.seen[string(text)] || len(path) > pathMax {
		return
	}
	l.seen[string(text)] = true
	if l.book == nil {
		l.readOfWorkflow(path, values)
		return
	}
	root, rest := path[0], path[1:]
	switch {
	case root == "ctx" && len(rest) > 0:
		if l.gate {
			l.shape(context, rest[0]).note(rest[1:], values)
		}
		l.follow(l.variable(0, "ctx", rest[0]), rest[1:], values)
	case (root == "args" || root == "iter" || root == "step") && len(rest) > 0:
		l.follow(l.variable(l.step, root, rest[0]), rest[1:], values)
	case root == "input":
		l.follow(l.variable(l.step, root), rest, values)
	case root == "event" && l.gate:
		here := l.place
		for _, from := range slices.Sorted(maps.Keys(l.into[here.step])) {
			l.place = place{step: from}
			l.read(path, values)
		}
		l.place = here
	default:
		l.own(root, rest, values)
	}
}

// pathMax bounds how far a variable is followed that is made of itself.
const pathMax = 12

// own returns what a step reads of its own output and error, or in Jinja's dialect of another step's by its name.
func (l *learner) own(root string, rest []string, values []value.Value) {
	step := l.book.Steps[l.step]
	name := step.Name
	switch root {
	case "outcome", "event", "output":
		switch {
		case len(rest) == 0:
			return
		case rest[0] == "error" || rest[0] == "http" || rest[0] == "pg":
			l.shape(failure, name).note(rest, values)
			return
		case rest[0] != "result" && rest[0] != "data":
			return
		}
		rest = rest[1:]
	case "results":
		if len(rest) == 0 {
			return
		}
		rest = rest[1:]
	case "_prev":
	default:
		if !l.book.Jinja || l.unprefixed(root, rest, values) {
			return
		}
		if _, isStep := l.book.StepIndex(root); isStep {
			name = root
		} else if !slices.ContainsFunc(step.Tasks, func(t *playbook.Task) bool { return t.Label == root }) {
			return
		}
		if len(rest) > 0 && rest[0] == "data" {
			rest = rest[1:]
		}
	}
	if step.Loop != nil && root == "event" { // the result of a loop is the list of its iterations' results
		if len(rest) == 0 || rest[0] != expr.Element {
			return
		}
		rest = rest[1:]
	}
	l.shape(output, name).note(rest, values)
}

// unprefixed follows a name that Jinja's dialect reads without a prefix to the variable that it means, in the order in which it
// is looked for. It reports false for results and for the workload. What nothing gives, a gate waits for in the context.
func (l *learner) unprefixed(root string, rest []string, values []value.Value) bool {
	for _, scope := range []string{"iter", "args"} {
		if name := l.variable(l.step, scope, root); len(l.sources[name]) > 0 && (scope == "args" || !l.gate) {
			l.follow(name, rest, values)
			return true
		}
	}
	if !l.gate && slices.ContainsFunc(l.book.Steps[l.step].Tasks, func(t *playbook.Task) bool { return t.Label == root }) {
		return false
	}
	_, isStep := l.book.StepIndex(root)
	_, isGiven := l.book.Workload[root]
	if len(l.sources[l.variable(0, "ctx", root)]) == 0 && (!l.gate || isStep || isGiven) {
		return false
	}
	l.read(append([]string{"ctx", root}, rest...), values)
	return true
}

// readOfWorkflow is for steps.NAME.output, for the items of maps, and for the input of an operation that is bound to a value.
func (l *learner) readOfWorkflow(path []string, values []value.Value) {
	switch {
	case path[0] == "input" && l.call != "":
		l.follow(l.call+".input", path[1:], values)
	case path[0] == "input":
		l.shape(input, "").note(path[1:], values)
	case path[0] != "steps":
		l.follow(path[0], path[1:], values)
	case len(path) > 2 && path[2] == "error":
		l.shape(failure, path[1]).note(path[2:], values)
	case len(path) > 2 && path[2] == "output":
		name, rest := path[1], path[3:]
		l.shape(output, name).note(rest, values)
		if last := l.last[name]; last != "" && len(rest) > 0 && rest[0] == expr.Element {
			l.read(append([]string{"steps", last, "output"}, rest[1:]...), values)
		}
		l.followIn(name, l.bound[name]+".value", rest, values)
	}
}
