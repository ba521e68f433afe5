package world

import (
	"iter"
	"slices"

	"github.com/sluiceflow/sluice/reactive/world/index"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// UnknownIndexError is the error of an index that does not exist.
type UnknownIndexError = index.UnknownError

// Find yields the states of the cells that have one of the values in an index, in the order of their addresses: cells of one machine
// or, if its name is empty, of all machines with such an index. It reads these cells, the nodes of the index above them, and the
// cells that have changed since the newest snapshot. If the index does not exist, it returns an *UnknownIndexError.
func (w *World) Find(of, name string, values []value.Value) (iter.Seq[CellState], error) {
	unknown := &index.UnknownError{Name: name}
	var list []string
	known := false
	for _, m := range w.def.Machines {
		if of != "" && m.Name != of {
			continue
		}
		i, ok := index.Of(m, name)
		if !ok {
			for k := range m.Indexes {
				unknown.Known = append(unknown.Known, m.Indexes[k].Name+" of "+m.Name)
			}
			continue
		}
		known = true
		asked, err := index.Asked(m, i, values)
		if err != nil {
			return nil, err
		}
		list = append(append(list, w.foundKept(m, i, asked)...), w.foundChanged(m, i, asked)...)
	}
	if !known {
		return nil, unknown
	}
	slices.Sort(list)
	return func(yield func(CellState) bool) {
		for _, address := range list {
			if c, ok := w.Cell(address); ok && !yield(c) {
				return
			}
		}
	}, nil
}

// foundKept returns the addresses of the cells that have a value in an index of the newest snapshot and have not changed since.
func (h *holdings) foundKept(m *machine.Machine, i int, asked []trie.Hash) (list []string) {
	root := h.base.roots.Of(m).Indexes[i]
	if root == trie.Empty {
		return nil
	}
	for _, hash := range asked {
		for entry, err := range trie.Index(h.base.fetch.Node).Walk(root, hash[:], trie.NextHash(hash)) {
			key, err := keyIn(m, entry, err)
			if err != nil {
				h.fail(err)
				return nil
			}
			if address := machine.Address(m, key); !h.changed(address) {
				list = append(list, address)
			}
		}
	}
	return list
}

// keyIn returns the key of a read entry of an index, or the error of reading it.
func keyIn(m *machine.Machine, entry trie.Entry, err error) (value.Value, error) {
	if err != nil {
		return nil, err
	}
	x, err := trie.DecodeIndexed(entry.Data)
	if err != nil {
		return nil, err
	}
	return keyFrom(m, x.Key)
}

// foundChanged returns the addresses of the cells that have changed since the newest snapshot and have a value in an index. Without
// content, these are all cells.
func (h *holdings) foundChanged(m *machine.Machine, i int, asked []trie.Hash) (list []string) {
	cells := h.dirty
	if h.base.fetch == nil {
		cells = h.cells
	}
	for address, c := range cells {
		if c.machine != m || c.gone() {
			continue
		}
		if c.indexed == nil {
			c.indexed = index.Values(m, h.stateOf(c), c.key)
		}
		if slices.Contains(asked, c.indexed[i]) {
			list = append(list, address)
		}
	}
	return list
}
