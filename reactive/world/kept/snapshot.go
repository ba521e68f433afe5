package kept

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Roots are the roots of the tries of a snapshot.
type Roots struct {
	Machines  map[*machine.Machine]Machine // machines that have had cells
	Deadlines trie.Hash                    // timers, and ends of times to live
}

// Machine has the roots of the tries of a machine.
type Machine struct {
	Cells   trie.Hash   // of all cells
	Indexes []trie.Hash // in the order of the machine's indexes
}

// NoRoots are the roots of a world without cells.
func NoRoots() Roots {
	return Roots{Machines: map[*machine.Machine]Machine{}, Deadlines: trie.Empty}
}

// Of returns the roots of a machine.
func (r *Roots) Of(m *machine.Machine) Machine {
	if roots, ok := r.Machines[m]; ok {
		return roots
	}
	roots := Machine{Cells: trie.Empty, Indexes: make([]trie.Hash, len(m.Indexes))}
	for i := range roots.Indexes {
		roots.Indexes[i] = trie.Empty
	}
	return roots
}

// Snapshot is the value of a world.snapshotted event.
type Snapshot struct {
	Upto     uint64    // sequence of the last event in it
	Before   uint64    // sequence of the event of its base; 0: none
	Run      string    // id of the run; "": written by an earlier program without this field
	Manifest string    // hash of the workflow
	Roots    Roots     // of its tries
	Core     trie.Hash // of the parts that do not belong to a cell
	Calls    trie.Hash // of the events of open calls; zero: none
}

// The keys of the value.
const (
	upto      = "upto"
	before    = "before" // absent in the first snapshot
	run       = "run"
	manifest  = "manifest"
	roots     = "roots"     // by name of the machine
	indexes   = "indexes"   // by name of the machine and name of the index; absent if no machine with cells has indexes
	deadlines = "deadlines" // absent if there are none
	core      = "core"
	calls     = "calls" // absent if no call is open
)

// value returns the value of the event.
func (s *Snapshot) value() map[string]any {
	v := map[string]any{upto: int64(s.Upto), run: s.Run, manifest: s.Manifest, core: HashText(s.Core)}
	ofCells, ofIndexes := map[string]any{}, map[string]any{}
	for m, of := range s.Roots.Machines {
		ofCells[m.Name] = HashText(of.Cells)
		byName := map[string]any{}
		for i := range m.Indexes {
			byName[m.Indexes[i].Name] = HashText(of.Indexes[i])
		}
		if len(byName) > 0 {
			ofIndexes[m.Name] = byName
		}
	}
	v[roots] = ofCells
	if s.Before > 0 {
		v[before] = int64(s.Before)
	}
	if len(ofIndexes) > 0 {
		v[indexes] = ofIndexes
	}
	if s.Roots.Deadlines != trie.Empty {
		v[deadlines] = HashText(s.Roots.Deadlines)
	}
	if s.Calls != (trie.Hash{}) {
		v[calls] = HashText(s.Calls)
	}
	return v
}

// SnapshotOf returns the snapshot of an event of a run with the given start. The error wraps journal.ErrDamaged if the event is
// of another run, or cannot be at its place in the journal.
func SnapshotOf(def *machine.World, start *journal.Start, e *journal.Event) (*Snapshot, error) {
	of, _ := value.Of(e.Value)
	s, err := readSnapshot(def, of)
	switch {
	case err != nil:
	case s.Run != "" && s.Run != start.Run:
		err = fmt.Errorf("the snapshot is of run %s", s.Run)
	case s.Manifest != start.Workflow:
		err = fmt.Errorf("the snapshot is of workflow %s, and the run of %s", s.Manifest, start.Workflow)
	case s.Upto == 0 || s.Upto >= e.Seq || s.Before > e.Seq:
		err = fmt.Errorf("the snapshot is as of event %d, and follows that of event %d", s.Upto, s.Before)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: event %d: %w", journal.ErrDamaged, e.Seq, err)
	}
	return s, nil
}

// readSnapshot reads the value of the event.
func readSnapshot(def *machine.World, of value.Value) (*Snapshot, error) {
	r := &Reader{}
	m := r.Object(of)
	s := &Snapshot{Upto: uint64(r.Int(m[upto])), Manifest: r.Text(m[manifest]), Roots: NoRoots(), Core: r.Hash(m[core])}
	var ofIndexes map[string]any
	if v, has := m[indexes]; has {
		ofIndexes = r.Object(v)
	}
	for name, hash := range r.Object(m[roots]) {
		of := def.Machine(name)
		if of == nil {
			return s, fmt.Errorf("%w: it has cells of a machine %q", ErrForm, name)
		}
		machine := Machine{Cells: r.Hash(hash), Indexes: make([]trie.Hash, len(of.Indexes))}
		if len(of.Indexes) > 0 {
			byName := r.Object(ofIndexes[name])
			for i := range of.Indexes {
				machine.Indexes[i] = r.Hash(byName[of.Indexes[i].Name])
			}
		}
		s.Roots.Machines[of] = machine
	}
	if v, has := m[run]; has {
		s.Run = r.Text(v)
		r.Has(s.Run != "")
	}
	if v, has := m[before]; has {
		s.Before = uint64(r.Int(v))
	}
	if v, has := m[deadlines]; has {
		s.Roots.Deadlines = r.Hash(v)
	}
	if v, has := m[calls]; has {
		s.Calls = r.Hash(v)
	}
	return s, r.Err
}

// Has returns an error unless the roots of all tries exist, so that a missing root is detected at once, not at its first use.
func (s *Snapshot) Has(fetch Fetch) error {
	_, err := trie.Deadlines(fetch.Node).Count(s.Roots.Deadlines)
	for _, of := range s.Roots.Machines {
		if err == nil {
			_, err = fetch.Cells().Count(of.Cells)
		}
		for _, root := range of.Indexes {
			if err == nil {
				_, err = trie.Index(fetch.Node).Count(root)
			}
		}
	}
	return err
}

// Mark calls visit with the hash of all content that the snapshot needs: the nodes of its tries, states and work of cells, the core,
// and the events of open calls. If visit returns false for a node, Mark skips the nodes and entries below it. Mark reads every other
// node.
func (s *Snapshot) Mark(fetch Fetch, visit func(trie.Hash) bool) error {
	visit(s.Core)
	if s.Calls != (trie.Hash{}) {
		visit(s.Calls)
	}
	leaf := func(trie.Entry) error { return nil }
	err := trie.Deadlines(fetch.Node).Mark(s.Roots.Deadlines, visit, leaf)
	for _, of := range s.Roots.Machines {
		if err == nil {
			err = fetch.Cells().Mark(of.Cells, visit, func(e trie.Entry) error {
				c, err := trie.DecodeCell(e.Data)
				visit(c.State)
				visit(c.Work)
				return err
			})
		}
		for _, root := range of.Indexes {
			if err == nil {
				err = trie.Index(fetch.Node).Mark(root, visit, leaf)
			}
		}
	}
	return err
}
