package petri

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrNet is an error that every error of Build wraps.
var ErrNet = errors.New("petri: bad net")

// Builder collects places and transitions and makes a Net of them. Its methods record faults and Build returns them, so the
// calls need no error checks. A Builder belongs to one goroutine. The zero value is not usable.
type Builder struct {
	net         *Net
	places      map[string]bool
	transitions map[string]bool
	errs        []error
}

// NewBuilder returns a Builder of an empty net.
func NewBuilder() *Builder {
	return &Builder{net: &Net{}, places: map[string]bool{}, transitions: map[string]bool{}}
}

// Place adds a place with a number of initial tokens, 0 to 2³¹−1, and returns its id. Names are unique among places.
func (b *Builder) Place(name string, tokens int) int32 {
	id := int32(len(b.net.places))
	b.unique(b.places, "place", name)
	if tokens < 0 || tokens > math.MaxInt32 {
		b.fault("place %q cannot begin with %d tokens", name, tokens)
		tokens = 0
	}
	b.net.places = append(b.net.places, place{name: name, initial: int32(tokens)})
	return id
}

// Transition adds a transition that takes a token from each place of in and puts one into each of out, and returns its id.
// Names are unique among transitions. A transition without in could always fire and is a fault; one without out is an end.
// The slices are copied.
func (b *Builder) Transition(name string, in, out []int32) int32 {
	id := int32(len(b.net.transitions))
	b.unique(b.transitions, "transition", name)
	if len(in) == 0 {
		b.fault("transition %q takes nothing", name)
	}
	t := transition{name: name, takes: 1, in: b.arcs(name, "from", in), out: b.arcs(name, "to", out)}
	for _, p := range t.in {
		b.net.places[p].consumers = append(b.net.places[p].consumers, id)
	}
	for _, p := range t.out {
		b.net.places[p].producers = append(b.net.places[p].producers, id)
	}
	b.net.transitions = append(b.net.transitions, t)
	return id
}

// JoinMax is the largest number of tokens that a transition takes from one place.
const JoinMax = math.MaxInt32

// Join makes a transition take n tokens, 1 to JoinMax, from each of its places.
func (b *Builder) Join(id int32, n int) {
	if !b.known(id) {
		return
	}
	if n < 1 || n > JoinMax {
		b.fault("transition %q cannot take %d tokens", b.net.transitions[id].name, n)
		return
	}
	b.net.transitions[id].takes = int32(n)
}

// Gate makes a transition a gate, which is closed at first. Firing one of openers can open it; if outside is true, it can also
// be opened from outside the net.
func (b *Builder) Gate(id int32, outside bool, openers ...int32) {
	if !b.known(id) {
		return
	}
	for _, opener := range openers {
		if !b.known(opener) {
			return
		}
	}
	t := &b.net.transitions[id]
	t.gate, t.outside, t.openers = true, outside, slices.Clone(openers)
}

// Build returns the net and leaves the builder empty. If there were faults, Build returns a nil net and an error that joins
// them in the order in which they were found.
func (b *Builder) Build() (*Net, error) {
	defer func() { *b = *NewBuilder() }()
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	return b.net, nil
}

func (b *Builder) fault(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf("%w: %s", ErrNet, fmt.Sprintf(format, args...)))
}

func (b *Builder) unique(names map[string]bool, what, name string) {
	if names[name] {
		b.fault("two %ss %q", what, name)
	}
	names[name] = true
}

func (b *Builder) known(id int32) bool {
	if id < 0 || int(id) >= len(b.net.transitions) {
		b.fault("there is no transition %d", id)
		return false
	}
	return true
}

// arcs returns a copy of places without unknown ids and duplicates, and records these as faults.
func (b *Builder) arcs(name, direction string, places []int32) []int32 {
	arcs := make([]int32, 0, len(places))
	for _, p := range places {
		switch {
		case p < 0 || int(p) >= len(b.net.places):
			b.fault("transition %q leads %s place %d, which is none", name, direction, p)
		case slices.Contains(arcs, p):
			b.fault("transition %q leads %s place %q twice", name, direction, b.net.places[p].name)
		default:
			arcs = append(arcs, p)
		}
	}
	return arcs
}
