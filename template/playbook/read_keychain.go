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
	"github.com/sluiceflow/sluice/template/secret"
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

// noSecret stands for an entry that has been refused: what is read of it is no further fault.
const noSecret secret.Kind = ""

func (r *secrets) secret(n *document.Node, seen map[string]document.Pos) *secret.Entry {
	s := &secret.Entry{Pos: n.Pos}
	known := template.Fields{
		"name": func(v *document.Node) {
			if s.Name = r.Text(v); s.Name != "" {
				r.secretName(v, s.Name)
				r.once(v, "keychain entry", s.Name, seen)
			}
		},
		"kind": func(v *document.Node) {
			s.Kind = secret.Kind(r.choice(v, string(secret.Env), string(secret.File), string(secret.HTTP)))
		},
		"scope": func(v *document.Node) {
			if r.choice(v, "local", "global", "shared") != "local" {
				r.noEffect("every run resolves its own secrets")(v)
			}
		},
		"auto_renew": func(v *document.Node) {
			if s.AutoRenew = r.Boolean(v); s.AutoRenew && !isText(n.Get("kind"), string(secret.HTTP)) {
				r.noEffect("only secrets of kind http expire")(v)
			}
		},
	}
	switch {
	case isText(n.Get("kind"), string(secret.HTTP)):
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

// sources reads under which names secrets are found, by key: variables of the environment, or files.
func (r *secrets) sources(s *secret.Entry, n *document.Node) {
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

// secretRequest reads what is asked of a server that gives secrets. Entries of the keychain that come before may be read.
func (r *secrets) secretRequest(s *secret.Entry, n *document.Node, known template.Fields) {
	s.Request = &secret.Request{Method: "POST"}
	if n.Get("data") == nil {
		s.Request.Method = "GET"
	}
	part := func(into *secret.Expr) func(*document.Node) {
		return func(v *document.Node) {
			e := r.expression(v, []string{"workload", keychainName})
			*into = e
			r.secretsOf(v.Pos, e)
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
			case s.Kind == secret.HTTP:
				s.Keys = append(s.Keys, key) // the server has to give it
				slices.Sort(s.Keys)
			case s.Kind != noSecret && s.Keys != nil:
				near := r.Nearest(key, slices.Values(s.Keys))
				fault(key, near, "keychain entry %q has no %q", name, key)
			}
			marks = append(marks, secret.Mark(name, key))
		}
	}
	return marks
}

func (r *secrets) secretNamed(name string) (*secret.Entry, bool) {
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
