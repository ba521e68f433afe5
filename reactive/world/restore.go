package world

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Upto returns the sequence of the last event in the snapshot of an event, or 0 if the event is of no snapshot.
func Upto(e *journal.Event) uint64 { return numberIn(e, "upto") }

// Before returns the sequence of the event of the base of a snapshot, or 0 if there was none. The two snapshots share content,
// and both are kept.
func Before(e *journal.Event) uint64 { return numberIn(e, "before") }

func numberIn(e *journal.Event, name string) uint64 {
	if e.Type != journal.WorldSnapshotted {
		return 0
	}
	of, _ := value.Of(e.Value)
	m, _ := of.(map[string]any)
	n, _ := m[name].(int64)
	return uint64(n)
}

// snapshotted makes a snapshot the base of the world. Cells that have not changed since need no longer be in memory.
func (w *World) snapshotted(e *journal.Event) {
	s, err := kept.SnapshotOf(w.def, w.root.Start(), e)
	if err != nil {
		w.fail(err)
		return
	}
	if s.Upto < w.base.upto {
		return // a newer one was faster
	}
	w.calls.Rebase(s.Upto)
	w.base.upto, w.base.seq, w.base.snapshot = s.Upto, e.Seq, s
	for address, c := range w.dirty {
		if c.changed <= s.Upto {
			delete(w.dirty, address)
			w.release(c)
		}
	}
	if w.base.fetch != nil {
		w.base.roots = s.Roots
		w.intents.agenda.Rebase(s.Roots.Deadlines, w.changed)
		w.evict()
	}
}

// Restore restores the state of the world from the event of a snapshot. The root must have applied only the first event of the
// run. Restore returns the sequence of the last event in the snapshot; the next event follows it. Errors wrap
// journal.ErrDamaged if content is missing or has changed.
func (w *World) Restore(e *journal.Event) (upto uint64, err error) {
	s, err := kept.SnapshotOf(w.def, w.root.Start(), e)
	if err != nil {
		return 0, err
	}
	at := *e
	at.Seq = s.Upto
	w.event = &at
	w.base.roots, w.base.upto, w.base.seq, w.base.snapshot = s.Roots, s.Upto, e.Seq, s
	w.intents.agenda.Restore(s.Roots.Deadlines)
	if err := (&restoration{World: w, snapshot: s}).run(); err != nil {
		return 0, kept.Damaged(err)
	}
	return s.Upto, w.err
}

// restoration restores a world.
type restoration struct {
	*World
	thaw
	snapshot *kept.Snapshot
	core     map[string]any
}

func (w *restoration) run() error {
	if err := w.snapshot.Has(w.base.fetch); err != nil {
		return err
	}
	v, err := w.base.fetch.Value(w.snapshot.Core)
	if err != nil {
		return err
	}
	w.core = w.Object(v)
	var open []*intent
	for _, address := range w.List(w.core["awake"]) {
		more, err := w.wake(w.Text(address))
		if err != nil {
			return err
		}
		open = append(open, more...)
	}
	if err := w.reopen(open); err != nil {
		return err
	}
	for _, c := range w.cells {
		w.read(c)
	}
	w.restoreCore()
	w.calls.Resume(w.snapshot.Upto, w.Int(w.core["at"]))
	w.calls.Rebase(w.snapshot.Upto)
	w.delta.before = w.root.Bytes()
	return w.thaw.Err
}

// wake reads a cell that is not at rest.
func (w *restoration) wake(address string) ([]*intent, error) {
	m, key, err := w.def.ParseAddress(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", trie.ErrDamaged, err)
	}
	place, _, err := path(m, key)
	if err != nil {
		return nil, err
	}
	data, ok, err := w.base.fetch.Cells().Get(w.base.roots.Of(m).Cells, place)
	if err == nil && !ok {
		err = fmt.Errorf("%w: cell %s is not there", trie.ErrDamaged, address)
	}
	if err != nil {
		return nil, err
	}
	c := &cell{machine: m, key: key, address: address}
	w.cells[address] = c
	return c.thaw(data, w.base.fetch, w.def.Effect)
}

// thaw restores a cell from its entry. It returns the intents, which are not open yet.
func (c *cell) thaw(data []byte, fetch Fetch, effect func(string) *machine.Effect) (open []*intent, err error) {
	entry, err := trie.DecodeCell(data)
	if err != nil {
		return nil, err
	}
	c.active, c.last, c.completed = entry.LastActive, entry.LastSeq, c.machine.Process && entry.Status == trie.Completed
	c.changed = entry.LastSeq
	if entry.State != (trie.Hash{}) {
		if c.state, err = fetch.Value(entry.State); err != nil {
			return nil, err
		}
		c.size = int(entry.Size)
	}
	if entry.Work == (trie.Hash{}) {
		return nil, nil
	}
	v, err := fetch.Value(entry.Work)
	if err != nil {
		return nil, err
	}
	r := &thaw{}
	work := r.Object(v)
	if r.Err != nil {
		return nil, r.Err
	}
	return c.thawWork(work, effect)
}

// reopen opens intents again, in their order, and applies the events of their calls.
func (w *restoration) reopen(open []*intent) error {
	slices.SortFunc(open, func(a, b *intent) int { return cmp.Compare(a.order, b.order) })
	for _, flag := range []struct {
		name  string
		as    journal.Type
		cause string
	}{{"stopped", journal.RunPaused, ""}, {"above", journal.RunPaused, journal.ParentRun(w.root.Start().Run)}} {
		if w.core[flag.name] == true {
			w.calls.Restore(&journal.Event{Type: flag.as, Detail: &journal.Detail{Cause: flag.cause}})
		}
	}
	for _, x := range open {
		if x.effect != nil {
			x.node = w.calls.Open(int32(x.effect.Site), x.key)
		}
		w.intents.put(x)
	}
	if w.snapshot.Calls != (trie.Hash{}) {
		if err := w.redo(w.snapshot.Calls); err != nil {
			return err
		}
	}
	for _, key := range w.List(w.core["granted"]) {
		if x := w.intents.byKey[w.Text(key)]; w.Has(x != nil && x.effect != nil) {
			w.calls.Grant(x.node)
		}
	}
	return nil
}

// redo applies the events of open calls.
func (w *restoration) redo(calls trie.Hash) error {
	data, err := w.base.fetch(journal.Hash(calls))
	if err != nil {
		return err
	}
	codec := journal.Codec{}
	events, err := codec.DecodeAll(nil, data)
	if err != nil {
		return fmt.Errorf("%w: %w", trie.ErrDamaged, err)
	}
	for i := range events {
		e := &events[i]
		w.calls.Restore(e)
		w.intents.keep(e)
	}
	return nil
}

// restoreCore restores the result of freezeCore in the world.
func (w *restoration) restoreCore() {
	w.intents.opened = uint64(w.Int(w.core["opened"]))
	t := w.List(w.core["tally"])
	for i, n := range []*int{&w.tally.Messages, &w.tally.Stepped, &w.tally.Ignored, &w.tally.Failed, &w.tally.Faults, &w.tally.Dropped, &w.tally.Gaps} {
		if w.Has(i < len(t)) {
			*n = int(w.Int(t[i]))
		}
	}
	w.recent.Restore(w.core["ids"], &w.Reader)
	for _, v := range w.List(w.core["faults"]) {
		if f := w.List(v); w.Has(len(f) == 3) {
			if c := w.cells[w.Text(f[0])]; w.Has(c != nil) {
				w.faults.add(fault{cell: c, seq: uint64(w.Int(f[1])), failure: w.Failure(f[2])})
			}
		}
	}
	for _, v := range w.List(w.core["turns"]) {
		if c := w.cells[w.Text(v)]; w.Has(c != nil) {
			w.ring.Put(c)
		}
	}
}

// thaw reads the content of frozen cells and the core.
type thaw struct{ kept.Reader }

func (r *thaw) item(v value.Value) *item {
	l := r.List(v)
	if !r.Has(len(l) == 5) {
		return &item{}
	}
	return &item{seq: uint64(r.Int(l[0])), depth: int(r.Int(l[1])), event: machine.Event{
		Kind: machine.EventKind(r.Int(l[2])), Name: r.Text(l[3]), Value: l[4],
	}}
}

func (r *thaw) intent(c *cell, v value.Value, effect func(string) *machine.Effect) *intent {
	m := r.Object(v)
	x := &intent{cell: c, key: r.Text(m[kept.Key]), emitted: uint64(r.Int(m["emitted"])), order: uint64(r.Int(m[kept.Order]))}
	name, isCall := m["effect"]
	if !isCall {
		x.timer, x.due = r.Text(m[kept.Timer]), r.Int(m[kept.Due])
		return x
	}
	x.effect = effect(r.Text(name))
	r.Has(x.effect != nil)
	x.id, x.params, x.issuer, x.asked = r.Text(m["id"]), m["params"], r.Text(m["issuer"]), r.Text(m["asked"])
	x.signed = m["signature"]
	if f := m["fault"]; f != nil {
		x.fault = r.Failure(f)
	}
	if reported := m["frames"]; reported != nil {
		x.frames = map[string]frames{}
		for participant, v := range r.Object(reported) {
			if l := r.List(v); r.Has(len(l) == 2) {
				x.frames[participant] = frames{attempt: int32(r.Int(l[0])), number: int32(r.Int(l[1]))}
			}
		}
	}
	return x
}
