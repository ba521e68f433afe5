package world

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Kept finds the content that a world needs: that of its newest snapshot, and of the one before. It does not follow the world: it
// may be used while that goes on, as long as no other snapshot is made.
type Kept struct {
	Seq    uint64 // of the event of the newest snapshot
	Before uint64 // of the event of the one before; 0: there is none

	def    *machine.World
	fetch  Fetch
	newest *snapshot
}

// Kept returns what finds the content that the world needs; nil if it has no snapshot.
func (w *World) Kept() *Kept {
	if w.base.fetch == nil || w.base.snapshot == nil {
		return nil
	}
	s := w.base.snapshot
	return &Kept{Seq: w.base.seq, Before: s.before, def: w.def, fetch: w.base.fetch, newest: s}
}

// Mark returns the hashes of the content that the world needs. before is the event of the snapshot before the newest; nil if
// there is none. Mark reads every node that the two have, once.
func (k *Kept) Mark(before *journal.Event) (map[journal.Hash]bool, error) {
	m := marks{}
	if err := m.add(k.fetch, k.newest); err != nil || before == nil {
		return m, err
	}
	of, _ := value.Of(before.Value)
	older, err := readSnapshot(k.def, of)
	if err != nil {
		return nil, fmt.Errorf("%w: event %d: %w", journal.ErrDamaged, before.Seq, err)
	}
	return m, m.add(k.fetch, older)
}

// marks are the hashes of content that is needed.
type marks map[journal.Hash]bool

// put adds a hash. It reports whether it is new.
func (m marks) put(hash trie.Hash) bool {
	known := m[journal.Hash(hash)]
	m[journal.Hash(hash)] = true
	return !known
}

// add adds what a snapshot needs: all nodes of its tries, states and work of cells, and what belongs to no cell.
func (m marks) add(fetch Fetch, s *snapshot) error {
	m.put(s.core)
	if s.hasCalls {
		m.put(s.calls)
	}
	for _, root := range s.roots {
		err := fetch.Tries().Mark(root, m.put, func(e trie.Entry) error {
			c, err := trie.DecodeCell(e.Data)
			m.put(c.State)
			m.put(c.Work)
			return err
		})
		if err != nil {
			return kept.Damaged(err)
		}
	}
	return nil
}
