// Package index computes the values under which indexes find the cells of a machine, and the hashes of these values in tries.
package index

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Values returns the hashes of a cell's values in the indexes of its machine, in the order of the indexes. Zero means that the cell
// is not in the index: it has no state, or the value is null, or cannot be computed or encoded.
func Values(m *machine.Machine, state, key value.Value) []trie.Hash {
	hashes := make([]trie.Hash, len(m.Indexes))
	if state == nil {
		return hashes
	}
	for i := range m.Indexes {
		if v, err := m.Indexes[i].Value.Eval(cell{state, key}); err == nil && v != nil {
			if h, err := hashOf(v); err == nil { // a value without an encoding is in no index
				hashes[i] = h
			}
		}
	}
	return hashes
}

func hashOf(v value.Value) (trie.Hash, error) {
	encoded, err := value.Encode(v)
	return sha256.Sum256(encoded), err
}

// cell holds the names of an index's expression. It implements expr.Env.
type cell struct{ state, key value.Value }

// Name returns a variable.
func (c cell) Name(name string) (value.Value, error) {
	switch name {
	case "state":
		return c.state, nil
	case "key":
		return c.key, nil
	}
	return nil, fmt.Errorf("there is no %s", name)
}

// Step returns an error: a world has no steps.
func (c cell) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("there is no step %q", id)
}

// Asked returns the hashes that queried values may have in an index, each once: of the values and, if the index has a field of
// the state or the key, of their normal forms.
func Asked(m *machine.Machine, i int, values []value.Value) (hashes []trie.Hash, err error) {
	t := typeOf(m, m.Indexes[i].Value)
	for _, v := range values {
		forms := []value.Value{v}
		if t != nil {
			if n, err := t.Normalize(v); err == nil {
				forms = append(forms, n)
			}
		}
		for _, form := range forms {
			hash, err := hashOf(form)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(hashes, hash) {
				hashes = append(hashes, hash)
			}
		}
	}
	return hashes, nil
}

// typeOf returns the type of the value of an expression that reads a field of the state, a field within one, or the key, and nil for
// any other expression.
func typeOf(m *machine.Machine, t *expr.Template) *schema.Type {
	names := t.Names()
	if len(names) != 1 {
		return nil
	}
	if names[0] == "key" {
		return m.Key
	}
	field, all := t.Keys("state")
	if all || len(field) != 1 {
		return nil
	}
	path := field
	if within, all := t.Members("state", field[0]); !all && len(within) == 1 {
		path = append(path[:1:1], within...)
	}
	of, err := m.State.At(path)
	if err != nil {
		return nil
	}
	return of
}

// Of returns the position of an index among the indexes of a machine. It reports false if the machine has no index with the
// name.
func Of(m *machine.Machine, name string) (int, bool) {
	for i := range m.Indexes {
		if m.Indexes[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

// UnknownError is the error of an index that does not exist.
type UnknownError struct {
	Name  string   // requested name
	Known []string // existing names, as machine.index, sorted
}

// Error names the index and the existing ones.
func (e *UnknownError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("unknown index %q: the machines that were asked for declare none", e.Name)
	}
	return fmt.Sprintf("unknown index %q: there are %s", e.Name, strings.Join(e.Known, ", "))
}
