package world

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/template/machine"
)

// Invariants returns an error for every invariant of a world that does not hold.
func Invariants(w *World) error {
	var broken []error
	is := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Errorf(format, args...))
		}
	}
	w.existing(is)
	w.turning(is)
	w.opened(is)
	w.timed(is)
	w.counted(is)
	w.failing(is)
	return errors.Join(broken...)
}

type assert = func(ok bool, format string, args ...any)

// existing: cells outside of cells have nothing, and cells in it are found by address.
func (w *World) existing(is assert) {
	for address, c := range w.cells {
		is(!c.gone(), "1: nothing is left of cell %s", address)
		is(address == c.address && address == machine.Address(c.machine, c.key), "1: cell %s is at %s", c.address, address)
	}
	for address, c := range w.dirty {
		is(w.cells[address] == c || c.gone(), "1: cell %s has changed and is not in memory", address)
	}
}

// turning: a cell is in the ring once if it has mail and is not held, else it is not.
func (w *World) turning(is assert) {
	turns := map[*cell]int{}
	for c := range w.ring.All {
		turns[c]++
		is(w.cells[c.address] == c, "2: cell %s has a turn and is not there", c.address)
	}
	for address, c := range w.cells {
		want := 0
		if c.mail.Len() > 0 && !c.held() && !w.stopped {
			want = 1
		}
		is(turns[c] == want, "2: cell %s has %d turns, not %d", address, turns[c], want)
	}
}

// opened: every open call and every armed timer is an intent of one cell, of its machine.
func (w *World) opened(is assert) {
	seen := map[*intent]bool{}
	for address, c := range w.cells {
		n := 0
		for x := c.open.first; x != nil; x = x.after {
			n++
			is(!seen[x], "3: intent %s has two cells", x.key)
			seen[x] = true
			is(x.cell == c, "3: intent %s is open in cell %s and belongs to %s", x.key, address, x.cell.address)
			is(w.intents.byKey[x.key] == x, "3: intent %s is not found", x.key)
			if x.effect != nil {
				is(c.machine.MayEmit(x.effect.Name), "3: intent %s is none of its machine", x.key)
				v, open := w.root.Node(x.key)
				is(open && v == x.node && w.intents.byNode[v] == x, "3: intent %s has no call", x.key)
				is(!w.root.Final(x.node), "3: the call of intent %s has ended", x.key)
			}
		}
		is(n == c.open.n, "3: cell %s has %d intents, and counts %d", address, n, c.open.n)
	}
	is(len(seen) == len(w.intents.byKey), "3: %d intents of cells, and %d known", len(seen), len(w.intents.byKey))
	for _, req := range w.root.OpenCalls() {
		is(seen[w.intents.byNode[req.Node]], "3: call %s is no intent of a cell", w.root.Key(req.Node))
	}
}

// timed: the agenda has the timers and the ends of all cells that have changed; without content, of all cells and no others. The
// next deadline is not later than any of them.
func (w *World) timed(is assert) {
	if w.stopped {
		return
	}
	first, n := w.next(), 0
	note := func(c *cell, due int64, what string) {
		n++
		is(first != nil && first.Due <= due, "4: %s of cell %s comes before what is next", what, c.address)
	}
	for _, c := range w.cells {
		for x := c.open.first; x != nil; x = x.after {
			if !x.isCall() {
				note(c, x.due, "a timer")
			}
		}
		if due := c.expires(); due > 0 {
			note(c, due, "the end")
		}
	}
	has := w.intents.agenda.Len()
	is(w.base.fetch != nil || has == n, "4: %d deadlines are known, and cells have %d", has, n)
}

// counted: with content, exactly the cells that have changed since the newest snapshot are dirty, and exactly the bytes of their
// states are counted.
func (w *World) counted(is assert) {
	if w.base.fetch == nil {
		return
	}
	bytes := 0
	for address, c := range w.dirty {
		bytes += c.bytes
		is(c.changed > w.base.upto, "5: cell %s has changed at %d, and is dirty after a snapshot of %d", address, c.changed, w.base.upto)
	}
	is(bytes == w.delta.bytes, "5: the states of dirty cells take %d bytes, and %d are counted", bytes, w.delta.bytes)
	is(w.delta.before == w.root.Bytes(), "5: the tail has %d bytes, and %d are known", w.root.Bytes(), w.delta.before)
	for address, c := range w.cells {
		is(c.bytes == 0 || w.dirty[address] == c, "5: cell %s is not dirty, and %d bytes of it are counted", address, c.bytes)
		is(w.dirty[address] == c || c.changed <= w.base.upto, "5: cell %s has changed at %d, and is not dirty", address, c.changed)
		is(c.changed >= c.last, "5: cell %s has changed at %d, before its activation %d", address, c.changed, c.last)
		is((c.size > 0) == (c.state != nil), "5: the state of cell %s takes %d bytes of memory", address, c.size)
		is(c.state == nil || c.away == nil, "5: the state of cell %s is in memory and away", address)
	}
	for address, c := range w.delta.large {
		is(w.dirty[address] == c && c.bytes > w.delta.stateMax, "5: cell %s is large, with %d bytes", address, c.bytes)
	}
}

// failing: a cell that has completed or lost its state has no intents, and a cell that must fail is in faults.
func (w *World) failing(is assert) {
	for address, c := range w.cells {
		is(!c.completed || c.open.n == 0, "6: cell %s has completed and has intents", address)
		is(c.hasState() || c.open.n == 0, "6: cell %s has no state and has intents", address)
		is(c.aside == nil || c.failure != nil, "6: cell %s has something aside and has not failed", address)
		is(c.faulty == slices.ContainsFunc(w.faults, func(f fault) bool { return f.cell == c }), "6: whether cell %s is to fail", address)
	}
}
