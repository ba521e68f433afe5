package template

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
)

// Kind is the kind of the documents that this package reads and writes.
const Kind = "Workflow"

// Parse reads a file that contains one document of kind Workflow. The file name is for messages; see document.Parse for the
// syntax. Parse reports all faults as document.Errors.
//
// A tree returned with an error contains the parts that could be read, so that Check can report further faults. It must not be
// used for anything else. Load calls both Parse and Check.
func Parse(file string, data []byte) (*Workflow, error) { return parseWith(ParseNode, file, data) }

func parseWith(parse func(*document.Node) (*Workflow, error), file string, data []byte) (*Workflow, error) {
	nodes, err := document.Parse(file, data, document.Limits{})
	if len(nodes) == 0 {
		return nil, err
	}
	w, readErr := parse(nodes[0])
	if len(nodes) > 1 && w != nil { // only files of other kinds may contain several documents
		err = document.Join(err, &document.Error{Pos: nodes[1].Pos, Msg: "a second document in the file of a workflow"})
	}
	return w, document.Join(err, readErr)
}

// Load reads a document with Parse, checks it with Check, and reports the faults of both together.
func Load(file string, data []byte, known Known) (*Checked, error) {
	return LoadWith(ParseNode, file, data, known)
}

// LoadWith is Load for documents of another kind, which parse turns into a tree. Like ParseNode, parse may return a tree with
// an error, and does so whenever a part of the tree can be checked.
func LoadWith(parse func(*document.Node) (*Workflow, error), file string, data []byte, known Known) (*Checked, error) {
	w, err := parseWith(parse, file, data)
	if w == nil {
		return nil, err
	}
	checked, checkErr := Check(w, known)
	if err := document.Join(err, checkErr); err != nil {
		return nil, err
	}
	w.source, w.moved = nil, nil // no further errors need places, so the text can be freed
	return checked, nil
}

// ParseNode turns a document of kind Workflow into a tree, like Parse. The tree keeps n for the places of errors.
func ParseNode(n *document.Node) (*Workflow, error) {
	r := NewReader(n, Kind)
	known := r.Root()
	known["steps"] = func(v *document.Node) { r.w.Steps = r.steps(v) }
	r.Object(n, known)
	r.Required(n, "steps")
	return r.Workflow()
}

// schema reads the schema of the input: JSON Schema allows mappings and booleans.
func (r *reader) schema(n *document.Node) any {
	if n.Kind != document.Mapping && n.Kind != document.Bool {
		r.WrongKind(n, "a JSON Schema")
		return nil
	}
	return n.Value()
}

// steps reads a list of steps and containers.
func (r *reader) steps(n *document.Node) []Node {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return nil
	}
	steps := make([]Node, 0, n.Len())
	for _, item := range n.Items() {
		if node := r.node(item); node != nil {
			steps = append(steps, node)
		}
	}
	return steps
}

// containers are the keys that distinguish containers from steps.
var containers = []string{"sequential", "parallel", "conditional", "map"}

// node reads one element of a list of steps: a step, or a mapping whose only key names a container.
func (r *reader) node(n *document.Node) Node {
	if n.Kind != document.Mapping {
		r.Refuse(n, "a step must be a mapping, not "+n.Kind.String())
		return nil
	}
	for _, key := range containers {
		if body := n.Get(key); body != nil {
			return r.container(n, key, body)
		}
	}
	return r.step(n)
}

// container reads the element n, which has the key of a container.
func (r *reader) container(n *document.Node, key string, body *document.Node) Node {
	for e := range n.Entries() {
		if e.Key != key && !strings.HasPrefix(e.Key, "x-") {
			if e.Key == "operation" || slices.Contains(containers, e.Key) {
				r.Add(&document.Error{Pos: e.Pos, Text: e.Key, Msg: e.Key + " cannot be combined with " + key})
				continue
			}
			r.UnknownKey(e, []string{key})
		}
	}
	switch key {
	case "sequential":
		s := &Sequential{Pos: n.Pos}
		r.Object(body, Fields{"steps": func(v *document.Node) { s.Steps = r.steps(v) }})
		r.Required(body, "steps")
		return s
	case "parallel":
		p := &Parallel{Pos: n.Pos}
		r.Object(body, Fields{
			"steps":           func(v *document.Node) { p.Steps = r.steps(v) },
			"max_concurrency": func(v *document.Node) { p.MaxConcurrency = r.Count(v) },
		})
		r.Required(body, "steps")
		return p
	case "conditional":
		return r.conditional(n, body)
	default:
		return r.each(n, body)
	}
}

// conditional requires then, which may be empty: an else alone could be misread as the branch for a test that holds.
func (r *reader) conditional(n, body *document.Node) *Conditional {
	c := &Conditional{Pos: n.Pos}
	r.Object(body, Fields{
		"id":   func(v *document.Node) { c.ID = r.Word(v) },
		"test": func(v *document.Node) { c.Test = r.Word(v) },
		"func": func(v *document.Node) { c.Func = r.function(v) },
		"then": func(v *document.Node) { c.Then = r.steps(v) },
		"else": func(v *document.Node) { c.Else = r.steps(v) },
	})
	r.Required(body, "then")
	return c
}

func (r *reader) each(n, body *document.Node) *Map {
	m := &Map{Pos: n.Pos}
	r.Object(body, Fields{
		"id":              func(v *document.Node) { m.ID = r.Word(v) },
		"over":            func(v *document.Node) { m.Over = v.Value() },
		"func":            func(v *document.Node) { m.Func = r.function(v) },
		"as":              func(v *document.Node) { m.As = r.Word(v) },
		"steps":           func(v *document.Node) { m.Steps = r.steps(v) },
		"max_concurrency": func(v *document.Node) { m.MaxConcurrency = r.Count(v) },
	})
	return m
}

// function reads the name and the arguments of a Go function.
func (r *reader) function(n *document.Node) *Func {
	f := &Func{Pos: n.Pos}
	r.Object(n, Fields{
		"name": func(v *document.Node) { f.Name = r.Word(v) },
		"args": func(v *document.Node) { f.Args = r.List(v) },
	})
	return f
}

// step reads an element that is not a container.
func (r *reader) step(n *document.Node) *Step {
	s := &Step{Pos: n.Pos}
	known := r.callFields(s)
	known["operation"] = func(v *document.Node) { s.Operation = r.Word(v) }
	known["id"] = func(v *document.Node) { s.ID = r.Word(v) }
	known["func"] = func(v *document.Node) { s.Func = r.function(v) }
	known["needs"] = func(v *document.Node) { s.Needs = r.Texts(v) }
	if n.Get("operation") == nil {
		// The author may have misspelt the key of a container: suggest these keys, too.
		for _, key := range containers {
			known[key] = nil
		}
	}
	r.Object(n, known)
	return s
}
