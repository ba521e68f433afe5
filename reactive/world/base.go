package world

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Cache bounds the cells of a machine that stay in memory although they may leave it. Zero means the default; a negative number
// means none.
type Cache struct {
	Cells int // number of cells. Default: CellsCached
	Bytes int // of their stored states. Default: BytesCached
}

// The defaults of a Cache.
const (
	CellsCached = 4_096
	BytesCached = 64 << 20
)

// bounds returns the effective bounds.
func (c Cache) bounds() Cache {
	return Cache{Cells: max(0, cmp.Or(c.Cells, CellsCached)), Bytes: max(0, cmp.Or(c.Bytes, BytesCached))}
}

// Fetch returns the content with a hash.
type Fetch = kept.Fetch

// base is the newest snapshot, which has the cells that are not in memory.
type base struct {
	fetch    Fetch          // nil: the run's store has no content, and all cells stay in memory
	pace     kept.Pace      // decides when the next snapshot is due
	upto     uint64         // sequence of the last event in the snapshot; 0: no snapshot
	seq      uint64         // of its event
	snapshot *kept.Snapshot // nil: none
	roots    kept.Roots     // of the snapshot
}

// holdings are the cells of a world: the cells in memory, and the cells that only the newest snapshot has.
type holdings struct {
	def     *machine.World
	cells   map[string]*cell // the cells in memory, by address
	dirty   map[string]*cell // with content: the cells that have changed since the newest snapshot, including deleted ones
	base    base             // the newest snapshot
	delta   delta            // size of the states of dirty
	intents intents          // of the cells in memory
	stopped bool             // the run was cancelled or closed: no intent is open
	cache   Cache            // bounds of the cells at rest that stay in memory
	loaded  Cache            // the cells read from the snapshot since the last eviction
	err     error            // error of reading content
	read    func(*cell)      // called with each cell read from a snapshot
}

// maybeInSnapshot reports whether a cell that is not in memory may be in the snapshot. dirty is its state since then.
func (b *base) maybeInSnapshot(dirty *cell) bool { return len(b.roots.Machines) > 0 && dirty == nil }

// changed reports whether a cell has changed since the newest snapshot.
func (h *holdings) changed(address string) bool { return h.dirty[address] != nil }

// Content sets the reader of the content of snapshots, the bound of events since the newest snapshot (0: none), and the bounds
// of the cells that stay in memory although they may leave it. It must be called before the first event is applied.
func (h *holdings) Content(fetch Fetch, eventsMax int, cache Cache) {
	h.base.fetch, h.base.pace, h.cache = fetch, kept.NewPace(eventsMax), cache.bounds()
}

// Err returns an error if the world cannot proceed, because the content of its snapshot is damaged. All its later results are
// invalid.
func (h *holdings) Err() error { return h.err }

// Snapshot returns the sequence of the event of the newest snapshot, or 0, and reports whether another snapshot or a spill is due.
// For a world that leaves memory, a snapshot is due earlier.
func (w *World) Snapshot(leaves bool) (seq uint64, due bool) {
	due = w.base.fetch != nil && !w.stopped && w.base.pace.Due(w.root.Tail(), w.root.Bytes(), leaves)
	return w.base.seq, due || w.delta.spills()
}

// fail records that content cannot be read.
func (h *holdings) fail(err error) {
	if h.err == nil {
		h.err = kept.Damaged(err)
	}
}

// path returns the place of a cell in the trie of its machine, and the bytes of its key.
func path(m *machine.Machine, key value.Value) (place, bytes []byte, err error) {
	if bytes, err = machine.KeyBytes(m, key); err != nil {
		return nil, nil, err
	}
	hash := sha256.Sum256(bytes)
	return hash[:], bytes, nil
}

// load reads a cell from the snapshot into memory. It returns nil if there is none, or if it cannot be read: see Err.
func (h *holdings) load(m *machine.Machine, key value.Value, address string) *cell {
	place, _, err := path(m, key)
	if err != nil {
		return nil // a key without an encoding has no cell
	}
	data, ok, err := h.base.fetch.Cells().Get(h.base.roots.Of(m).Cells, place)
	if err != nil {
		h.fail(err)
		return nil
	}
	if !ok {
		return nil
	}
	c := &cell{machine: m, key: key, address: address}
	open, err := c.thaw(data, h.base.fetch, h.def.Effect)
	if err == nil && !h.stopped && slices.ContainsFunc(open, (*intent).isCall) {
		err = fmt.Errorf("%w: the calls of cell %s are not open", trie.ErrDamaged, address)
	}
	if err != nil {
		h.fail(err)
		return nil
	}
	h.cells[address] = c
	for _, x := range open {
		if !h.stopped {
			h.intents.put(x)
		}
	}
	h.read(c)
	h.loaded.Cells++
	h.loaded.Bytes += c.size
	return c
}

// changedShare is the divisor of the number of changed cells below which relieve does not visit all cells in memory.
const changedShare = 8

// evictIfMany removes cells from memory if many were read.
func (h *holdings) evictIfMany() {
	if l := h.loaded; (l.Cells > h.cache.Cells || l.Bytes > h.cache.Bytes) && l.Cells > len(h.dirty)/changedShare {
		h.evict()
	}
}

// evict removes unchanged cells at rest from memory, the longest unchanged first, down to the bounds of each machine. No event may be
// in progress.
func (h *holdings) evict() {
	h.loaded = Cache{}
	if h.base.fetch == nil {
		return
	}
	resting := map[*machine.Machine][]*cell{}
	for address, c := range h.cells {
		if h.dirty[address] == nil && c.rests() {
			resting[c.machine] = append(resting[c.machine], c)
		}
	}
	for _, list := range resting {
		has := Cache{Cells: len(list)}
		for _, c := range list {
			has.Bytes += c.size
		}
		if has.Cells <= h.cache.Cells && has.Bytes <= h.cache.Bytes {
			continue
		}
		slices.SortFunc(list, func(a, b *cell) int {
			return cmp.Or(cmp.Compare(a.changed, b.changed), cmp.Compare(a.address, b.address))
		})
		for _, c := range list {
			if has.Cells <= h.cache.Cells && has.Bytes <= h.cache.Bytes {
				break
			}
			delete(h.cells, c.address)
			h.intents.forget(c)
			has.Cells--
			has.Bytes -= c.size
		}
	}
}

// all yields all cells, in the order of their addresses. It reads cells that are not in memory one by one.
func (h *holdings) all() iter.Seq[*cell] {
	return func(yield func(*cell) bool) {
		for _, address := range h.addressesOfAll() {
			h.evictIfMany()
			c := h.cells[address]
			if c == nil {
				m, key, err := h.def.ParseAddress(address)
				if err != nil {
					continue
				}
				if c = h.load(m, key, address); c == nil {
					continue
				}
			}
			if !yield(c) {
				return
			}
		}
	}
}

// addressesOfAll returns the addresses of all cells, sorted.
func (h *holdings) addressesOfAll() []string {
	list := slices.Collect(maps.Keys(h.cells))
	for _, m := range h.def.Machines {
		root := h.base.roots.Of(m).Cells
		if root == trie.Empty {
			continue
		}
		for entry, err := range h.base.fetch.Cells().Walk(root, nil, nil) {
			key, err := keyOf(m, entry, err)
			if err != nil {
				h.fail(err)
				break
			}
			address := machine.Address(m, key)
			if h.cells[address] == nil && h.dirty[address] == nil {
				list = append(list, address)
			}
		}
	}
	slices.Sort(list)
	return list
}

// keyOf returns the key of a read entry, or the error of reading it.
func keyOf(m *machine.Machine, entry trie.Entry, err error) (value.Value, error) {
	if err != nil {
		return nil, err
	}
	of, err := trie.DecodeCell(entry.Data)
	if err != nil {
		return nil, err
	}
	return keyFrom(m, of.Key)
}

// keyFrom returns a key from its bytes.
func keyFrom(m *machine.Machine, data []byte) (value.Value, error) {
	if m.Key == nil {
		return nil, nil
	}
	key, err := machine.KeyOf(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", trie.ErrDamaged, err)
	}
	return key, nil
}
