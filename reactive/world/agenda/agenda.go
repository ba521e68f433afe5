// Package agenda holds the deadlines of a world's cells: their timers, and the ends of their times to live.
//
//	now ──▶ soon ─────────────── from ─────────────────────────▶
//	        in memory            only in the trie of the newest snapshot
//	        + all deadlines of the cells that have changed since
//
// Memory holds the next deadlines of the newest snapshot. When they have passed, the agenda reads as many more. So the memory of
// an agenda depends on the next deadlines and the cells that have changed since the snapshot, not on the number of deadlines.
package agenda

import (
	"container/heap"
	"slices"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// Window is the number of deadlines that are read from a snapshot at a time.
const Window = 1024

// Agenda holds the deadlines of a world.
//
// Invariants:
//  1. Each deadline of a cell that has changed since the newest snapshot is in memory.
//  2. Each deadline of another cell that comes before from is in memory. If more is false, all of them are.
type Agenda struct {
	Window int // replaces the constant if greater than 0

	queue queue
	known map[id]*entry
	root  trie.Hash   // of the newest snapshot
	from  trie.Moment // moment from which deadlines of unchanged cells are only in the trie
	more  bool        // there are such deadlines
	read  int         // number of deadlines read from tries
}

// id identifies the subject of a deadline: a timer, by its key, or a cell's time to live, by the cell.
type id struct {
	name string
	ends bool
}

func idOf(d *trie.Deadline) id {
	if d.Node == "" {
		return id{d.Cell, true}
	}
	return id{d.Node, false}
}

type entry struct {
	trie.Deadline
	place int // in the queue
}

// Put adds a deadline. It replaces an earlier one of the same timer, or of the end of the same cell.
func (a *Agenda) Put(d trie.Deadline) {
	of := idOf(&d)
	if e := a.known[of]; e != nil {
		if e.Due != d.Due {
			e.Deadline = d
			heap.Fix(&a.queue, e.place)
		}
		return
	}
	if a.known == nil {
		a.known = map[id]*entry{}
	}
	e := &entry{Deadline: d}
	a.known[of] = e
	heap.Push(&a.queue, e)
}

// RemoveTimer removes a timer from memory, if present.
func (a *Agenda) RemoveTimer(node string) { a.remove(id{node, false}) }

// RemoveEnd removes the end of the time to live of a cell from memory, if present.
func (a *Agenda) RemoveEnd(cell string) { a.remove(id{cell, true}) }

func (a *Agenda) remove(of id) {
	if e := a.known[of]; e != nil {
		delete(a.known, of)
		heap.Remove(&a.queue, e.place)
	}
}

// Len returns the number of deadlines in memory.
func (a *Agenda) Len() int { return len(a.queue) }

// Read returns the number of deadlines read from tries.
func (a *Agenda) Read() int { return a.read }

// Restore resets the agenda to the deadlines of a snapshot, with none in memory.
func (a *Agenda) Restore(root trie.Hash) {
	*a = Agenda{Window: a.Window, root: root, more: root != trie.Empty, read: a.read}
}

// Rebase makes a snapshot the newest. changed reports whether a cell has changed since. Late deadlines of other cells leave memory
// if they are many.
func (a *Agenda) Rebase(root trie.Hash, changed func(cell string) bool) {
	a.root = root
	var kept []*entry
	for _, e := range a.queue {
		if !changed(e.Cell) {
			kept = append(kept, e)
		}
	}
	if len(kept) <= 2*a.window() {
		return
	}
	slices.SortFunc(kept, func(x, y *entry) int { return trie.CompareDeadlines(&x.Deadline, &y.Deadline) })
	if from := kept[a.window()].Moment(); !a.more || from.Compare(&a.from) < 0 {
		a.from, a.more = from, true
	}
	for _, e := range kept[a.window():] {
		if m := e.Moment(); m.Compare(&a.from) >= 0 {
			a.remove(idOf(&e.Deadline))
		}
	}
}

func (a *Agenda) window() int {
	if a.Window > 0 {
		return a.Window
	}
	return Window
}

// First returns the next deadline, or nil. If necessary, it reads more deadlines of the snapshot, except those of cells changed
// since. The caller must not change the result.
func (a *Agenda) First(fetch func(trie.Hash) ([]byte, error), changed func(cell string) bool) (*trie.Deadline, error) {
	for a.more && !a.soon() {
		if err := a.fill(fetch, changed); err != nil {
			return nil, err
		}
	}
	if len(a.queue) == 0 {
		return nil, nil
	}
	return &a.queue[0].Deadline, nil
}

// soon reports whether the first deadline in memory precedes all deadlines that are only in the trie.
func (a *Agenda) soon() bool {
	if len(a.queue) == 0 {
		return false
	}
	m := a.queue[0].Moment()
	return m.Compare(&a.from) < 0
}

// fill reads the next deadlines of the snapshot.
func (a *Agenda) fill(fetch func(trie.Hash) ([]byte, error), changed func(cell string) bool) error {
	n := 0
	from := a.from
	for e, err := range trie.Deadlines(fetch).Walk(a.root, from[:], nil) {
		if err != nil {
			return err
		}
		if n == a.window() {
			copy(a.from[:], e.Path)
			return nil
		}
		d, err := trie.DecodeDeadline(e.Data)
		if err != nil {
			return err
		}
		n++
		a.read++
		if !changed(d.Cell) {
			a.Put(d)
		}
	}
	a.more = false
	return nil
}

// queue is a heap of deadlines, each with its place in the heap. It implements heap.Interface.
type queue []*entry

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool {
	return trie.CompareDeadlines(&q[i].Deadline, &q[j].Deadline) < 0
}

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.place = len(*q)
	*q = append(*q, e)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}
