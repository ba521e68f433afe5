package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// learner finds out what a document asks of the outputs of its steps: where it reads them, also by way of what it has
// passed on or set, and which values make a difference there.
type learner struct {
	book     *playbook.Playbook // nil: a workflow
	outlines func(text string) ([]*expr.Outline, bool, error)
	shapes   map[string]*shape    // of outputs by step, of errors by !step, of what gates read by ctx.key
	sources  map[string][]source  // of variables, by name
	into     map[int]map[int]bool // steps with arcs to a step
	last     map[string]string    // the step whose output is that of a map's item
	bound    map[string]string    // the operation of a workflow's step
	seen     map[string]bool
	place
}

// place is where an expression stands.
type place struct {
	step int    // of a playbook
	gate bool   // within an admission
	call string // of a workflow: the step whose operation's binding it is in
}

// source is a text that gives a variable, or a part of it.
type source struct {
	place
	below []string // of the variable
	text  string
}

// learn makes guesses of what a document reads.
func learn(p *plan.Plan) map[string]*shape {
	l := &learner{
		outlines: expr.Outlines, shapes: map[string]*shape{}, sources: map[string][]source{}, into: map[int]map[int]bool{},
		last: map[string]string{}, bound: map[string]string{}, seen: map[string]bool{},
	}
	document := p.Workflow.Document()
	if book, ok := playbook.Of(p.Workflow); ok {
		l.book, l.outlines, document = book, book.Outlines, book.Document()
	}
	l.all(document, l.assignments)
	l.all(document, l.texts)
	for i := range p.Nodes { // the best answer is the one with the best number
		if s := p.Nodes[i].Step; s != nil && s.FanIn != nil && s.FanIn.ScoreField != "" {
			l.shape(s.ID).note(strings.Split(strings.ReplaceAll(s.FanIn.ScoreField, "/", "."), "."), numbers)
		}
	}
	return l.shapes
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

func (l *learner) shape(name string) *shape {
	if l.shapes[name] == nil {
		l.shapes[name] = &shape{}
	}
	return l.shapes[name]
}

// assignments notes what variables are given.
func (l *learner) assignments(key string, v value.Value) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			l.assignments(key, x)
		}
	case map[string]any:
		l.assignment(key, v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			l.assignments(k, v[k])
		}
	}
}

func (l *learner) assignment(key string, v map[string]any) {
	scope, isSet := strings.CutPrefix(key, "set")
	switch to, isArc := v["step"].(string); {
	case isSet:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			x := v[name]
			if scope != "" { // set_ctx, set_iter, set_step
				name = scope[1:] + "." + name
			}
			path := strings.Split(name, ".")
			l.assign(l.variable(l.step, path[0], path[1:]...), path[min(2, len(path)):], x)
		}
	case isArc && l.book != nil && key != "":
		if i, ok := l.book.StepIndex(to); ok {
			if l.into[i] == nil {
				l.into[i] = map[int]bool{}
			}
			l.into[i][l.step] = true
			args, _ := v["args"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(args)) {
				l.assign(l.variable(i, "args", name), nil, args[name])
			}
		}
	case key == "loop":
		if name, ok := v["iterator"].(string); ok {
			l.element(l.variable(l.step, "iter", name), v["in"])
		}
	case l.book == nil:
		l.workflow(key, v)
	}
}

// workflow notes what goes from step to step of a workflow without being read from its output.
func (l *learner) workflow(key string, v map[string]any) {
	if key == "map" {
		l.element(cmp.Or(text(v, "as"), "item"), v["over"])
		if steps, _ := v["steps"].([]any); len(steps) > 0 {
			step, _ := steps[len(steps)-1].(map[string]any)
			l.last[text(v, "id")] = idOf(step)
		}
	}
	if id := idOf(v); id != "" {
		l.bound[id] = text(v, "operation")
		l.assign(id+".input", nil, v["input"])
	}
	if key == "operations" {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			binding, _ := v[name].(map[string]any)
			l.assign(name+".value", nil, binding["value"])
		}
	}
}

func text(v map[string]any, key string) string {
	s, _ := v[key].(string)
	return s
}

// idOf is the id of a step that calls an operation.
func idOf(step map[string]any) string { return cmp.Or(text(step, "id"), text(step, "operation")) }

// variable is the name under which a variable's sources are kept. The context is everybody's.
func (l *learner) variable(step int, scope string, below ...string) string {
	name := scope
	if len(below) > 0 {
		name += "." + below[0]
	}
	if scope != "ctx" {
		name = fmt.Sprint(step, ".", name)
	}
	return name
}

func (l *learner) assign(name string, below []string, v value.Value) {
	switch v := v.(type) {
	case string:
		l.sources[name] = append(l.sources[name], source{l.place, below, v})
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			l.assign(name, append(slices.Clip(below), k), v[k])
		}
	}
}

// element notes what a list's elements are called.
func (l *learner) element(name string, list value.Value) {
	if text, ok := list.(string); ok {
		l.sources[name] = append(l.sources[name], source{l.place, []string{expr.Element}, text})
	}
}

// texts looks at every expression.
func (l *learner) texts(key string, v value.Value) {
	switch v := v.(type) {
	case string:
		if key == "from" && l.book == nil {
			if pointer, err := value.ParsePointer(v); err == nil {
				l.read(pointer, nil)
			}
			return
		}
		list, alone, err := l.outlines(v)
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
			gate := l.gate
			l.gate = gate || k == "admit"
			l.texts(k, v[k])
			l.gate = gate
		}
	}
}

// read notes that values make a difference at a path, and follows it to where they come from.
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
			l.shape("ctx."+rest[0]).note(rest[1:], values)
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

// own is what a step reads of its own output and error, or in Jinja's dialect of another step's by its name.
func (l *learner) own(root string, rest []string, values []value.Value) {
	step := l.book.Steps[l.step]
	name := step.Name
	switch root {
	case "outcome", "event", "output":
		switch {
		case len(rest) == 0:
			return
		case rest[0] == "error" || rest[0] == "http" || rest[0] == "pg":
			l.shape("!"+name).note(rest, values)
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
		if !l.book.Jinja {
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
	if step.Loop != nil && root == "event" { // a loop gives what its iterations gave, as a list
		if len(rest) == 0 || rest[0] != expr.Element {
			return
		}
		rest = rest[1:]
	}
	l.shape(name).note(rest, values)
}

// follow goes to where a variable has its value from.
func (l *learner) follow(name string, rest []string, values []value.Value) {
	here := l.place
	for _, s := range l.sources[name] {
		below := rest
		if len(s.below) > 0 && s.below[0] == expr.Element {
			below = append(s.below[:1:1], rest...)
		} else if len(s.below) > len(rest) || !slices.Equal(s.below, rest[:len(s.below)]) {
			continue
		} else {
			below = rest[len(s.below):]
		}
		list, alone, err := l.outlines(s.text)
		if err == nil && alone {
			l.place = s.place
			l.call = here.call
			l.push(list[0], below, values)
		}
	}
	l.place = here
}

// push goes on to what an expression takes its value from.
func (l *learner) push(o *expr.Outline, rest []string, values []value.Value) {
	switch o.Does {
	case expr.Reads:
		l.read(append(slices.Clip(o.Path), rest...), values)
	case expr.Falls, expr.Chooses:
		for _, a := range o.Args {
			l.push(a, rest, values)
		}
	}
}

// readOfWorkflow is for steps.NAME.output, for the items of maps, and for the input of an operation that is bound to a value.
func (l *learner) readOfWorkflow(path []string, values []value.Value) {
	switch {
	case path[0] == "input" && l.call != "":
		l.follow(l.call+".input", path[1:], values)
	case path[0] != "steps":
		l.follow(path[0], path[1:], values)
	case len(path) > 2 && path[2] == "output":
		name, rest := path[1], path[3:]
		l.shape(name).note(rest, values)
		if last := l.last[name]; last != "" && len(rest) > 0 && rest[0] == expr.Element {
			l.read(append([]string{"steps", last, "output"}, rest[1:]...), values)
		}
		here := l.place
		l.call = name
		l.follow(l.bound[name]+".value", rest, values)
		l.place = here
	}
}
