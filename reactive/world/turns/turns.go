// Package turns is a round-robin queue: takers that are ready get turns in the order in which they became ready.
package turns

// Taker takes turns. It loses its place when it is held or has nothing to do any more, and gets one at the end when it goes on.
type Taker interface {
	comparable
	Place() *Place // the same each time
	Ready() bool   // it has something to do and is not held
}

// Place is the place of a taker in a ring. The zero value is none.
type Place struct{ ticket uint64 }

// Leave frees the place. After a turn, the next place is behind all other takers that are ready.
func (p *Place) Leave() { p.ticket = 0 }

// Ring holds those that take turns. The zero value is empty. A place whose taker cannot act now is passed over: see Next. Which
// places those are is no part of a ring's meaning, since they are still the first.
type Ring[T Taker] struct {
	passed  []entry[T] // passed over, in order: they come before all others
	entries []entry[T]
	first   int
	tickets uint64
}

// entry is void if its taker has another ticket.
type entry[T Taker] struct {
	of     T
	ticket uint64
}

func (e *entry[T]) void() bool { return e.ticket != e.of.Place().ticket }

// Put adds a taker that is ready and has no place, and removes one that is not ready.
func (r *Ring[T]) Put(of T) {
	switch p := of.Place(); {
	case !of.Ready():
		p.Leave()
	case p.ticket == 0:
		r.tickets++
		p.ticket = r.tickets
		r.entries = append(r.entries, entry[T]{of, p.ticket})
	}
}

// Empty reports whether no one has a place. Trim must have been called since a place was left.
func (r *Ring[T]) Empty() bool { return len(r.passed) == 0 && r.first == len(r.entries) }

// Next returns the taker whose turn it is, and skips those that lacks reports; false: no other has anything to do.
func (r *Ring[T]) Next(lacks func(T) bool) (of T, ok bool) {
	for r.first < len(r.entries) {
		e := &r.entries[r.first]
		if !e.void() {
			if !lacks(e.of) {
				return e.of, true
			}
			r.passed = append(r.passed, *e)
		}
		*e = entry[T]{}
		r.first++
	}
	r.Trim()
	return of, false
}

// TurnAgain returns the takers that were passed over to their places.
func (r *Ring[T]) TurnAgain() {
	if len(r.passed) > 0 {
		r.entries, r.first, r.passed = append(r.passed, r.entries[r.first:]...), 0, nil
	}
}

// All yields those that have a place, in the order of their turns.
func (r *Ring[T]) All(yield func(T) bool) {
	for _, list := range [][]entry[T]{r.passed, r.entries[r.first:]} {
		for i := range list {
			if !list[i].void() && !yield(list[i].of) {
				return
			}
		}
	}
}

// trimMin is how many entries are free at least before the others are moved.
const trimMin = 64

// Trim removes void places from the front, so that a place is left only if one has something to do. The others are moved when half
// of the room is free.
func (r *Ring[T]) Trim() {
	for len(r.passed) > 0 && r.passed[0].void() {
		r.passed[0] = entry[T]{}
		r.passed = r.passed[1:]
	}
	for r.first < len(r.entries) && r.entries[r.first].void() {
		r.entries[r.first] = entry[T]{}
		r.first++
	}
	if r.first == len(r.entries) {
		r.entries, r.first = r.entries[:0], 0
	}
	if r.first > trimMin && r.first > len(r.entries)/2 {
		n := copy(r.entries, r.entries[r.first:])
		clear(r.entries[n:])
		r.entries, r.first = r.entries[:n], 0
	}
}
