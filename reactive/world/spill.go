package world

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/value"
)

// The bounds of the states in memory of cells that have changed since the newest snapshot. States beyond the bounds are written as
// content. The cells remain changed: the journal has their states, so nothing is lost if the world is restored before the next
// snapshot.
const (
	SpillState = 64 << 10 // bytes of one state
	SpillBytes = 64 << 20 // bytes of all events that have set states; beyond it, the oldest are written
)

// delta is the size of the changed states.
type delta struct {
	stateMax, bytesMax int
	bytes              int              // bytes of the events that have set the states in memory
	large              map[string]*cell // cells with a state beyond stateMax, by address
	event              int              // bytes of the current event
	before             int              // bytes of the tail before it
}

// storedState is a state that is only content.
type storedState struct {
	hash trie.Hash
	size uint64
}

// setState sets the state of a cell for the current event; nil removes it.
func (h *holdings) setState(c *cell, v value.Value, seq uint64) {
	h.release(c)
	c.state, c.away, c.indexed, c.set, c.size = v, nil, nil, seq, 0
	if h.base.fetch == nil || v == nil {
		return
	}
	c.bytes, c.size = h.delta.event, h.delta.event
	h.delta.bytes += c.bytes
	if c.bytes <= h.delta.stateMax {
		return
	}
	if size, err := value.Size(v, value.MaxSizeBytes); err == nil && size > h.delta.stateMax {
		if h.delta.large == nil {
			h.delta.large = map[string]*cell{}
		}
		h.delta.large[c.address] = c
	}
}

// release removes the state of a cell from the counts.
func (h *holdings) release(c *cell) {
	h.delta.bytes -= c.bytes
	c.bytes = 0
	delete(h.delta.large, c.address)
}

// hasState reports whether the cell has a state.
func (c *cell) hasState() bool { return c.state != nil || c.away != nil }

// stateOf returns the state of a cell, or nil if it has none or if the state cannot be read: see Err.
func (h *holdings) stateOf(c *cell) value.Value {
	if c.away == nil {
		return c.state
	}
	v, err := h.base.fetch.Value(c.away.hash)
	if err != nil {
		h.fail(err)
	}
	return v
}

// spills reports whether states must be written as content.
func (d *delta) spills() bool { return len(d.large) > 0 || d.bytes > d.bytesMax }

// Spill has states to write as content while the world continues. It shares the values, which never change.
type Spill struct{ states []spilled }

type spilled struct {
	cell  *cell
	set   uint64
	state value.Value
	away  storedState
}

// Spill returns the states that take too much memory, or nil.
func (h *holdings) Spill() *Spill {
	if !h.delta.spills() {
		return nil
	}
	s := &Spill{}
	over := h.delta.bytes - h.delta.bytesMax
	add := func(c *cell) {
		s.states = append(s.states, spilled{cell: c, set: c.set, state: c.state})
		over -= c.bytes
	}
	for _, c := range h.delta.large {
		add(c)
	}
	if over <= 0 {
		return s
	}
	var rest []*cell
	for address, c := range h.dirty {
		if c.bytes > 0 && h.delta.large[address] == nil {
			rest = append(rest, c)
		}
	}
	slices.SortFunc(rest, func(a, b *cell) int { return cmp.Compare(a.set, b.set) })
	for _, c := range rest {
		if over > 0 {
			add(c)
		}
	}
	return s
}

// Write writes the states as content. It may run concurrently with the world.
func (s *Spill) Write(put func(blobs [][]byte) error) error {
	b := &kept.Batch{Put: put}
	for i := range s.states {
		encoded, err := value.Encode(s.states[i].state)
		if err != nil {
			return err
		}
		s.states[i].away = storedState{sha256.Sum256(encoded), uint64(len(encoded))}
		if err := b.Add(encoded); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Spilled removes the written states from memory, unless their cells have new states.
func (h *holdings) Spilled(s *Spill) {
	for i := range s.states {
		if x := &s.states[i]; x.cell.set == x.set && x.cell.state != nil && h.dirty[x.cell.address] == x.cell {
			h.release(x.cell)
			x.cell.state, x.cell.away, x.cell.size = nil, &x.away, 0
		}
	}
}

// SpilledStates returns the hashes of the spilled states that no snapshot has yet.
func (h *holdings) SpilledStates() (hashes []journal.Hash) {
	for _, c := range h.dirty {
		if c.away != nil {
			hashes = append(hashes, journal.Hash(c.away.hash))
		}
	}
	return hashes
}
