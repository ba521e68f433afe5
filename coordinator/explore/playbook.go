package explore

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// routes is the kind of playbooks.
type routes struct{ book *playbook.Playbook }

func newRoutes(p *plan.Plan) kind {
	book, _ := playbook.Of(p.Workflow)
	return routes{book}
}

func (k routes) tasks() (names []string) {
	for _, s := range k.book.Steps {
		for _, t := range s.Tasks {
			names = append(names, s.Name+"."+t.Label)
		}
	}
	return names
}

func (k routes) once() string {
	if i := k.book.Executor.Final; i >= 0 {
		return k.book.Steps[i].Name
	}
	return ""
}

// patches returns moves that write values to the context, so that a gate is evaluated again: true, and the values with which its rules
// compare.
func (k routes) patches(p *play) []move {
	steps := p.root.Steps()
	var list []move
	seen := map[string]bool{}
	for _, w := range steps.Waits() {
		if w.Kind != routed.AtGate {
			continue
		}
		i, _ := k.book.StepIndex(w.Step)
		admit := k.book.Steps[i].Admit
		keys := admit.Keys
		if admit.AllKeys {
			keys = slices.Sorted(maps.Keys(p.e.guesses.context))
		}
		for _, key := range keys {
			for _, v := range append([]value.Value{true}, p.e.guesses.context[key]...) {
				label := "ctx." + key + " becomes " + short(v)
				if seen[label] || value.Equal(steps.Context()[key], v) {
					continue
				}
				seen[label] = true
				list = append(list, commandMove(label, journal.Event{Type: journal.ContextPatched, Value: map[string]any{key: v}}))
			}
		}
	}
	return list
}

func (routes) describe(p *play) (step, why string) {
	for _, w := range p.root.Steps().Waits() {
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

func (k routes) reader(l *learner) reader {
	return &routesReader{learner: l, book: k.book, into: map[int]map[int]bool{}}
}

// routesReader reads the document of a playbook, step by step.
type routesReader struct {
	*learner
	book *playbook.Playbook
	into map[int]map[int]bool // by step: the steps with arcs to it
}

func (r *routesReader) outlines(text string) ([]*expr.Outline, bool, error) {
	return r.book.Outlines(text)
}

func (r *routesReader) document() {
	object, _ := r.book.Document().(map[string]any)
	steps, _ := object["workflow"].([]any)
	for _, visit := range []func(key string, v value.Value){r.assignments, r.texts} {
		for i, step := range steps {
			r.step = i
			visit("", step)
		}
	}
}

// assignment records sets, the args of arcs, and the iterators of loops.
func (r *routesReader) assignment(key string, v map[string]any) {
	scope, isSet := strings.CutPrefix(key, "set")
	switch to, isArc := v["step"].(string); {
	case isSet:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			x := v[name]
			switch {
			case scope != "": // set_ctx, set_iter, set_step
				name = scope[1:] + "." + name
			case !strings.Contains(name, "."):
				name = "ctx." + name
			}
			path := strings.Split(name, ".")
			r.assign(variable(r.step, path[0], path[1:]...), path[min(2, len(path)):], x)
		}
	case isArc && key != "":
		if i, ok := r.book.StepIndex(to); ok {
			if r.into[i] == nil {
				r.into[i] = map[int]bool{}
			}
			r.into[i][r.step] = true
			args, _ := v["args"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(args)) {
				r.assign(variable(i, "args", name), nil, args[name])
			}
		}
	case key == "loop":
		if name, ok := v["iterator"].(string); ok {
			r.element(variable(r.step, "iter", name), v["in"])
		}
	}
}

// enter marks the expressions of gates.
func (r *routesReader) enter(key string, visit func()) {
	gate := r.gate
	r.gate = gate || key == "admit"
	visit()
	r.gate = gate
}

func (*routesReader) pointer(string, string) (path []string, isPointer bool) { return nil, false }

func (r *routesReader) read(path []string, values []value.Value) {
	root, rest := path[0], path[1:]
	switch {
	case root == "ctx" && len(rest) > 0:
		if r.gate {
			r.shape(context, rest[0]).note(rest[1:], values)
		}
		r.follow(variable(0, "ctx", rest[0]), rest[1:], values)
	case (root == "args" || root == "iter" || root == "step") && len(rest) > 0:
		r.follow(variable(r.step, root, rest[0]), rest[1:], values)
	case root == "input":
		r.follow(variable(r.step, root), rest, values)
	case root == "event" && r.gate:
		here := r.place
		for _, from := range slices.Sorted(maps.Keys(r.into[here.step])) {
			r.place = place{step: from}
			r.learner.read(path, values)
		}
		r.place = here
	default:
		r.own(root, rest, values)
	}
}

// own records the paths that a step reads in its own output and error or, in Jinja's dialect, in another step's output by the step's name.
func (r *routesReader) own(root string, rest []string, values []value.Value) {
	step := r.book.Steps[r.step]
	name := step.Name
	switch root {
	case "outcome", "event", "output":
		switch {
		case len(rest) == 0:
			return
		case rest[0] == "error" || rest[0] == "http" || rest[0] == "pg":
			r.shape(failure, name).note(rest, values)
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
		if !r.book.Jinja || r.unprefixed(root, rest, values) {
			return
		}
		if _, isStep := r.book.StepIndex(root); isStep {
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
	r.shape(output, name).note(rest, values)
}

// unprefixed follows a name without a prefix to its variable, in the order in which Jinja's dialect looks it up. It reports false for
// results and for the workload. If nothing assigns a name, a gate waits until the context has it.
func (r *routesReader) unprefixed(root string, rest []string, values []value.Value) bool {
	for _, scope := range []string{"iter", "args"} {
		if name := variable(r.step, scope, root); len(r.sources[name]) > 0 && (scope == "args" || !r.gate) {
			r.follow(name, rest, values)
			return true
		}
	}
	if !r.gate && slices.ContainsFunc(r.book.Steps[r.step].Tasks, func(t *playbook.Task) bool { return t.Label == root }) {
		return false
	}
	_, isStep := r.book.StepIndex(root)
	_, isGiven := r.book.Workload[root]
	if len(r.sources[variable(0, "ctx", root)]) == 0 && (!r.gate || isStep || isGiven) {
		return false
	}
	r.learner.read(append([]string{"ctx", root}, rest...), values)
	return true
}

func (r *routesReader) condition(path []string, values []value.Value) {
	switch {
	case path[0] == "ctx":
		r.learner.read(path, values)
	case path[0] == "steps" && len(path) > 2 && path[2] == "output":
		r.shape(output, path[1]).note(path[3:], values)
	case path[0] == "steps" && len(path) > 2 && path[2] == "error":
		r.shape(failure, path[1]).note(path[2:], values)
	}
}
