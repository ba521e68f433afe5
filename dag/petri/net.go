package petri

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// ErrDisabled is wrapped by the errors of Fire and means that the transition is not enabled.
var ErrDisabled = errors.New("petri: transition is not enabled")

// Net is an immutable place/transition net, made by a Builder. It is safe for concurrent use.
//
// Invariants:
//  1. Names are unique among places, and among transitions.
//  2. Inputs and outputs of a transition are places of the net, each at most once.
//  3. takes is at least 1; initial is at least 0.
//  4. consumers and producers hold the same arcs as the transitions, rising.
type Net struct {
	places      []place
	transitions []transition
}

type place struct {
	name      string
	initial   int32
	consumers []int32
	producers []int32
}

type transition struct {
	name    string
	in, out []int32
	takes   int32 // tokens from each input
	gate    bool
	outside bool    // the gate can be opened from outside
	openers []int32 // transitions whose firing can open the gate
}

// Marking is the number of tokens in each place, by id: the state of a play. It belongs to one goroutine.
type Marking []int32

// Total returns the number of tokens in all places.
func (m Marking) Total() int {
	n := 0
	for _, tokens := range m {
		n += int(tokens)
	}
	return n
}

// Places returns the number of places; ids are [0, Places).
func (n *Net) Places() int { return len(n.places) }

// Transitions returns the number of transitions; ids are [0, Transitions).
func (n *Net) Transitions() int { return len(n.transitions) }

// Place returns the name of a place.
func (n *Net) Place(id int32) string { return n.places[id].name }

// Transition returns the name of a transition.
func (n *Net) Transition(id int32) string { return n.transitions[id].name }

// In returns the places that a transition takes tokens from, in the order given. The slice belongs to the net.
func (n *Net) In(id int32) []int32 { return n.transitions[id].in }

// Out returns the places that a transition puts tokens into, in the order given. The slice belongs to the net.
func (n *Net) Out(id int32) []int32 { return n.transitions[id].out }

// Takes returns the number of tokens that a transition takes from each of its places: 1, or more for a join.
func (n *Net) Takes(id int32) int { return int(n.transitions[id].takes) }

// IsGate reports whether a transition may be closed although it is enabled.
func (n *Net) IsGate(id int32) bool { return n.transitions[id].gate }

// Consumers returns the transitions that take tokens from a place, in ascending order. The slice belongs to the net.
func (n *Net) Consumers(id int32) []int32 { return n.places[id].consumers }

// Producers returns the transitions that put tokens into a place, in ascending order. The slice belongs to the net.
func (n *Net) Producers(id int32) []int32 { return n.places[id].producers }

// Initial returns the initial marking, as a copy that belongs to the caller.
func (n *Net) Initial() Marking {
	m := make(Marking, len(n.places))
	for i := range n.places {
		m[i] = n.places[i].initial
	}
	return m
}

// Enabled reports whether each place of a transition has the tokens that it takes.
func (n *Net) Enabled(m Marking, id int32) bool {
	t := &n.transitions[id]
	for _, p := range t.in {
		if m[p] < t.takes {
			return false
		}
	}
	return true
}

// AllEnabled yields the enabled transitions in ascending order. The marking must not change until the loop ends.
func (n *Net) AllEnabled(m Marking) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for id := range int32(len(n.transitions)) {
			if n.Enabled(m, id) && !yield(id) {
				return
			}
		}
	}
}

// Fire removes the tokens that a transition takes from m and adds one to each place it puts into. If the transition is not
// enabled, Fire changes nothing and returns an error that wraps ErrDisabled.
func (n *Net) Fire(m Marking, id int32) error {
	if !n.Enabled(m, id) {
		return fmt.Errorf("fire %q: %w", n.transitions[id].name, ErrDisabled)
	}
	t := &n.transitions[id]
	for _, p := range t.in {
		m[p] -= t.takes
	}
	for _, p := range t.out {
		m[p]++
	}
	return nil
}

// check returns every invariant that does not hold.
func (n *Net) check() error {
	var errs []error
	fault := func(number int, format string, args ...any) {
		errs = append(errs, fmt.Errorf("invariant %d: %s", number, fmt.Sprintf(format, args...)))
	}
	names := map[string]bool{}
	for i, p := range n.places {
		if names["p"+p.name] {
			fault(1, "two places %q", p.name)
		}
		names["p"+p.name] = true
		if p.initial < 0 {
			fault(3, "place %q begins with %d tokens", p.name, p.initial)
		}
		var consumers, producers []int32
		for id := range n.transitions {
			if slices.Contains(n.transitions[id].in, int32(i)) {
				consumers = append(consumers, int32(id))
			}
			if slices.Contains(n.transitions[id].out, int32(i)) {
				producers = append(producers, int32(id))
			}
		}
		if !slices.Equal(consumers, p.consumers) || !slices.Equal(producers, p.producers) {
			fault(4, "arcs of place %q", p.name)
		}
	}
	for _, t := range n.transitions {
		if names["t"+t.name] {
			fault(1, "two transitions %q", t.name)
		}
		names["t"+t.name] = true
		for _, arcs := range [][]int32{t.in, t.out} {
			sorted := slices.Sorted(slices.Values(arcs))
			if len(slices.Compact(sorted)) != len(arcs) || slices.ContainsFunc(arcs, func(p int32) bool { return int(p) >= len(n.places) || p < 0 }) {
				fault(2, "arcs of transition %q", t.name)
			}
		}
		if t.takes < 1 {
			fault(3, "transition %q takes %d tokens", t.name, t.takes)
		}
	}
	return errors.Join(errs...)
}
