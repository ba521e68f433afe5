package secret

import (
	"fmt"
	"maps"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/fields"
	"github.com/sluiceflow/sluice/template/value"
)

// Keychain is the keychain of a document whose bindings read secrets. It is immutable once the bindings have been checked.
type Keychain struct {
	entries []*Entry
	written []value.Value
}

// ReadKeychain reads the key keychain of a document with expressions of package expr. Only bindings read it, because their
// values are not journaled.
func (k *Keychain) ReadKeychain(r *fields.Reader, n *document.Node) {
	of := Reader{Reader: r, Names: []string{Variable},
		Compile: func(n *document.Node, names []string) Expr {
			t, err := expr.CompileValue(n.Value(), expr.Scope{Names: names})
			if err == nil && len(t.Reads()) > 0 {
				err = fmt.Errorf("a request of the keychain cannot read %s", t.Reads()[0].Text)
			}
			if err != nil {
				r.Fault(&document.Error{Pos: n.Pos, Msg: err.Error(), Err: err})
				return nil
			}
			return t
		},
		NoEffect: func(n *document.Node, why string) {
			r.Fault(&document.Error{Pos: n.Pos, Msg: fmt.Sprintf("%s has no effect: %s", fields.LastKey(n.Pos.Path), why)})
		},
	}
	of.Read(n)
	k.entries = of.Entries
	for _, item := range n.Items() {
		k.written = append(k.written, canonical(item.Value()))
	}
}

// canonical returns an entry without its defaults and without scope, which has no effect.
func canonical(v value.Value) value.Value {
	written, isObject := v.(map[string]any)
	if !isObject {
		return v
	}
	entry := maps.Clone(written)
	delete(entry, "scope") // it must be local
	if entry["auto_renew"] == false {
		delete(entry, "auto_renew")
	}
	if _, posts := entry["data"]; entry["method"] == "POST" && posts || entry["method"] == "GET" && !posts {
		delete(entry, "method")
	}
	return entry
}

// AddTo adds the keychain to the canonical form of a document.
func (k *Keychain) AddTo(doc map[string]any) {
	if len(k.written) > 0 {
		doc[Variable] = k.written
	}
}

// Secrets returns the entries, in the order written.
func (k *Keychain) Secrets() []*Entry { return k.entries }

// WorkloadOf returns nil: the requests of the keychain read no workload.
func (k *Keychain) WorkloadOf(value.Value) map[string]value.Value { return nil }

// BindingSecrets returns the marks of the secrets that an expression of a binding reads, and reports reads of secrets that do
// not exist.
func (k *Keychain) BindingSecrets(pos document.Pos, t *expr.Template, report func(*document.Error)) []string {
	faults := &fields.Reader{}
	of := Reader{Reader: faults, Entries: k.entries}
	marks := of.Marks(pos, t)
	if list, ok := faults.Err().(document.Errors); ok {
		for _, fault := range list {
			report(fault)
		}
	}
	return marks
}
