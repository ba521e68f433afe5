package dag

import (
	"errors"
	"fmt"
	"slices"
)

// ErrFormat means that JSON is well-formed but not the form of a graph: a value has the wrong type, or a field is unknown,
// missing or repeated.
var ErrFormat = errors.New("dag: not the JSON form of a graph")

// Parse reads the JSON form of a graph (see Graph.WriteJSON). It is strict: it skips and guesses nothing. Parse calls
// attributes, if not nil, for every node with attributes, in order, with the node's id and a JSON object that the function may
// keep. If attributes is nil, nodes must have none.
//
// For bytes that are not JSON, the error has the offset of the first fault. Otherwise the error joins a *FieldError for
// every invalid node and edge, at most 64 and a count of the rest, and faults that Build finds. O(len(data)).
func Parse(data []byte, attributes func(id int32, object []byte) error) (*Graph, error) {
	data, err := compact(data)
	if err != nil {
		return nil, fmt.Errorf("parse graph: %w", err)
	}
	form, err := readObject(data)
	if err == nil {
		err = form.only("kind", "nodes", "edges")
	}
	if err != nil {
		return nil, fmt.Errorf("parse graph: %w", err)
	}
	kind, err := readKind(form)
	if err != nil {
		return nil, fmt.Errorf("parse graph: %w", err)
	}
	p := parser{b: NewBuilder(kind), attributes: attributes}
	p.each(form, "nodes", p.node)
	p.each(form, "edges", p.edge)
	g, err := p.b.build(true)
	if err != nil {
		return nil, fmt.Errorf("parse graph: %w", err)
	}
	return g, nil
}

func readKind(form object) (Kind, error) {
	name, err := form.text("kind")
	if err != nil {
		return 0, err
	}
	if i := slices.Index(kindNames[1:], name); i >= 0 {
		return Kind(i + 1), nil
	}
	return 0, within("kind", fmt.Errorf("%w: %q is none of %q", ErrFormat, name, kindNames[1:]))
}

// parser fills a builder from JSON and records faults with their paths. Each element has at most one fault. A refused node is
// not added, so its edges are reported too: their end is unknown.
type parser struct {
	b          *Builder
	attributes func(id int32, object []byte) error
}

// each calls read with the elements of an array and records its errors under the element's path.
func (p *parser) each(form object, field string, read func(element object) error) {
	array, err := form.array(field)
	if err != nil {
		p.b.problems.add(err)
	}
	for i, value := range array {
		element, err := readObject(value)
		if err == nil {
			err = read(element)
		}
		if err != nil {
			p.b.problems.add(within(fmt.Sprintf("%s[%d]", field, i), err))
		}
	}
}

// node adds a node and passes a copy of its attributes to the caller's function. Keeping the copy does not keep the whole
// document in memory.
func (p *parser) node(element object) error {
	if err := element.only("key", "attributes"); err != nil {
		return err
	}
	key, err := element.text("key")
	if err != nil {
		return err
	}
	id, err := p.b.addNode(key)
	if err != nil {
		return within("key", err)
	}
	attributes, ok := element.value("attributes")
	switch {
	case !ok:
		return nil
	case p.attributes == nil:
		err = fmt.Errorf("%w: nodes have no attributes here", ErrFormat)
	case attributes[0] != '{':
		err = fmt.Errorf("%w: not an object", ErrFormat)
	default:
		err = p.attributes(id, slices.Clone(attributes))
	}
	if err != nil {
		return within("attributes", err)
	}
	return nil
}

// edge adds an edge. The key is optional, since source, target and type determine it. If present, it must agree with them, so
// that Parse refuses a document in which only one of them was edited.
func (p *parser) edge(element object) error {
	if err := element.only("key", "source", "target", "attributes"); err != nil {
		return err
	}
	source, from, err := p.end(element, "source")
	if err != nil {
		return err
	}
	target, to, err := p.end(element, "target")
	if err != nil {
		return err
	}
	attributes, ok := element.value("attributes")
	if !ok {
		return within("attributes", fmt.Errorf("%w: missing", ErrFormat))
	}
	attrs, err := parseAttributes(attributes)
	if err == nil {
		err = p.b.kind.check(attrs)
	}
	if err != nil {
		return within("attributes", err)
	}
	if want := edgeKey(p.b.kind, source, target, attrs.Type); element.has("key") {
		key, err := element.text("key")
		if err != nil {
			return err
		}
		if key != want {
			return within("key", fmt.Errorf("%w: %q, but this edge is %q", ErrFormat, key, want))
		}
	}
	return p.b.addEdge(from, to, attrs)
}

// end reads one end of an edge.
func (p *parser) end(element object, field string) (key string, id int32, err error) {
	key, err = element.text(field)
	if err != nil {
		return "", 0, err
	}
	id, ok := p.b.Node(key)
	if !ok {
		return "", 0, within(field, fmt.Errorf("%w: %q", ErrUnknownNode, key))
	}
	return key, id, nil
}

// schemas lists the fields that the JSON form of each edge type may have beside edgeType.
var schemas = [edgeTypeEnd][]string{
	Sequential:  {"dataFlow"},
	Conditional: {"dataFlow", "condition", "negated", "guards"},
	Data:        {"dataFlow"},
}

// UnmarshalJSON reads attributes in two steps: first the type, which must be present and known, then the other fields, which
// the type must allow. The error is a *FieldError that wraps ErrEdgeType, ErrAttributes or ErrFormat.
func (a *Attributes) UnmarshalJSON(data []byte) error {
	data, err := compact(data)
	if err != nil {
		return err
	}
	*a, err = parseAttributes(data)
	return err
}

// parseAttributes reads the type first, since the type determines the valid fields.
func parseAttributes(data []byte) (Attributes, error) {
	form, err := readObject(data)
	if err != nil {
		return Attributes{}, err
	}
	if !form.has("edgeType") {
		return Attributes{}, within("edgeType", fmt.Errorf("%w: missing", ErrEdgeType))
	}
	name, err := form.text("edgeType")
	if err != nil {
		return Attributes{}, err
	}
	t, err := parseEdgeType(name)
	if err != nil {
		return Attributes{}, within("edgeType", err)
	}
	return parseSchema(t, form)
}

// parseSchema is the second step: the type is known and must allow the other fields.
func parseSchema(t EdgeType, form object) (Attributes, error) {
	for _, f := range form {
		if f.name != "edgeType" && !slices.Contains(schemas[t], f.name) {
			return Attributes{}, within(f.name, fmt.Errorf("%w: %s edge has no such field", ErrAttributes, t))
		}
	}
	a := Attributes{Type: t}
	var err error
	if t.Kind() == TemplateGraph {
		if a.DataFlow, err = form.flag("dataFlow"); err != nil {
			return Attributes{}, err
		}
	}
	if a.Guards, err = parseGuards(form); err != nil {
		return Attributes{}, err
	}
	return a, a.checkSchema()
}

// parseGuards reads either form of an edge's guards: the fields of a single one or a list.
func parseGuards(form object) ([]Guard, error) {
	single := form.has("condition") || form.has("negated")
	if !form.has("guards") {
		if !single {
			return nil, nil
		}
		guard, err := parseGuard(form)
		return []Guard{guard}, err
	}
	if single {
		return nil, within("guards", fmt.Errorf("%w: given beside condition or negated", ErrAttributes))
	}
	array, err := form.array("guards")
	if err != nil {
		return nil, err
	}
	guards := make([]Guard, len(array))
	for i, value := range array {
		element, err := readObject(value)
		if err == nil {
			err = element.only("condition", "negated")
		}
		if err == nil {
			guards[i], err = parseGuard(element)
		}
		if err != nil {
			return nil, within(fmt.Sprintf("guards[%d]", i), err)
		}
	}
	return guards, nil
}

// parseGuard reads one guard, either among the fields of an edge or as an object of its own.
func parseGuard(form object) (guard Guard, err error) {
	if guard.Condition, err = form.text("condition"); err != nil {
		return Guard{}, err
	}
	if form.has("negated") {
		guard.Negated, err = form.flag("negated")
	}
	return guard, err
}
