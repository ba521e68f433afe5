// Package turns implements a round-robin queue: ready takers have turns in the order in which they became ready.
package turns

// Taker takes turns. It loses its place when it is no longer ready, and has a new one at the end when it is ready again.
type Taker interface {
	comparable
	Place() *Place // always the same
	Ready() bool   // it has something to do and is not held
}

// Place is the place of a taker in a ring. The zero value is no place.
type Place struct{ ticket uint64 }

// Leave frees the place. After a turn, the next place is behind all other ready takers.
func (p *Place) Leave() { p.ticket = 0 }

// Ring holds takers with places. The zero value is empty. Next passes over places of takers that cannot act now; these remain
// the first.
type Ring[T Taker] struct {
	passed  []entry[T] // passed over, in order; they precede all others
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

// Put adds a ready taker without a place, and removes a taker that is not ready.
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

// Empty reports whether no taker has a place. Trim must be called after a taker left its place.
func (r *Ring[T]) Empty() bool { return len(r.passed) == 0 && r.first == len(r.entries) }

// Next returns the first taker for which lacks returns false, and passes over those before it. It reports false if there is
// none.
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

// TurnAgain returns passed-over takers to their places.
func (r *Ring[T]) TurnAgain() {
	if len(r.passed) > 0 {
		r.entries, r.first, r.passed = append(r.passed, r.entries[r.first:]...), 0, nil
	}
}

// All yields the takers with places, in the order of their turns.
func (r *Ring[T]) All(yield func(T) bool) {
	for _, list := range [][]entry[T]{r.passed, r.entries[r.first:]} {
		for i := range list {
			if !list[i].void() && !yield(list[i].of) {
				return
			}
		}
	}
}

// trimMin is the minimum number of free entries before Trim moves the others.
const trimMin = 64

// Trim removes void entries from the front, so that the ring is not empty only if a taker has a place. It moves the others when
// half of the room is free.
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
