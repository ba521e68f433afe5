package world

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// Snapshot is the state of a world at a moment, for writing as content while the world continues. It shares the values of
// cells, which never change.
type Snapshot struct{ draft kept.Draft }

// Freeze returns a snapshot of the current state. It copies the cells that have changed since the newest snapshot, and the kept
// state of open calls; Write does the rest. It returns nil if the run's store has no content.
func (w *World) Freeze() *Snapshot {
	if w.base.fetch == nil {
		return nil
	}
	s := &Snapshot{kept.Draft{
		Upto: w.root.Seq(), Before: w.base.seq, Start: w.root.Start(), Fetch: w.base.fetch, Base: w.base.roots,
		Changes: make([]kept.Change, 0, len(w.dirty)), Core: w.freezeCore(),
	}}
	for _, c := range w.dirty {
		s.draft.Changes = append(s.draft.Changes, c.freeze())
	}
	for _, x := range w.intents.byNode {
		s.draft.Calls = append(s.draft.Calls, x.events...)
	}
	return s
}

// freeze returns the current state of a cell as a change.
func (c *cell) freeze() kept.Change {
	ch := kept.Change{Machine: c.machine, Key: c.key, Address: c.address, State: c.state, Gone: c.gone()}
	ch.Entry = trie.Cell{LastActive: c.active, LastSeq: c.last, Status: statusNumbers[c.status()], Generation: 1}
	if c.away != nil {
		ch.Entry.State, ch.Entry.Size = c.away.hash, c.away.size
	}
	if !c.idle() {
		ch.Work = c.copied().freezeWork
	}
	return ch
}

// copied returns an independent copy of a cell.
func (c *cell) copied() *cell {
	of := *c
	of.mail = mailbox{items: slices.Clone(c.mail.items[c.mail.first:])}
	of.open = openList{}
	for x := c.open.first; x != nil; x = x.after {
		y := *x
		y.frames = maps.Clone(x.frames)
		of.open.add(&y)
	}
	return &of
}

// statusNumbers are the numbers of the statuses in entries.
var statusNumbers = map[Status]trie.Status{
	Running: trie.Running, Waiting: trie.Waiting, Completed: trie.Completed, Failed: trie.Failed,
}

// Write writes the snapshot as content: states, the nodes of the tries above them, and all other state that a world needs. It
// returns the event to append for the snapshot. It reads only earlier content, and may run concurrently with the world.
func (s *Snapshot) Write(put func(blobs [][]byte) error) (journal.Event, error) {
	slices.SortFunc(s.draft.Calls, func(a, b journal.Event) int { return int(int64(a.Seq) - int64(b.Seq)) })
	v, err := s.draft.Write(put)
	return journal.Event{Type: journal.WorldSnapshotted, Value: v}, err
}
