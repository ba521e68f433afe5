package check

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// guesses are what steps may answer with, by step, and of a playbook by step.task or step.
type guesses struct {
	given   map[string][]value.Value
	guessed map[string][]value.Value
}

// variantsMax bounds the outputs that are guessed for one step.
const variantsMax = 4

// of gives what a call may answer with; at least one value.
func (g guesses) of(root *reactive.Root, req reactive.Request) []value.Value {
	if req.Decision != 0 {
		return decisionsOf(root, req.Node)
	}
	names := []string{strings.TrimRight(root.Key(req.Node), "[]0123456789")}
	if n := net.Of(root); n != nil {
		at, _ := n.Place(req.Node)
		names = []string{at.Step + "." + at.Task, at.Step}
	}
	for _, from := range []map[string][]value.Value{g.given, g.guessed} {
		for _, name := range names {
			if list := from[name]; len(list) > 0 {
				return list
			}
		}
	}
	return []value.Value{nil}
}

// decisionsOf are the answers of a decision source: what its step's result_match takes for a yes and for a no.
func decisionsOf(root *reactive.Root, v int32) []value.Value {
	m := root.Place(v).Step.Fulfillment.ResultMatch
	if m == nil {
		return []value.Value{true, false}
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

// What documents read of an output: in a workflow by the step's name, in a playbook within the step that has given it.
var (
	stepRead = regexp.MustCompile(`steps\.([A-Za-z_][\w-]*)\.output((?:\??\.[A-Za-z_]\w*)*)`)
	fromRead = regexp.MustCompile(`^/steps/([^/]+)/output((?:/[^/]+)*)$`)
	ownRead  = regexp.MustCompile(`(?:outcome\.result|outcome\.data|output\.data|event\.result|_prev)((?:\??\.[A-Za-z_]\w*)*)`)
	literal  = regexp.MustCompile(`"[^"]*"|'[^']*'|\btrue\b|\bfalse\b|-?\b\d+(?:\.\d+)?\b`)
	asNumber = regexp.MustCompile(`[-+*/]\s*(?:outcome|output|event|_prev)\.|(?:result|data|_prev)[\w.]*\s*[-+*/]`)
	alone    = regexp.MustCompile(`^\{\{\s*[\w.]+\s*\}\}$`)
	asList   = regexp.MustCompile(`\b(?:len|map|filter|all|any|first|last|sum)\s*\(`)
)

// guess makes outputs of what the document reads of them.
func guess(p *plan.Plan, given map[string][]value.Value) guesses {
	found := map[string]*shape{}
	at := func(name string) *shape {
		if found[name] == nil {
			found[name] = &shape{values: map[string][]value.Value{}}
		}
		return found[name]
	}
	if book, ok := playbook.Of(p.Workflow); ok {
		document, _ := book.Document().(map[string]any)
		steps, _ := document["workflow"].([]any)
		for i, step := range steps {
			texts(step, "", func(key, text string) {
				for _, m := range ownRead.FindAllStringSubmatch(text, -1) {
					at(book.Steps[i].Name).note(m[1], text, false)
					at(book.Steps[i].Name).fill(m[1], text)
				}
			})
		}
	} else {
		texts(p.Workflow.Document(), "", func(key, text string) {
			for _, m := range stepRead.FindAllStringSubmatch(text, -1) {
				at(m[1]).note(m[2], text, key == "over")
			}
			if m := fromRead.FindStringSubmatch(text); m != nil && key == "from" {
				at(m[1]).note(strings.ReplaceAll(m[2], "/", "."), "", false)
			}
		})
	}
	for i := range p.Nodes { // the best answer is the one with the best number
		if s := p.Nodes[i].Step; s != nil && s.FanIn != nil && s.FanIn.ScoreField != "" {
			path := strings.ReplaceAll(s.FanIn.ScoreField, "/", ".")
			at(s.ID).note(path, "", false)
			at(s.ID).values[path] = []value.Value{int64(1)}
		}
	}
	g := guesses{given: given, guessed: map[string][]value.Value{}}
	for name, s := range found {
		g.guessed[name] = s.variants()
	}
	return g
}

// texts goes through the strings of a value, with the key that each stands under.
func texts(v value.Value, key string, visit func(key, text string)) {
	switch v := v.(type) {
	case string:
		visit(key, v)
	case []any:
		for _, x := range v {
			texts(x, key, visit)
		}
	case map[string]any:
		for k, x := range v {
			texts(x, k, visit)
		}
	}
}

// shape is what is known of an output: values by path.
type shape struct {
	values map[string][]value.Value
	paths  []string
}

// note takes a mention of a path of the output in an expression.
func (s *shape) note(path, text string, list bool) {
	path = strings.ReplaceAll(path, "?", "")
	if !slices.Contains(s.paths, path) {
		s.paths = append(s.paths, path)
	}
	var values []value.Value
	switch {
	case list || asList.MatchString(text):
		values = []value.Value{[]any{"x"}, []any{}}
	default:
		for _, l := range literalsIn(text) {
			values = append(values, l)
			switch l := l.(type) {
			case int64:
				values = append(values, l+1, l-1)
			case float64:
				values = append(values, l+1, l-1)
			case bool:
				values = append(values, !l)
			case string:
				values = append(values, l+"?")
			}
		}
	}
	for _, v := range values {
		if !slices.ContainsFunc(s.values[path], func(w value.Value) bool { return value.Equal(v, w) }) {
			s.values[path] = append(s.values[path], v)
		}
	}
}

// fill takes what a playbook does with a path that it compares with nothing: what is passed on as it is may be what a guard
// asks for later.
func (s *shape) fill(path, text string) {
	switch {
	case len(s.values[path]) > 0:
	case asNumber.MatchString(text):
		s.values[path] = []value.Value{int64(1)}
	case alone.MatchString(text) && path != "":
		s.values[path] = []value.Value{true, false}
	}
}

// variants are outputs in which every path has its values in turn.
func (s *shape) variants() []value.Value {
	slices.Sort(s.paths)
	size := 1
	for _, p := range s.paths {
		size = max(size, len(s.values[p]))
	}
	var list []value.Value
	for i := range min(size, variantsMax) {
		var out value.Value
		for _, p := range s.paths {
			var v value.Value = "x"
			if values := s.values[p]; len(values) > 0 {
				v = values[i%len(values)]
			}
			out = put(out, strings.Split(strings.TrimPrefix(p, "."), "."), v)
		}
		if !slices.ContainsFunc(list, func(w value.Value) bool { return value.Equal(out, w) }) {
			list = append(list, out)
		}
	}
	return list
}

// put writes a value at a path of another. A path that leads further wins over one that ends before it.
func put(in value.Value, path []string, v value.Value) value.Value {
	if len(path) == 0 || path[0] == "" {
		if in != nil {
			return in
		}
		return v
	}
	object, ok := in.(map[string]any)
	if !ok {
		object = map[string]any{}
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

// literalsIn are the literals of an expression.
func literalsIn(text string) []value.Value {
	var list []value.Value
	for _, l := range literal.FindAllString(text, -1) {
		switch {
		case l == "true", l == "false":
			list = append(list, l == "true")
		case l[0] == '"' || l[0] == '\'':
			list = append(list, l[1:len(l)-1])
		default:
			if i, err := strconv.ParseInt(l, 10, 64); err == nil {
				list = append(list, i)
			} else if f, err := strconv.ParseFloat(l, 64); err == nil {
				list = append(list, f)
			}
		}
	}
	return list
}
