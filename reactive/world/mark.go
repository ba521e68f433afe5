package world

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// Kept finds the content that a world needs: that of its newest snapshot, and the states that it has put there since. It does not follow the world: it may be used while that goes
// on, as long as no other snapshot is made.
type Kept struct {
	fetch    Fetch
	snapshot *kept.Snapshot // nil: there is none
	spilled  []journal.Hash
}

// Kept returns what finds the content that the world needs; nil if its store keeps none.
func (w *World) Kept() *Kept {
	if w.base.fetch == nil {
		return nil
	}
	return &Kept{w.base.fetch, w.base.snapshot, w.SpilledStates()}
}

// Mark returns the hashes of the content that is needed: all nodes of the tries of the snapshot, states and work of cells, and what
// belongs to no cell; and states that were spilled. It reads every node.
func (k *Kept) Mark() (map[journal.Hash]bool, error) {
	needed := map[journal.Hash]bool{}
	for _, hash := range k.spilled {
		needed[hash] = true
	}
	if k.snapshot == nil {
		return needed, nil
	}
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
