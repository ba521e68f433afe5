package kept

import (
	"bytes"
	"crypto/sha256"
	"math"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/index"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Draft is a snapshot that is not written yet: the changes since its base, an earlier snapshot. It shares the values of cells,
// which never change.
//
// The cells determine the other tries. So a draft has only changes of cells: for each cell that it replaces in the trie, it computes
// the old and the new deadlines and indexed values.
type Draft struct {
	Upto    uint64                // sequence of the last event in it
	Before  uint64                // sequence of the event of the base; 0: none
	Start   *journal.Start        // of the run
	Fetch   Fetch                 // reads the content of the base
	Base    Roots                 // of the base
	Changes []Change              // of cells
	Core    func() map[string]any // returns the parts that do not belong to a cell
	Calls   []journal.Event       // of open calls
}

// Change is a changed or deleted cell.
type Change struct {
	Machine *machine.Machine // its machine
	Key     value.Value      // in normal form
	Address string           // machine[key]
	Gone    bool             // the cell was deleted: ignore the following fields

	State value.Value           // nil: none, or it is content that Entry names
	Entry trie.Cell             // without key and work, and without a state that Write stores
	Work  func() map[string]any // nil: the cell is at rest
}

// Write writes the snapshot as content: states, work, the nodes of the tries above them, and all other state that a world needs. It
// returns the value of the event of the snapshot. It reads only earlier content, and may run concurrently with the world.
func (d *Draft) Write(put func(blobs [][]byte) error) (map[string]any, error) {
	w := &writing{Draft: d, batch: Batch{Put: put}}
	s := &Snapshot{Upto: d.Upto, Before: d.Before, Run: d.Start.Run, Manifest: d.Start.Workflow}
	var err error
	if s.Roots, err = w.roots(); err != nil {
		return nil, err
	}
	if s.Core, err = w.batch.Value(d.Core()); err != nil {
		return nil, err
	}
	if len(d.Calls) > 0 {
		if s.Calls, err = w.batch.Events(d.Calls); err != nil {
			return nil, err
		}
	}
	return s.value(), w.batch.Flush()
}

// writing is one Write of a draft.
type writing struct {
	*Draft
	batch     Batch
	deadlines []trie.Entry // changes of the trie of deadlines
}

// put puts a node.
func (w *writing) put(_ trie.Hash, node []byte) error { return w.batch.Add(node) }

// roots writes all tries and returns their roots.
func (w *writing) roots() (Roots, error) {
	roots := NoRoots()
	of := map[*machine.Machine][]*Change{}
	for i := range w.Changes {
		m := w.Changes[i].Machine
		of[m] = append(of[m], &w.Changes[i])
	}
	for m, had := range w.Base.Machines {
		roots.Machines[m] = had
	}
	for m, changes := range of {
		has, err := w.machine(m, changes)
		if err != nil {
			return roots, Damaged(err)
		}
		if roots.Machines[m] = has; has.Cells == trie.Empty {
			delete(roots.Machines, m)
		}
	}
	var err error
	roots.Deadlines, err = trie.Deadlines(w.Fetch.Node).Update(w.Base.Deadlines, settled(w.deadlines), w.put)
	if err != nil {
		return roots, Damaged(err)
	}
	return roots, nil
}

// replacement is a change of a cell, with its work and the old entry.
type replacement struct {
	*Change
	work map[string]any
	old  *trie.Cell // nil: none
}

// machine writes the cells of a machine, and their indexes. It adds the changes of their deadlines.
func (w *writing) machine(m *machine.Machine, changes []*Change) (has Machine, err error) {
	had := w.Base.Of(m)
	entries := make([]trie.Entry, len(changes))
	list := make([]replacement, len(changes))
	for i, ch := range changes {
		if ch.Entry.Key, err = machine.KeyBytes(m, ch.Key); err != nil {
			return has, err
		}
		list[i].Change = ch
		if entries[i], err = w.cell(&list[i]); err != nil {
			return has, err
		}
	}
	at := order(entries)
	next := 0
	has.Cells, err = w.Fetch.Cells().Replace(had.Cells, entries, w.put, func(old trie.Entry) error {
		for !bytes.Equal(entries[next].Path, old.Path) {
			next++
		}
		c, err := trie.DecodeCell(old.Data)
		list[at[next]].old = &c
		return err
	})
	if err != nil {
		return has, err
	}
	indexed := make([][]trie.Entry, len(m.Indexes))
	for i := range list {
		if err := w.time(&list[i]); err != nil {
			return has, err
		}
		if len(indexed) > 0 {
			if err := w.index(&list[i], indexed); err != nil {
				return has, err
			}
		}
	}
	has.Indexes = make([]trie.Hash, len(m.Indexes))
	for i := range m.Indexes {
		has.Indexes[i], err = trie.Index(w.Fetch.Node).Update(had.Indexes[i], settled(indexed[i]), w.put)
		if err != nil {
			return has, err
		}
	}
	return has, nil
}

// order sorts entries by path. It returns the earlier positions.
func order(entries []trie.Entry) []int {
	type placed struct {
		trie.Entry
		at int
	}
	list := make([]placed, len(entries))
	for i, e := range entries {
		list[i] = placed{e, i}
	}
	slices.SortFunc(list, func(a, b placed) int { return bytes.Compare(a.Path, b.Path) })
	at := make([]int, len(list))
	for i, e := range list {
		entries[i], at[i] = e.Entry, e.at
	}
	return at
}

// cell writes the state and the work of a cell, and returns its entry, or an entry that removes it.
func (w *writing) cell(r *replacement) (trie.Entry, error) {
	if r.Gone {
		path := sha256.Sum256(r.Entry.Key)
		return trie.Entry{Path: path[:]}, nil
	}
	var err error
	if r.State != nil {
		encoded, err := value.Encode(r.State)
		if err != nil {
			return trie.Entry{}, err
		}
		r.Entry.State, r.Entry.Size = sha256.Sum256(encoded), uint64(len(encoded))
		if err := w.batch.Add(encoded); err != nil {
			return trie.Entry{}, err
		}
	}
	if r.Work != nil {
		r.work = r.Work()
		if r.Entry.Work, err = w.batch.Value(r.work); err != nil {
			return trie.Entry{}, err
		}
	}
	return r.Entry.Entry(), nil
}

// time adds the changes of the deadlines of a cell.
func (w *writing) time(r *replacement) error {
	if old := r.old; old != nil {
		if end := Expires(r.Machine, old); end != 0 {
			w.deadlines = append(w.deadlines, removed(endOf(end, r.Address)))
		}
		if old.Work != (trie.Hash{}) {
			v, err := w.Fetch.Value(old.Work)
			if err != nil {
				return err
			}
			timers, err := timersIn(v, r.Address)
			if err != nil {
				return err
			}
			for _, d := range timers {
				w.deadlines = append(w.deadlines, removed(d))
			}
		}
	}
	if r.Gone {
		return nil
	}
	if end := Expires(r.Machine, &r.Entry); end != 0 {
		w.deadlines = append(w.deadlines, endOf(end, r.Address).Entry())
	}
	if r.work == nil {
		return nil
	}
	timers, err := timersIn(r.work, r.Address)
	for i := range timers {
		w.deadlines = append(w.deadlines, timers[i].Entry())
	}
	return err
}

// Expires returns the instant at which a cell of a snapshot reaches the end of its time to live, or 0: only a cell with a state
// and without work expires.
func Expires(m *machine.Machine, c *trie.Cell) int64 {
	if c.State == (trie.Hash{}) || c.Work != (trie.Hash{}) {
		return 0
	}
	return After(m, c.LastActive)
}

// After returns the instant at which a cell at rest reaches the end of its time to live, or 0.
func After(m *machine.Machine, active int64) int64 {
	ttl := int64(m.TTL)
	if ttl == 0 || active > math.MaxInt64-ttl {
		return 0
	}
	return max(1, active+ttl)
}

func endOf(due int64, address string) *trie.Deadline {
	return &trie.Deadline{Due: due, Order: trie.LastOrder, Cell: address}
}

// removed returns the change that removes a deadline.
func removed(d *trie.Deadline) trie.Entry {
	m := d.Moment()
	return trie.Entry{Path: m[:]}
}

// index adds the changes of the indexes of a cell. It computes no values if the state is unchanged.
func (w *writing) index(r *replacement, indexed [][]trie.Entry) error {
	var had trie.Hash
	if r.old != nil {
		had = r.old.State
	}
	if has := r.Entry.State; !r.Gone && had == has {
		return nil
	}
	before, err := w.indexed(r, nil, had)
	if err != nil {
		return err
	}
	now := make([]trie.Hash, len(indexed))
	if !r.Gone {
		if now, err = w.indexed(r, r.State, r.Entry.State); err != nil {
			return err
		}
	}
	for i := range indexed {
		if before[i] == now[i] {
			continue
		}
		if x := (trie.Indexed{Value: before[i], Key: r.Entry.Key}); x.Value != (trie.Hash{}) {
			indexed[i] = append(indexed[i], trie.Entry{Path: x.Entry().Path})
		}
		if x := (trie.Indexed{Value: now[i], Key: r.Entry.Key}); x.Value != (trie.Hash{}) {
			indexed[i] = append(indexed[i], x.Entry())
		}
	}
	return nil
}

// indexed returns the values of a cell in its indexes for a state. If state is nil, it reads the state with the hash.
func (w *writing) indexed(r *replacement, state value.Value, hash trie.Hash) (values []trie.Hash, err error) {
	if state == nil && hash != (trie.Hash{}) {
		if state, err = w.Fetch.Value(hash); err != nil {
			return nil, err
		}
	}
	return index.Values(r.Machine, state, r.Key), nil
}

// settled sorts changes. Of several changes of one path, it keeps the one that adds, if there is one.
func settled(changes []trie.Entry) []trie.Entry {
	slices.SortFunc(changes, func(a, b trie.Entry) int { return bytes.Compare(a.Path, b.Path) })
	kept := changes[:0]
	for _, c := range changes {
		last := len(kept) - 1
		switch {
		case last < 0 || !bytes.Equal(kept[last].Path, c.Path):
			kept = append(kept, c)
		case c.Data != nil:
			kept[last] = c
		}
	}
	return kept
}
