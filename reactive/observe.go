package reactive

import (
	"errors"

	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/plan"
)

// Signals are a root's statuses as signals, for programs that derive values and effects from them. A signal is made when
// it is first asked for and costs nothing before; after that, an event that changes a node writes its signal, all changes
// of one event as one batch. They are owned by the goroutine that owns the root.
type Signals struct {
	root     *Root
	graph    *signals.Graph
	statuses map[int32]*signals.Signal[Status]
	pending  []int32 // nodes whose signals are to be written
	err      error
}

// Signals gives the root's signals; all calls give the same.
func (r *Root) Signals() *Signals {
	if r.signals == nil {
		r.signals = &Signals{root: r, graph: signals.New(), statuses: map[int32]*signals.Signal[Status]{}}
	}
	return r.signals
}

// Graph is the graph that the signals live in: where effects on them are made, and disposed of.
func (s *Signals) Graph() *signals.Graph { return s.graph }

// Status is the signal of a node's status.
func (s *Signals) Status(v int32) *signals.Signal[Status] {
	if s.statuses[v] == nil {
		s.statuses[v] = signals.NewSignal(s.graph, s.root.Status(v))
	}
	return s.statuses[v]
}

// Ready is whether a node may start and has its slots.
func (s *Signals) Ready(v int32) *signals.Computed[bool] {
	status := s.Status(v)
	return signals.NewComputed(s.graph, func(r signals.Reader) (bool, error) { return status.Get(r) == Ready, nil })
}

// Result is the output of a node once it has completed; nil before.
func (s *Signals) Result(v int32) *signals.Computed[any] {
	status := s.Status(v)
	never := func(a, b any) bool { return false }
	return signals.NewComputedFunc(s.graph, never, func(r signals.Reader) (any, error) {
		if status.Get(r) != Completed {
			return nil, nil
		}
		return s.root.Output(v), nil
	})
}

// changed notes a node whose signal, if it has one, is to be written.
func (s *Signals) changed(v int32) {
	if s.statuses[v] != nil {
		s.pending = append(s.pending, v)
	}
}

// Err is what effects on the signals have returned for the events so far, joined. A root goes on without regard to it.
func (s *Signals) Err() error { return s.err }

// flush writes the signals of what an event has changed.
func (s *Signals) flush() {
	if len(s.pending) == 0 {
		return
	}
	err := s.graph.Batch(func() error {
		for _, v := range s.pending {
			if err := s.statuses[v].Set(s.root.Status(v)); err != nil {
				return err
			}
		}
		return nil
	})
	s.pending = s.pending[:0]
	s.err = errors.Join(s.err, err)
}

// Preconditions reports whether everything a node needs is completed or skipped. A node without predecessors has
// nothing to wait for.
func (r *Root) Preconditions(v int32) bool {
	gate := plan.Unsatisfied
	if r.row(v).Kind == plan.Gate {
		gate = plan.Unsettled
	}
	return r.bank.Count(v, gate) == 0
}

// BlockedByFailure gives the predecessors whose failure keeps a node from ever starting, and the conditional around it if
// that has failed; empty when nothing does. For a conditional these are only what its test does not catch.
func (r *Root) BlockedByFailure(v int32) []int32 {
	var causes []int32
	row := r.row(v)
	for _, p := range r.plan.Predecessors(r.bank.Row(v)) {
		u := r.beside(v, p)
		if r.bank.Output(u)&plan.ShowsBlocked == 0 || r.settles(u, v) {
			continue
		}
		if row.Kind != plan.Gate || !r.catches(v, u) {
			causes = append(causes, u)
		}
	}
	if row.Gate >= 0 && r.branch(v) == broken {
		causes = append(causes, r.beside(v, row.Gate))
	}
	return causes
}
