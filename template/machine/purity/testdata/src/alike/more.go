package alike

import (
	"math/big"
	"slices"
	"sort"

	"helper/deep"

	"github.com/sluiceflow/sluice/template/flow/machine"
)

type set map[string]bool

func (s set) add(name string) { s[name] = true }

func tally(m map[string]int, name string) { m[name]++ }

var _ = machine.Define("fills a set by a method", "1", func(a *Act, s *State, e Event) (*State, error) {
	names, sum := set{}, new(big.Int)
	for k, n := range e.Count {
		names.add(k)
		tally(s.Count, k)
		sum.Add(sum, big.NewInt(int64(n)))
	}
	return &State{N: len(names), Text: sum.String()}, nil
})

var _ = machine.Define("places that are sorted after", "1", func(a *Act, s *State, e Event) (*State, error) {
	keys, i := make([]string, len(e.Count)), 0
	for k := range e.Count {
		keys[i] = k
		i++
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return &State{Names: keys}, nil
})

var _ = machine.Define("list by key", "1", func(a *Act, s *State, e Event) (*State, error) {
	lists := map[string][]string{}
	for k, n := range e.Count {
		list := lists[k]
		for range n {
			list = append(list, k)
		}
		lists[k] = list
	}
	return s, nil
})

func sorted[M ~map[string]V, V any](m M) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

var _ = machine.Define("generic map", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Names: sorted(e.Count)}, nil
})

type queue[T any] struct{ list []T }

func (q *queue[T]) push(v T) { q.list = append(q.list, v) }

var _ = machine.Define("method of a generic type", "1", func(a *Act, s *State, e Event) (*State, error) {
	var q queue[string]
	for _, name := range s.Names {
		q.push(name)
	}
	return &State{Names: q.list}, nil
})

var standing deep.Clock = deep.Fixed{}

var _ = machine.Define("interface in a variable", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: standing.Time().Second()}, nil
})

var _ = machine.Define("labels and switches", "1", func(a *Act, s *State, e Event) (*State, error) {
each:
	for k, n := range e.Count {
		switch {
		case n < 0:
			break
		case n == 0:
			continue each
		}
		for _, name := range s.Names {
			if name == k {
				break
			}
			s.N += n
		}
	}
	return s, nil
})

type rule interface{ applies(int) bool }

type above int

func (a above) applies(n int) bool { return n > int(a) }

var _ = machine.Define("interface", "1", func(a *Act, s *State, e Event) (*State, error) {
	for _, r := range []rule{above(3), above(4)} {
		if r.applies(s.N) {
			s.N--
		}
	}
	return s, nil
})

var _ = machine.Define("copies of a range", "1", func(a *Act, s *State, e Event) (*State, error) {
	next := *s
	next.Count = map[string]int{}
	for k, n := range s.Count {
		if _, ok := e.Count[k]; ok {
			n += e.Count[k]
		}
		next.Count[k] = n
	}
	return &next, nil
})
