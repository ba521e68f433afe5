// Package secret describes the secrets that a document names in its keychain: their sources, and the marks that stand for them.
// Their values never reach a journal: expressions see a mark in place of each value. Package pool replaces a mark by its value
// only if the call's own templates read the secret.
package secret

import (
	"slices"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Variable is the name under which expressions read the keychain.
const Variable = "keychain"

// Entry is an entry of a keychain.
type Entry struct {
	Name      string            // unique in the keychain
	Kind      Kind              // where it comes from
	Keys      []string          // of its values, sorted; of an HTTP answer, only those that expressions read
	Sources   map[string]string // Env and File: the variable or the file of each value, by key
	Request   *Request          // HTTP
	AutoRenew bool              // HTTP: requested again when the answer's expires_in (seconds) is over
	Pos       document.Pos      // where it was written
}

// Kind is the kind of a source of secrets.
type Kind string

// The sources of secrets.
const (
	Env  Kind = "env"  // variables of the environment
	File Kind = "file" // contents of files
	HTTP Kind = "http" // fields of the JSON object that a server returns
)

// Request is a request to a server that returns secrets. Its expressions read the workload, and earlier entries of the
// keychain.
type Request struct {
	Method   string // GET or POST. Default: POST with Data, else GET
	Endpoint Expr   // the URL
	Headers  Expr   // an object; nil: none
	Data     Expr   // sent as JSON; nil: nothing
}

// Expr is a value with expressions in it, compiled in the document's dialect.
type Expr interface {
	// Eval returns the value in env.
	Eval(env expr.Env) (value.Value, error)

	// Keys returns the keys of the variable name that it can read, sorted; all reports that it may read any.
	Keys(name string) (keys []string, all bool)

	// Members is Keys for the value of a variable's key.
	Members(name, key string) (members []string, all bool)
}

// Reads reports whether the request reads the entry of the keychain called name.
func (q *Request) Reads(name string) bool {
	for _, e := range []Expr{q.Endpoint, q.Headers, q.Data} {
		if e == nil {
			continue
		}
		if names, all := e.Keys(Variable); all || slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// Mark returns the text that stands for a secret in journals, logs and events.
func Mark(name, key string) string { return "‹keychain:" + name + "." + key + "›" }

// Marks returns a keychain as expressions see it, with a mark in place of every secret.
func Marks(keychain []*Entry) map[string]value.Value {
	all := make(map[string]value.Value, len(keychain))
	for _, e := range keychain {
		keys := make(map[string]any, len(e.Keys))
		for _, key := range e.Keys {
			keys[key] = Mark(e.Name, key)
		}
		all[e.Name] = keys
	}
	return all
}
