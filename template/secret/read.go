package secret

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/fields"
)

// Reader reads a keychain, and determines the secrets that expressions read. It belongs to one document.
type Reader struct {
	*fields.Reader

	// Compile compiles the value at a node, whose expressions may use the names. If it fails, it reports the fault and returns
	// nil.
	Compile func(n *document.Node, names []string) Expr

	// NoEffect is called with the value of a key that has no effect, and the reason.
	NoEffect func(n *document.Node, why string)

	Names   []string // names that the requests of the keychain may use
	Entries []*Entry // in the order written
}

// Read reads the sources of secrets:
//
//	keychain:
//	  - {name: shop, kind: env, data: {token: SHOP_TOKEN}}
//	  - {name: db, kind: file, data: {password: /run/secrets/db}}
//	  - {name: api, kind: http, endpoint: "https://…", data: {client: "{{ keychain.shop.token }}"}, auto_renew: true}
//
// Tools read them as keychain.shop.token.
func (r *Reader) Read(n *document.Node) {
	seen := map[string]document.Pos{}
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return
	}
	for _, item := range n.Items() {
		if item.Kind != document.Mapping {
			r.WrongKind(item, "a mapping")
			continue
		}
		r.Entries = append(r.Entries, r.entry(item, seen))
	}
}

// noSecret is the kind of an entry that was refused. Reads of such an entry are not reported again.
const noSecret Kind = ""

func (r *Reader) entry(n *document.Node, seen map[string]document.Pos) *Entry {
	s := &Entry{Pos: n.Pos}
	known := fields.Map{
		"name": func(v *document.Node) {
			if s.Name = r.Text(v); s.Name != "" {
				r.secretName(v, s.Name)
				r.once(v, s.Name, seen)
			}
		},
		"kind": func(v *document.Node) {
			s.Kind = Kind(r.Choice(v, string(Env), string(File), string(HTTP)))
		},
		"scope": func(v *document.Node) {
			if r.Choice(v, "local", "global", "shared") != "local" {
				r.NoEffect(v, "every run resolves its own secrets")
			}
		},
		"auto_renew": func(v *document.Node) {
			if s.AutoRenew = r.Boolean(v); s.AutoRenew && !isText(n.Get("kind"), string(HTTP)) {
				r.NoEffect(v, "only secrets of kind http expire")
			}
		},
	}
	switch {
	case isText(n.Get("kind"), string(HTTP)):
		r.secretRequest(s, n, known)
	default:
		known["data"] = func(v *document.Node) { r.sources(s, v) }
		r.Object(n, known)
		if r.Required(n, "name", "kind"); s.Kind != noSecret {
			r.Required(n, "data")
		}
	}
	return s
}

// once refuses a name that is already used.
func (r *Reader) once(n *document.Node, name string, seen map[string]document.Pos) {
	if first, taken := seen[name]; taken {
		r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("duplicate keychain entry %q, first at %s", name, first.Path)})
		return
	}
	seen[name] = n.Pos
}

// isText reports whether n is the string text; it is false for nil.
func isText(n *document.Node, text string) bool {
	if n == nil {
		return false
	}
	got, ok := n.Text()
	return ok && got == text
}

// secretName refuses names that contain invisible characters or would make marks ambiguous.
func (r *Reader) secretName(n *document.Node, name string) {
	err := document.Visible(name)
	if err == nil && (template.ValidID(name) != nil || strings.ContainsAny(name, ".›")) {
		err = fmt.Errorf("%s: a secret's name has no dots, spaces and none of / [ ] #", document.Quote(name))
	}
	if err != nil {
		r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: "invalid name " + err.Error()})
	}
}

// sources reads the sources of secrets by key: variables of the environment, or files.
func (r *Reader) sources(s *Entry, n *document.Node) {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return
	}
	if n.Len() == 0 {
		r.Refuse(n, "data must name at least one secret and its source")
	}
	s.Sources = map[string]string{}
	for e := range n.Entries() {
		r.secretName(e.Value, e.Key)
		if s.Sources[e.Key] = r.Text(e.Value); strings.Contains(s.Sources[e.Key], "{{") {
			r.Refuse(e.Value, "the name of a source takes no expressions")
		}
	}
	s.Keys = slices.Sorted(maps.Keys(s.Sources))
}

// secretRequest reads the request to a server of secrets. It may read earlier entries of the keychain.
func (r *Reader) secretRequest(s *Entry, n *document.Node, known fields.Map) {
	s.Request = &Request{Method: "POST"}
	if n.Get("data") == nil {
		s.Request.Method = "GET"
	}
	part := func(into *Expr) func(*document.Node) {
		return func(v *document.Node) {
			*into = r.Compile(v, r.Names)
			r.Marks(v.Pos, *into)
		}
	}
	known["endpoint"] = part(&s.Request.Endpoint)
	known["method"] = func(v *document.Node) { s.Request.Method = cmp.Or(r.Choice(v, "GET", "POST"), "POST") }
	known["headers"] = part(&s.Request.Headers)
	known["data"] = part(&s.Request.Data)
	r.Object(n, known)
	r.Required(n, "name", "endpoint")
	if v := n.Get("headers"); v != nil && v.Kind != document.Mapping {
		r.WrongKind(v, "a mapping")
	}
}

// Marks returns the marks of the secrets that an expression reads, and reports invalid reads. A secret must be referred to
// literally: a call receives only the secrets that its own templates name. A key that is read from an entry of kind http is
// added to the Keys of the entry.
func (r *Reader) Marks(pos document.Pos, e Expr) []string {
	if e == nil {
		return nil
	}
	fault := func(text, suggestion, format string, args ...any) {
		r.Fault(&document.Error{Pos: pos, Text: text, Suggestion: suggestion, Msg: fmt.Sprintf(format, args...)})
	}
	names, all := e.Keys(Variable)
	if all {
		fault(Variable, "", "a secret is read by its name and key, written out: keychain.name.key")
		return nil
	}
	var marks []string
	for _, name := range names {
		s, ok := r.secretNamed(name)
		if !ok {
			near := r.Nearest(name, r.secretNames())
			fault(name, near, "the keychain has no entry %q", name)
			continue
		}
		keys, all := e.Members(Variable, name)
		if all {
			fault(Variable+"."+name, "", "a secret is read by its name and key, written out: keychain.%s.key", name)
			continue
		}
		for _, key := range keys {
			switch has := slices.Contains(s.Keys, key); {
			case has:
			case s.Kind == HTTP:
				s.Keys = append(s.Keys, key) // the server must return it
				slices.Sort(s.Keys)
			case s.Kind != noSecret && s.Keys != nil:
				near := r.Nearest(key, slices.Values(s.Keys))
				fault(key, near, "keychain entry %q has no %q", name, key)
			}
			marks = append(marks, Mark(name, key))
		}
	}
	return marks
}

func (r *Reader) secretNamed(name string) (*Entry, bool) {
	for _, s := range r.Entries {
		if s.Name == name {
			return s, true
		}
	}
	return nil, false
}

func (r *Reader) secretNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range r.Entries {
			if !yield(s.Name) {
				return
			}
		}
	}
}
