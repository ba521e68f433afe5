package scenario

import (
	"crypto/sha256"
	"errors"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// Snapshots of the run of a world. Their content is kept in memory like the journal; both survive a crash of the engine.

// errBudget ends a snapshot that exceeds the rest of the budget. The exceeded budget then fails the scenario.
var errBudget = errors.New("the budget has no room for the content")

// snapshot requests a snapshot of the scenario's own run in its next turn.
func (g *execution) snapshot(e *entry) {
	if g.main().world() == nil {
		g.differ(g.place, snapshotKey, "a world", "only worlds have snapshots", nil)
		return
	}
	g.main().snapshotDue = g.reply(g.main(), e)
}

// takeSnapshot stores the state of the world if a snapshot is due, and returns the item that journals the snapshot.
func (t *track) takeSnapshot() (it decide.Item, due bool) {
	if t.snapshotDue == nil {
		return it, false
	}
	it.Reply, t.snapshotDue = t.snapshotDue, nil
	e, err := world.Of(t.root).Freeze().Write(t.storeBlobs)
	if err != nil {
		if !t.execution.exceeded() {
			t.execution.fail(snapshotKey, "a snapshot", err.Error())
		}
		return it, false
	}
	it.Event = e
	return it, true
}

// storeBlobs stores blobs by their hashes.
func (t *track) storeBlobs(blobs [][]byte) error {
	b := &t.execution.budget
	for _, blob := range blobs {
		hash := sha256.Sum256(blob)
		b.work += eventWork + len(blob)/textBytes
		if _, known := t.content[hash]; !known {
			t.content[hash] = blob
			b.bytes += len(blob)
		}
	}
	if b.bytes > b.bytesMax || b.work > b.workMax {
		return errBudget
	}
	return nil
}

// loadBlob returns the blob with that hash.
func (t *track) loadBlob(hash journal.Hash) ([]byte, error) {
	blob, ok := t.content[hash]
	if !ok {
		return nil, journal.ErrNotFound
	}
	t.execution.budget.work += eventWork + len(blob)/textBytes
	return blob, nil
}

// restore applies the journal to a new root: the events after the newest snapshot, or all if there is no snapshot. It returns their
// number.
func (t *track) restore() (applied int, err error) {
	w, from := world.Of(t.root), 0
	if w != nil {
		w.Content(t.loadBlob, 0, world.Cache{})
		if newest, _ := t.world().Snapshot(false); newest > 0 {
			first := t.journal[0]
			t.root.Apply(&first)
			upto, err := w.Restore(&t.journal[newest-1])
			if err != nil {
				return 1, err
			}
			from = int(upto)
		} else {
			t.restoreFirstStates()
		}
	}
	for _, e := range t.journal[from:] {
		t.root.Apply(&e)
	}
	if w != nil {
		err = w.Err()
	}
	return len(t.journal) - from, err
}
