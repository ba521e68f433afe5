package schema

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
)

// Read reads the types that a document declares: a mapping from names to types; nil if it has none. It returns all faults.
// With faults, too, the Types have all names that are declared: a refused type has the kind Invalid, so that its use is
// not a fault as well.
func Read(n *document.Node) (*Types, document.Errors) {
	r := newReader(&Types{byName: map[string]*Type{}})
	if n == nil {
		return r.types, nil
	}
	if n.Kind != document.Mapping {
		r.refuse(n, "types must be a mapping from names to types, not "+n.Kind.String())
		return r.types, r.faults
	}
	for e := range n.Entries() {
		r.declare(e)
	}
	for e := range n.Entries() {
		r.define(e)
	}
	for e := range n.Entries() {
		r.resolve(r.types.byName[e.Key])
	}
	return r.types, r.faults
}

// ReadType reads a type where it is used: the name of a declared type, or a type written out. The result is never nil; a
// refused type has the kind Invalid. One goroutine at a time may call ReadType.
func (ts *Types) ReadType(n *document.Node) (*Type, document.Errors) {
	r := newReader(ts)
	t := r.part(n)
	r.resolve(t)
	return t, r.faults
}

// reader reads the types of one document.
type reader struct {
	types  *Types
	faults document.Errors
	places map[*Type]document.Pos // of the types that were read, until they are resolved
}

func newReader(ts *Types) *reader { return &reader{types: ts, places: map[*Type]document.Pos{}} }

func (r *reader) refuse(n *document.Node, msg string) {
	text, _ := n.Text()
	r.faults.Add(&document.Error{Pos: n.Pos, Text: text, Msg: msg})
}

func (r *reader) refuseKey(e document.Entry, msg, suggestion string) {
	r.faults.Add(&document.Error{Pos: e.Pos, Text: e.Key, Msg: msg, Suggestion: suggestion})
}

// declare makes the type of a declaration, so that all types can refer to it.
func (r *reader) declare(e document.Entry) {
	_, isWord := wordKinds[e.Key]
	if err := validTypeName(e.Key); err != nil {
		r.refuseKey(e, "invalid type name "+err.Error(), "")
	} else if isWord || systemTypes[e.Key] != nil {
		r.refuseKey(e, fmt.Sprintf("type %s is built in: give it another name", document.Quote(e.Key)), "")
	}
	t := &Type{Name: e.Key}
	r.types.byName[e.Key], r.places[t] = t, e.Pos
}

// define reads the type of a declaration.
func (r *reader) define(e document.Entry) {
	t, read := r.types.byName[e.Key], r.part(e.Value)
	if read.Name != "" {
		t.alias = read
		return
	}
	t.Kind, t.Fields, t.Elem, t.Key = read.Kind, read.Fields, read.Elem, read.Key
}

// part reads a type. A type of the system is refused: only arms can have it.
func (r *reader) part(n *document.Node) *Type {
	t := r.read(n)
	if t.Kind == System {
		r.refuse(n, fmt.Sprintf("%s can only be the type of an arm of a variant", document.Quote(t.Name)))
		return &Type{}
	}
	return t
}

// read reads a type: a text, or a mapping with one key.
func (r *reader) read(n *document.Node) *Type {
	if text, ok := n.Text(); ok {
		return r.readText(n, text)
	}
	if n.Kind != document.Mapping {
		r.refuse(n, "must be a type such as text, list<text> or {record: {name: text}}, not "+n.Kind.String())
		return &Type{}
	}
	t := &Type{}
	r.places[t] = n.Pos
	main, isOne := r.mainKey(n)
	switch kind := wordKinds[main.Key]; {
	case !isOne:
	case main.Key == "ref":
		return r.readRef(main.Value)
	case kind.isPlain():
		if t.Kind = kind; main.Value.Kind != document.Mapping || main.Value.Len() > 0 {
			r.refuse(main.Value, fmt.Sprintf("%s has no parts: write %s or {%s: {}}", kind, kind, kind))
		}
	case kind == Record, kind == Variant:
		t.Kind, t.Fields = kind, r.readFields(main.Value, kind)
	case kind == Map:
		t.Kind = kind
		r.readMap(t, main.Value)
	default:
		t.Kind, t.Elem = kind, r.part(main.Value)
	}
	return t
}

// mainKey returns the entry that defines a type, and refuses the others.
func (r *reader) mainKey(n *document.Node) (main document.Entry, ok bool) {
	if n.Len() == 0 {
		r.refuse(n, "the type is missing: write text, list<text> or {record: {name: text}}, for example")
		return main, false
	}
	for e := range n.Entries() {
		if !ok && isForm(e.Key) {
			main, ok = e, true
		}
	}
	for e := range n.Entries() {
		switch {
		case ok && e.Key != main.Key:
			r.refuseKey(e, fmt.Sprintf("a type has one key: unexpected %s beside %s", document.Quote(e.Key), main.Key), "")
		case !ok && r.types.Lookup(e.Key) != nil:
			r.refuseKey(e, "unknown form of a type "+document.Quote(e.Key), "{ref: "+e.Key+"}")
		case !ok:
			r.unknown(e.Pos, e.Key, func(yield func(string) bool) {
				for word := range wordKinds {
					if !yield(word) {
						return
					}
				}
				yield("ref")
			})
		}
	}
	return main, ok
}

// isForm reports whether a key can define a type.
func isForm(key string) bool { return key == "ref" || wordKinds[key] != Invalid }

// unknown refuses the name of a type.
func (r *reader) unknown(at document.Pos, name string, known iter.Seq[string]) {
	near := otherWords[strings.ToLower(name)]
	if inner, ok := strings.CutSuffix(name, "?"); ok && (wordKinds[inner].isPlain() || r.types.Lookup(inner) != nil) {
		near = "option<" + inner + ">"
	}
	if near == "" {
		near = r.types.speller.Nearest(name, known)
	}
	r.faults.Add(&document.Error{Pos: at, Text: name, Msg: "unknown type " + document.Quote(name), Suggestion: near})
}

// names yields all names that a type can have.
func (r *reader) names(yield func(string) bool) {
	for word := range wordKinds {
		if !yield(word) {
			return
		}
	}
	for name := range r.types.byName {
		if !yield(name) {
			return
		}
	}
	for name := range systemTypes {
		if !yield(name) {
			return
		}
	}
}

// readRef reads the name of a declared type.
func (r *reader) readRef(n *document.Node) *Type {
	name, ok := n.Text()
	if !ok {
		r.refuse(n, "ref must be the name of a type, not "+n.Kind.String())
		return &Type{}
	}
	if t := r.types.Lookup(name); t != nil {
		return t
	}
	if isForm(name) {
		r.refuse(n, fmt.Sprintf("%s is built in: write it without ref", document.Quote(name)))
	} else {
		r.unknown(n.Pos, name, r.names)
	}
	return &Type{}
}

// readFields reads the fields of a record or the arms of a variant.
func (r *reader) readFields(n *document.Node, kind Kind) []Field {
	if n.Kind != document.Mapping {
		r.refuse(n, fmt.Sprintf("%s must be a mapping from names to types, not %s", kind, n.Kind))
		return nil
	}
	if kind == Variant && n.Len() == 0 {
		r.refuse(n, "a variant needs an arm")
	}
	fields := make([]Field, 0, n.Len())
	for e := range n.Entries() {
		if kind == Record {
			if e.Key == "" {
				r.refuseKey(e, "a field needs a name", "")
			}
			if err := document.Visible(e.Key); err != nil {
				r.refuseKey(e, "invalid name of a field "+err.Error(), "")
			}
			fields = append(fields, Field{e.Key, r.part(e.Value)})
			continue
		}
		if err := validTypeName(e.Key); err != nil {
			r.refuseKey(e, "invalid name of an arm "+err.Error(), "")
		}
		fields = append(fields, Field{e.Key, r.read(e.Value)})
	}
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// readMap reads the types of the keys and the values of a map.
func (r *reader) readMap(t *Type, n *document.Node) {
	t.Key, t.Elem = &Type{}, &Type{}
	if n.Kind != document.Mapping {
		r.refuse(n, "map must be {key: K, value: V}, not "+n.Kind.String())
		return
	}
	parts := map[string]**Type{"key": &t.Key, "value": &t.Elem}
	misspelt := map[string]bool{}
	for e := range n.Entries() {
		if part := parts[e.Key]; part != nil {
			*part = r.part(e.Value)
			continue
		}
		near := r.types.speller.Nearest(e.Key, maps.Keys(parts))
		misspelt[near] = true
		r.refuseKey(e, "unknown key "+document.Quote(e.Key), near)
	}
	for _, key := range []string{"key", "value"} {
		if n.Get(key) == nil && !misspelt[key] {
			r.faults.Add(&document.Error{Pos: n.Pos.Key(key), Msg: key + " is missing"})
		}
	}
}
