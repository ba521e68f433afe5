package playbook

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// secrets reads the keychain, and records the secrets that expressions read.
type secrets struct{ expressions }

// keychain reads the sources of secrets:
//
//	keychain:
//	  - {name: shop, kind: env, data: {token: SHOP_TOKEN}}
//	  - {name: db, kind: file, data: {password: /run/secrets/db}}
//	  - {name: api, kind: http, endpoint: "https://…", data: {client: "{{ keychain.shop.token }}"}, auto_renew: true}
//
// Tools read them as keychain.shop.token.
func (r *secrets) keychain(n *document.Node) {
	seen := map[string]document.Pos{}
	for _, item := range r.list(n) {
		if item.Kind != document.Mapping {
			r.WrongKind(item, "a mapping")
			continue
		}
		r.book.Keychain = append(r.book.Keychain, r.secret(item, seen))
	}
}

// noSecret is the kind of an entry that has been refused: reads of it are not reported.
const noSecret SecretKind = ""

func (r *secrets) secret(n *document.Node, seen map[string]document.Pos) *Secret {
	s := &Secret{Pos: n.Pos}
	known := template.Fields{
		"name": func(v *document.Node) {
			if s.Name = r.Text(v); s.Name != "" {
				r.secretName(v, s.Name)
				r.once(v, "keychain entry", s.Name, seen)
			}
		},
		"kind": func(v *document.Node) {
			s.Kind = SecretKind(r.choice(v, string(SecretEnv), string(SecretFile), string(SecretHTTP)))
		},
		"scope": func(v *document.Node) {
			if r.choice(v, "local", "global", "shared") != "local" {
				r.noEffect("every run resolves its own secrets")(v)
			}
		},
		"auto_renew": func(v *document.Node) {
			if s.AutoRenew = r.Boolean(v); s.AutoRenew && !isText(n.Get("kind"), string(SecretHTTP)) {
				r.noEffect("only secrets of kind http expire")(v)
			}
		},
	}
	switch {
	case isText(n.Get("kind"), string(SecretHTTP)):
		r.secretRequest(s, n, known)
	default:
		known["data"] = func(v *document.Node) { r.sources(s, v) }
		r.mapping(n, known, nil)
		if r.Required(n, "name", "kind"); s.Kind != noSecret {
			r.Required(n, "data")
		}
	}
	return s
}

// secretName refuses names that would make marks ambiguous.
func (r *secrets) secretName(n *document.Node, name string) {
	if err := template.ValidID(name); err != nil || strings.ContainsAny(name, ".›") {
		r.Fault(&document.Error{Pos: n.Pos, Text: name,
			Msg: fmt.Sprintf("invalid name %s: a secret's name has no dots, spaces and none of / [ ] #", document.Quote(name))})
	}
}

// sources reads the variables of the environment, or the files, of secrets, by key.
func (r *secrets) sources(s *Secret, n *document.Node) {
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

// secretRequest reads a request to a server that returns secrets. It may read earlier entries of the keychain.
func (r *secrets) secretRequest(s *Secret, n *document.Node, known template.Fields) {
	s.Request = &SecretRequest{Method: "POST"}
	if n.Get("data") == nil {
		s.Request.Method = "GET"
	}
	part := func(into *Expr) func(*document.Node) {
		return func(v *document.Node) {
			*into = r.expression(v, []string{"workload", keychainName})
			r.secretsOf(v.Pos, *into)
		}
	}
	known["endpoint"] = part(&s.Request.Endpoint)
	known["method"] = func(v *document.Node) { s.Request.Method = cmp.Or(r.choice(v, "GET", "POST"), "POST") }
	known["headers"] = part(&s.Request.Headers)
	known["data"] = part(&s.Request.Data)
	r.mapping(n, known, nil)
	r.Required(n, "name", "endpoint")
	if v := n.Get("headers"); v != nil && v.Kind != document.Mapping {
		r.WrongKind(v, "a mapping")
	}
}

// secretsOf returns the marks of the secrets that an expression reads. They must be written literally: a call receives only
// the secrets that its own templates name.
func (r *secrets) secretsOf(pos document.Pos, e Expr) []string {
	if e == nil {
		return nil
	}
	fault := func(text, suggestion, format string, args ...any) {
		r.Fault(&document.Error{Pos: pos, Text: text, Suggestion: suggestion, Msg: fmt.Sprintf(format, args...)})
	}
	names, all := e.Keys(keychainName)
	if all {
		fault(keychainName, "", "a secret is read by its name and key, written out: keychain.name.key")
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
		keys, all := e.Members(keychainName, name)
		if all {
			fault(keychainName+"."+name, "", "a secret is read by its name and key, written out: keychain.%s.key", name)
			continue
		}
		for _, key := range keys {
			switch has := slices.Contains(s.Keys, key); {
			case has:
			case s.Kind == SecretHTTP:
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

func (r *secrets) secretNamed(name string) (*Secret, bool) {
	for _, s := range r.book.Keychain {
		if s.Name == name {
			return s, true
		}
	}
	return nil, false
}

func (r *secrets) secretNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range r.book.Keychain {
			if !yield(s.Name) {
				return
			}
		}
	}
}

// marks returns the value of the keychain in expressions: a mark in place of every secret.
func marks(keychain []*Secret) map[string]value.Value {
	all := make(map[string]value.Value, len(keychain))
	for _, s := range keychain {
		entry := make(map[string]any, len(s.Keys))
		for _, key := range s.Keys {
			entry[key] = Mark(s.Name, key)
		}
		all[s.Name] = entry
	}
	return all
}
