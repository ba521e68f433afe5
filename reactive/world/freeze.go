package world

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// When a snapshot is due.
const (
	SnapshotEvents = 10_000   // events since the newest
	SnapshotBytes  = 16 << 20 // of their values
)

// Snapshot is the state of a world at a moment, to be kept as content while the world goes on. It shares the values that cells
// have, which never change.
type Snapshot struct {
	upto     uint64
	before   uint64 // sequence of the event of the snapshot that it changes; 0: there was none
	manifest string
	fetch    Fetch
	machines []frozen
	core     map[string]any
	calls    []journal.Event
}

// frozen holds the cells of a machine that have changed since the snapshot before.
type frozen struct {
	machine *machine.Machine
	root    trie.Hash // of the snapshot before
	changes []change
}

// change is a cell that has changed, or is gone.
type change struct {
	path  []byte
	entry trie.Cell // without hashes
	state value.Value
	work  map[string]any // nil: none
	gone  bool
}

// Freeze returns a snapshot of the world as it is: it costs as much as the cells that have changed since the newest snapshot
// and those that are not at rest. It returns nil if the run's store keeps no content.
func (w *World) Freeze() *Snapshot {
	if w.base.fetch == nil {
		return nil
	}
	s := &Snapshot{upto: w.root.Seq(), before: w.base.seq, manifest: w.root.Plan().Hash, fetch: w.base.fetch}
	changes := map[*machine.Machine][]change{}
	for _, address := range slices.Sorted(maps.Keys(w.dirty)) {
		c := w.dirty[address]
		changes[c.machine] = append(changes[c.machine], c.freeze())
	}
	for _, m := range w.def.Machines {
		if root := w.base.root(m); len(changes[m]) > 0 || root != trie.Empty {
			s.machines = append(s.machines, frozen{m, root, changes[m]})
		}
	}
	s.core = freezeCore(w)
	for _, x := range w.intents.inOrder() {
		s.calls = append(s.calls, x.events...)
	}
	slices.SortFunc(s.calls, func(a, b journal.Event) int { return int(int64(a.Seq) - int64(b.Seq)) })
	return s
}

// freeze returns a cell as it is now.
func (c *cell) freeze() change {
	place, key, _ := path(c.machine, c.key) // it has an address, so its key has an encoding
	ch := change{path: place, state: c.state, gone: c.gone()}
	ch.entry = trie.Cell{Key: key, LastActive: c.active, LastSeq: c.last, Status: statusNumbers[c.status()], Generation: 1}
	if !c.idle() {
		ch.work = c.freezeWork()
	}
	return ch
}

// statusNumbers are the numbers of the statuses in entries.
var statusNumbers = map[Status]trie.Status{
	Running: trie.Running, Waiting: trie.Waiting, Completed: trie.Completed, Failed: trie.Failed,
}

// Write puts the snapshot into content: states, the nodes of the tries above them, and what else a world needs to go on. It
// returns the event that makes the snapshot count. It only reads what was kept before, and may run beside the world.
func (s *Snapshot) Write(put func(blobs [][]byte) error) (journal.Event, error) {
	b := &kept.Batch{Put: put}
	roots := map[string]any{}
	for i := range s.machines {
		f := &s.machines[i]
		root, err := f.write(s.fetch, b)
		if err != nil {
			return journal.Event{}, err
		}
		roots[f.machine.Name] = kept.HashText(root)
	}
	v := map[string]any{"upto": int64(s.upto), "manifest": s.manifest, "roots": roots}
	core, err := b.Value(s.core)
	if err != nil {
		return journal.Event{}, err
	}
	v["core"] = kept.HashText(core)
	if s.before > 0 {
		v["before"] = int64(s.before)
	}
	if len(s.calls) > 0 {
		calls, err := b.Events(s.calls)
		if err != nil {
			return journal.Event{}, err
		}
		v["calls"] = kept.HashText(calls)
	}
	return journal.Event{Type: journal.WorldSnapshotted, Value: v}, b.Flush()
}

// write puts the cells of a machine and the nodes above them.
func (f *frozen) write(fetch Fetch, b *kept.Batch) (trie.Hash, error) {
	slices.SortFunc(f.changes, func(a, b change) int { return bytes.Compare(a.path, b.path) })
	entries := make([]trie.Entry, len(f.changes))
	for i := range f.changes {
		ch := &f.changes[i]
		entries[i].Path = ch.path
		if ch.gone {
			continue
		}
		if err := ch.put(b); err != nil {
			return trie.Hash{}, err
		}
		entries[i] = ch.entry.Entry()
	}
	root, err := fetch.Tries().Update(f.root, entries, func(hash trie.Hash, node []byte) error { return b.Add(node) })
	if err != nil {
		return root, kept.Damaged(err)
	}
	return root, nil
}

// put puts the state and the work of a cell, and completes its entry.
func (ch *change) put(b *kept.Batch) (err error) {
	if ch.state != nil {
		encoded, err := value.Encode(ch.state)
		if err != nil {
			return err
		}
		ch.entry.State, ch.entry.Size = sha256.Sum256(encoded), uint64(len(encoded))
		if err := b.Add(encoded); err != nil {
			return err
		}
	}
	if ch.work != nil {
		ch.entry.Work, err = b.Value(ch.work)
	}
	return err
}
