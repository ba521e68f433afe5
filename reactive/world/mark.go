package world

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// Kept finds the content that the newest snapshot of a world needs. It does not follow the world: it may be used while that goes
// on, as long as no other snapshot is made.
type Kept struct {
	fetch    Fetch
	snapshot *kept.Snapshot
}

// Kept returns what finds the content of the newest snapshot; nil if there is none.
func (w *World) Kept() *Kept {
	if w.base.fetch == nil || w.base.snapshot == nil {
		return nil
	}
	return &Kept{w.base.fetch, w.base.snapshot}
}

// Mark returns the hashes of the content that the snapshot needs: all nodes of its tries, states and work of cells, and what
// belongs to no cell. It reads every node.
func (k *Kept) Mark() (map[journal.Hash]bool, error) {
	needed := map[journal.Hash]bool{}
	err := k.snapshot.Mark(k.fetch, func(hash trie.Hash) bool {
		known := needed[journal.Hash(hash)]
		needed[journal.Hash(hash)] = true
		return !known
	})
	if err != nil {
		return nil, kept.Damaged(err)
	}
	return needed, nil
}
