package explore

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// learner finds the values of outputs, inputs and context keys that make a difference to a document: it follows each expression back to
// its sources, also by way of variables.
type learner struct {
	doc     reader
	shapes  map[subject]*shape
	sources map[string][]source // of variables, by name
	seen    map[string]bool
	place
}

// place is the position of an expression.
type place struct {
	step int    // of a playbook
	gate bool   // within an admission
	call string // of a workflow: the step whose operation's binding it is in
}

// learn returns the values that make a difference to a document and to conditions on its runs.
func learn(p *plan.Plan, k kind, never []string) map[subject]*shape {
	l := &learner{shapes: map[subject]*shape{}, sources: map[string][]source{}, seen: map[string]bool{}}
	l.doc = k.reader(l)
	l.doc.document()
	for _, text := range never {
		l.never(text)
	}
	l.allowed(p.Workflow.Input)
	for i := range p.Nodes {
		if s := p.Nodes[i].Step; s != nil {
			l.answered(stepOf(p, i), s)
		}
	}
	return l.shapes
}

// stepOf returns the name of the step that a row calls for.
func stepOf(p *plan.Plan, row int) string {
	if routing := p.Workflow.Routing; routing != nil {
		return routing.CallSite(row).Step
	}
	return p.Nodes[row].Step.ID
}

// allowed replaces the values of an input by those that its schema lists.
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

// answered records the values that a step compares in its own answers: scores, and the values that do and do not fulfill its task.
func (l *learner) answered(name string, s *template.Step) {
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

// never visits a condition that must never hold. It is in the dialect of package expr, also if the document is in another.
func (l *learner) never(text string) {
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
			l.doc.condition(path, values)
		}).walk(o, truths)
	}
}

// shape returns the shape of a subject.
func (l *learner) shape(what subjectKind, name string) *shape {
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
		if path, isPointer := l.doc.pointer(key, v); isPointer {
			if len(path) > 0 {
				l.read(path, nil)
			}
			return
		}
		list, alone, err := l.doc.outlines(strings.TrimSpace(v)) // a block ends with a newline
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
			l.doc.enter(k, func() { l.texts(k, v[k]) })
		}
	}
}

// read records values that make a difference at a path, and follows the path to its sources, once.
func (l *learner) read(path []string, values []value.Value) {
	text, err := value.JSON([]any{int64(l.step), l.gate, l.call, strings.Join(path, "\x00"), values})
	if err != nil || l.seen[string(text)] || len(path) > pathMax {
		return
	}
	l.seen[string(text)] = true
	l.doc.read(path, values)
}

// pathMax bounds a path into a variable that is made of itself.
const pathMax = 12
