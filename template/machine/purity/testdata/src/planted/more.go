package planted

import (
	"fmt"
	"sync"
	"time"

	"helper/deep"

	"github.com/sluiceflow/sluice/template/flow/machine"
)

type stack[T any] struct{ list []T }

func (s *stack[T]) push(v T) int {
	s.list = append(s.list, v)
	return time.Now().Second() // want `machine "method of a generic type" is impure: time.Now depends on the clock at more.go:\d+:\d+, reached by way of stack.push`
}

var _ = machine.Define("method of a generic type", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: new(stack[int]).push(3)}, nil
})

var wallClock deep.Clock = deep.Wall{} // want `machine "interface in a variable" is impure: time.Now depends on the clock at helper/deep/deep.go:\d+:\d+, reached by way of variable wallClock \(more.go:\d+:\d+\), deep.Wall.Time`

var _ = machine.Define("interface in a variable", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: wallClock.Time().Second()}, nil
})

func clocks() map[string]deep.Clock {
	return map[string]deep.Clock{"wall": deep.Wall{}} // want `machine "interface in a map" is impure: time.Now depends on the clock at helper/deep/deep.go:\d+:\d+, reached by way of clocks \(more.go:\d+:\d+\), deep.Wall.Time`
}

var _ = machine.Define("interface in a map", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: clocks()["wall"].Time().Second()}, nil
})

var explicit = machine.Define[State, Event, string]("method expression", "1", func(a *Act, s *State, e Event) (*State, error) {
	return (*desk).later(&desk{}, s)
})

func (*desk) later(s *State) (*State, error) {
	<-time.After(1) // want `machine "method expression" is impure: a receive from a channel` `machine "method expression" is impure: time.After depends on the clock`
	return s, nil
}

var define = machine.Define[State, Event, string] // want `Define is used as a value, so what it is given cannot be followed; call it`

func list[M ~map[K]V, K comparable, V any](m M) (keys []K) {
	for k := range m {
		keys = append(keys, k) // want `machine "generic map" is impure: .* it appends to keys, which is not sorted after it`
	}
	return keys
}

var _ = machine.Define("generic map", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Names: list(e.Count)}, nil
})

var _ = machine.Define("field that counts", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k := range e.Count {
		s.N++
		s.Count[k] = s.N // want `machine "field that counts" is impure: .* it reads s.N, which the entries before have changed`
	}
	return s, nil
})

var _ = machine.Define("each by a function", "1", func(a *Act, s *State, e Event) (*State, error) {
	each(e.Count, func(k string) { s.Names = append(s.Names, k) })
	return s, nil
})

func each(m map[string]int, f func(string)) {
	for k := range m {
		f(k) // want `machine "each by a function" is impure: .* it calls f for each entry at`
	}
}

var once sync.Once

var _ = machine.Define("once", "1", func(a *Act, s *State, e Event) (*State, error) {
	once.Do(func() { s.N++ }) // want `machine "once" is impure: sync.Once.Do synchronises goroutines`
	return s, nil
})

var _ = machine.Define("local zone", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local).Hour()}, nil // want `machine "local zone" is impure: time.Local depends on the time zones of the host`
})

var kept *Act

var _ = machine.Define("kept activation", "1", func(a *Act, s *State, e Event) (*State, error) {
	kept = a // want `machine "kept activation" is impure: the function literal changes the package variable kept`
	return s, nil
})

func even(n int) bool { return n == 0 || odd(n-1) }

func odd(n int) bool {
	fmt.Print(n) // want `machine "recursion" is impure: fmt.Print writes output or logs at more.go:\d+:\d+, reached by way of even \(more.go:\d+:\d+\), odd`
	return n != 0 && even(n-1)
}

var _ = machine.Define("recursion", "1", func(a *Act, s *State, e Event) (*State, error) {
	return s, map[bool]error{even(s.N): nil}[true]
})

type shop struct{ served int }

func (p *shop) define() *machine.Definition {
	return machine.Define("captured receiver", "1", func(a *Act, s *State, e Event) (*State, error) {
		p.served++ // want `machine "captured receiver" is impure: the function literal shares the variable p with later activations, and it is changed`
		return s, nil
	})
}

func register(name string, c deep.Clock) *machine.Definition {
	return machine.Define(name, "1", func(a *Act, s *State, e Event) (*State, error) {
		return &State{N: c.Time().Second()}, nil
	})
}

var _ = register("captured interface", deep.Wall{}) // want `what is given to register: "captured interface" is impure: time.Now depends on the clock at helper/deep/deep.go:\d+:\d+, reached by way of deep.Wall.Time`

func local() {
	var c deep.Clock = deep.Wall{} // want `machine "local interface" is impure: time.Now depends on the clock at helper/deep/deep.go`
	machine.Define("local interface", "1", func(a *Act, s *State, e Event) (*State, error) { return at(s, c) })
}

var _ = explicit
