package petri

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrNet is wrapped by what Build reports.
var ErrNet = errors.New("petri: bad net")

// Builder collects places and transitions and makes a Net of them. Methods record what is wrong instead of returning it, so
// that a net can be written down in one go; Build reports all of it. A Builder belongs to one goroutine. The zero value is
// not usable.
type Builder struct {
	net         *Net
	places      map[string]bool
	transitions map[string]bool
	errs        []error
}

// NewBuilder starts an empty net.
func NewBuilder() *Builder {
	return &Builder{net: &Net{}, places: map[string]bool{}, transitions: map[string]bool{}}
}

// Place adds a place that begins with that many tokens and returns its id.
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
// One without in could always fire, and is refused; one without out is an end. The slices are copied.
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

// Join makes a transition take n tokens, at least 1, from each of its places.
func (b *Builder) Join(id int32, n int) {
	if !b.known(id) {
		return
	}
	if n < 1 || n > math.MaxInt32 {
		b.fault("transition %q cannot take %d tokens", b.net.transitions[id].name, n)
		return
	}
	b.net.transitions[id].takes = int32(n)
}

// Gate makes a transition one that begins closed. The openers are the transitions whose firing can open it; outside says that
// somebody who is not part of the net can.
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

// Build gives the net and leaves the builder empty. The error joins everything that was wrong, in the order it was found; the
// net is then nil.
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

// arcs copies those that lead somewhere, each once.
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
