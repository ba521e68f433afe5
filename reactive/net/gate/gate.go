package gate

import (
	"slices"

	"github.com/sluiceflow/sluice/signals"
)

// Verdict is the result of judging a token at a gate.
type Verdict struct {
	Allow bool   // it may pass
	Rule  int    // index of the deciding rule; -1: none
	Err   string // error of the evaluation
}

// Judge decides which tokens may pass a gate.
type Judge[T any] interface {
	// Judge returns the current verdict.
	Judge(t T) Verdict

	// Changed is called with a new verdict about a token at a gate, before Look calls moved.
	Changed(t T, v Verdict)

	// Compare compares two tokens, for their order.
	Compare(a, b T) int
}

// Gates hold the denied tokens. Make them with New. Their errors are from package signals: only a defect of the caller or of
// that package causes them.
type Gates[T comparable] struct {
	judge   Judge[T]
	graph   *signals.Graph
	keys    map[string]*signals.Signal[uint64] // by key of the context: a number that grows with every write
	any     *signals.Signal[uint64]            // a number that grows with every write of any key
	touched []string
	waiting map[T]*signals.Scope
	moved   []T // tokens whose verdict has changed
}

// New returns empty gates with signals of a graph.
func New[T comparable](graph *signals.Graph, judge Judge[T]) *Gates[T] {
	return &Gates[T]{
		judge: judge, graph: graph, keys: map[string]*signals.Signal[uint64]{}, any: signals.NewSignal[uint64](graph, 0),
		waiting: map[T]*signals.Scope{},
	}
}

// Add puts a token with a known verdict at a gate. The token is judged again when one of the keys is written or, if all is
// true, when any key is written.
func (g *Gates[T]) Add(t T, known Verdict, keys []string, all bool) error {
	reads := []*signals.Signal[uint64]{g.any}
	if !all {
		reads = reads[:0]
		for _, k := range keys {
			reads = append(reads, g.key(k))
		}
	}
	sc, err := g.graph.Scope(func(own *signals.Scope) error {
		verdicts := signals.NewComputed(g.graph, func(r signals.Reader) (Verdict, error) {
			for _, k := range reads {
				k.Get(r)
			}
			return g.judge.Judge(t), nil
		})
		_, err := own.Effect(func(r signals.Reader) error {
			v, err := verdicts.Get(r)
			if v != known {
				known = v
				g.judge.Changed(t, v)
				g.moved = append(g.moved, t)
			}
			return err
		})
		return err
	})
	g.waiting[t] = sc
	return err
}

func (g *Gates[T]) key(k string) *signals.Signal[uint64] {
	if g.keys[k] == nil {
		g.keys[k] = signals.NewSignal[uint64](g.graph, 0)
	}
	return g.keys[k]
}

// Touch records that a key of the context was written.
func (g *Gates[T]) Touch(k string) {
	if len(g.waiting) > 0 {
		g.touched = append(g.touched, k)
	}
}

// Look judges the tokens whose keys were written, and calls moved, in order, for each token whose verdict has changed. It skips
// tokens that moved has removed.
func (g *Gates[T]) Look(moved func(t T)) error {
	if len(g.touched) == 0 {
		return nil
	}
	err := g.graph.Batch(func() error {
		for _, k := range g.touched {
			if s := g.keys[k]; s != nil {
				s.Set(g.any.Peek() + 1)
			}
		}
		g.any.Set(g.any.Peek() + 1)
		return nil
	})
	g.touched = g.touched[:0]
	slices.SortFunc(g.moved, g.judge.Compare)
	for _, t := range g.moved {
		if g.waiting[t] != nil {
			moved(t)
		}
	}
	g.moved = g.moved[:0]
	return err
}

// Remove removes a token from its gate.
func (g *Gates[T]) Remove(t T) error {
	sc := g.waiting[t]
	delete(g.waiting, t)
	return sc.Dispose()
}

// Len returns the number of tokens at gates.
func (g *Gates[T]) Len() int { return len(g.waiting) }

// All returns the tokens at gates, in order.
func (g *Gates[T]) All() []T {
	list := make([]T, 0, len(g.waiting))
	for t := range g.waiting {
		list = append(list, t)
	}
	slices.SortFunc(list, g.judge.Compare)
	return list
}

// Clear removes all tokens and discards recorded writes.
func (g *Gates[T]) Clear() error {
	var first error
	for _, t := range g.All() {
		if err := g.Remove(t); first == nil {
			first = err
		}
	}
	g.touched, g.moved = nil, nil
	return first
}
