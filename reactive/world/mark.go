package world

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
)

// Kept finds the content that a world needs: of its newest snapshot, of the snapshot before, and the states spilled since. It does
// not follow the world: it may be used while the world continues, until the next snapshot.
type Kept struct {
	Before uint64 // sequence of the event of the snapshot before the newest; 0: none

	def     *machine.World
	start   *journal.Start
	fetch   Fetch
	newest  *kept.Snapshot // nil: none
	spilled []journal.Hash
}

// Kept returns a Kept for the content that the world needs, or nil if its store has no content.
func (w *World) Kept() *Kept {
	if w.base.fetch == nil {
		return nil
	}
	k := &Kept{def: w.def, start: w.root.Start(), fetch: w.base.fetch, newest: w.base.snapshot, spilled: w.SpilledStates()}
	if k.newest != nil {
		k.Before = k.newest.Before
	}
	return k
}

// Mark returns the hashes of the needed content: all nodes of the tries of the two snapshots, the states and work of cells, the
// cores and the events of open calls, and spilled states. before is the event of the snapshot before the newest, or nil. Mark reads
// every node once.
func (k *Kept) Mark(before *journal.Event) (map[journal.Hash]bool, error) {
	needed := map[journal.Hash]bool{}
	for _, hash := range k.spilled {
		needed[hash] = true
	}
	snapshots := []*kept.Snapshot{}
	if k.newest != nil {
		snapshots = append(snapshots, k.newest)
	}
	if before != nil {
		older, err := kept.SnapshotOf(k.def, k.start, before)
		if err != nil {
			return nil, err
		}
		snapshots = append(snapshots, older)
	}
	for _, s := range snapshots {
		if err := s.Mark(k.fetch, func(hash trie.Hash) bool {
			known := needed[journal.Hash(hash)]
			needed[journal.Hash(hash)] = true
			return !known
		}); err != nil {
			return nil, kept.Damaged(err)
		}
	}
	return needed, nil
}
