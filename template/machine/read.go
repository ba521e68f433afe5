package machine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/schema"
)

// Load reads and checks a file that contains one world, as template.Load does for a Workflow. It reports all faults as
// document.Errors, with the keys and places of this document.
func Load(file string, data []byte, known template.Known) (*template.Checked, error) {
	return template.LoadWith(ParseNode, file, data, known)
}

// ParseNode reads a document of kind World. The world is the Routing of the workflow it returns, whose steps are the calls of
// the world's effects. It reports all faults as document.Errors. A workflow returned with an error contains the parts that
// could be read, so that template.Check can report further faults.
func ParseNode(n *document.Node) (*template.Workflow, error) {
	r := &reader{Reader: template.NewReader(n, Kind)}
	r.world = &World{Pos: n.Pos, effects: map[string]*Effect{}, machines: map[string]*Machine{}, routes: map[string][]route{}}
	r.root(n)
	w, err := r.Workflow()
	if w == nil {
		return nil, err
	}
	w.Routing = r.world
	if err == nil {
		err = r.world.identify(w)
	}
	return w, err
}

// reader reads one world. A value that it refuses stays zero, and reading continues, so that all faults are reported at once.
type reader struct {
	*template.Reader
	world *World
}

// root reads the root. It reads the parts in the order of their dependencies, not in the order of the document.
func (r *reader) root(n *document.Node) {
	root := r.Root()
	if n.Kind != document.Mapping {
		r.Moved(n.Pos.Key("name").Path, n.Pos.Path) // the place for a missing name
	}
	later := func(*document.Node) {}
	r.Object(n, template.Fields{
		"kind": root["kind"], "name": root["name"], "version": root["version"], "directory": root["directory"],
		"operations": root["operations"], "max_concurrency": root["max_concurrency"],
		"types": later, "schemas": later, "effects": later, "machines": later, "workflows": later, "routing": later,
		"keychain": func(v *document.Node) { r.world.Keychain.ReadKeychain(&r.Reader.Reader, v) },
	})
	r.required(n, "machines", "workflows")
	r.types(r.either(n, "types", "schemas"))
	effects := r.entries(n.Get("effects"))
	for _, e := range effects {
		r.effect(e)
	}
	machines := r.entries(r.either(n, "machines", "workflows"))
	for _, e := range machines {
		r.machine(e)
	}
	if routing := n.Get("routing"); routing != nil {
		r.Object(routing, template.Fields{"subscriptions": r.subscriptions})
	}
	r.finish()
}

// either returns the value of a key that may have another name, and refuses both at once.
func (r *reader) either(n *document.Node, key string, others ...string) *document.Node {
	v := n.Get(key)
	for _, other := range others {
		also := n.Get(other)
		switch {
		case also == nil:
		case v == nil:
			v = also
		default:
			r.Fault(&document.Error{Pos: also.Pos, Msg: fmt.Sprintf("%s is another word for %s: write one of them", other, key)})
		}
	}
	return v
}

// required refuses a mapping with neither a key nor its other names.
func (r *reader) required(n *document.Node, key string, others ...string) {
	if n.Kind == document.Mapping && r.either(n, key, others...) == nil && !r.misspelt(n, key, others...) {
		r.Required(n, key)
	}
}

// misspelt reports whether the reader has refused a key that probably misspells this one or one of its other names.
func (r *reader) misspelt(n *document.Node, key string, others ...string) bool {
	for _, name := range append(others, key) {
		if r.Refused()[n.Pos.Key(name).Path] {
			return true
		}
	}
	return false
}

// entries returns the entries of a mapping sorted by name. It refuses invalid names, and nodes that are no mappings.
func (r *reader) entries(n *document.Node) []document.Entry {
	if n == nil {
		return nil
	}
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return nil
	}
	var list []document.Entry
	for e := range n.Entries() {
		if err := schema.ValidName(e.Key); err != nil {
			r.Fault(&document.Error{Pos: e.Pos, Text: e.Key, Msg: "invalid name " + err.Error()})
			continue
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b document.Entry) int { return cmp.Compare(a.Key, b.Key) })
	return list
}

// types reads the declared types.
func (r *reader) types(n *document.Node) {
	types, faults := schema.Read(n)
	r.faults(faults)
	r.world.Types = types
	if n == nil {
		return
	}
	for e := range n.Entries() {
		if e.Key == TimerEffect {
			r.Fault(&document.Error{Pos: e.Pos, Text: e.Key, Msg: fmt.Sprintf("%q is a type and an effect", e.Key)})
		}
	}
}

// inline reads a type where it is used. A refused one is invalid.
func (r *reader) inline(n *document.Node) *schema.Type {
	t, faults := r.world.Types.ReadType(n)
	r.faults(faults)
	return t
}

func (r *reader) faults(list document.Errors) {
	for _, fault := range list {
		r.Fault(fault)
	}
}

// typeNamed returns the declared type that a node names, as NAME or {ref: NAME}, and its name. It reports an unknown one.
func (r *reader) typeNamed(n *document.Node) (*schema.Type, string) {
	at := named(n)
	name, isText := at.Text()
	if !isText {
		r.Refuse(n, "an event is the name of a type, not "+n.Kind.String())
		return nil, ""
	}
	t := r.world.Types.Lookup(name)
	if t == nil {
		r.unknownType(at, name)
	}
	return t, name
}

// named returns the node with the name of a type, which may stand in {ref: NAME}.
func named(n *document.Node) *document.Node {
	if ref := n.Get("ref"); ref != nil && n.Len() == 1 {
		return ref
	}
	return n
}

func (r *reader) unknownType(n *document.Node, name string) {
	r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("unknown type %q", name),
		Suggestion: r.Nearest(name, slices.Values(r.world.Types.Names()))})
}

// finish makes the tree: the calls of the effects side by side, since the tree does not order them. Row i of the plan that it
// compiles to calls Effects[i].
func (r *reader) finish() {
	w := r.Tree()
	r.world.Name = w.Name
	if len(r.world.Effects) == 0 {
		return
	}
	calls := make([]template.Node, len(r.world.Effects))
	for i, e := range r.world.Effects {
		calls[i], e.waits = e.Call, w.Operations[e.Call.Operation].Wait != nil
		if e.Max > 0 {
			calls[i] = &template.Parallel{Steps: []template.Node{e.Call}, MaxConcurrency: e.Max, Pos: e.Pos}
		}
	}
	r.SetSteps([]template.Node{&template.Parallel{Steps: calls, Pos: r.world.Pos}})
}
