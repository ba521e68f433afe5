package live

import (
	"errors"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/value"
)

// Signals presents the state of a root as signals, for programs that derive values and effects from them. The signals of a
// step are made when they are first requested; after that, an event that changes the step writes them, and all changes of
// one event are one batch. Signals are owned by the goroutine that owns the root, and only journaled events write them.
type Signals struct {
	root    *reactive.Root
	graph   *signals.Graph
	steps   map[string]*StepSignals // by key
	pending []*StepSignals          // changed, not written yet
	routed  []*StepSignals          // in a playbook: its steps, which are not nodes
	err     error
}

// StepSignals are the signals of one step, map, item or conditional, by its key. A node that does not exist yet, such as an
// item of a map that is not expanded, has the status Absent. In a playbook's run, they are the signals of a step by its name:
// the status is the status of its newest step-run, and there are no preconditions.
type StepSignals struct {
	Status           *signals.Computed[reactive.Status] // Absent until it exists
	Ready            *signals.Computed[bool]            // it may start, and has its slots
	Result           *signals.Computed[any]             // its output, a value of package value, once it has completed; nil before
	Preconditions    *signals.Computed[bool]            // all nodes that it needs are completed or skipped
	BlockedByFailure *signals.Computed[bool]            // a node that it needs has failed or was aborted, and no test catches that

	key                   string
	pending               bool
	status                *signals.Signal[reactive.Status]
	result                *signals.Signal[any]
	preconditions, blocks *signals.Signal[bool]
}

// Of returns the signals of a root, always the same.
func Of(root *reactive.Root) *Signals {
	if s, ok := root.Observer().(*Signals); ok {
		return s
	}
	s := &Signals{root: root, graph: signals.New(), steps: map[string]*StepSignals{}}
	root.Observe(s)
	return s
}

// Graph returns the graph of the signals, for effects on them.
func (s *Signals) Graph() *signals.Graph { return s.graph }

// Root returns the root of the signals. Effects may read it, because it does not change while they run.
func (s *Signals) Root() *reactive.Root { return s.root }

// Step returns the signals of a step by its key, always the same for one key.
func (s *Signals) Step(key string) *StepSignals {
	if x := s.steps[key]; x != nil {
		return x
	}
	g := s.graph
	never := func(a, b any) bool { return false }
	x := &StepSignals{
		key:           key,
		status:        signals.NewSignal(g, reactive.Absent),
		result:        signals.NewSignalFunc(g, any(nil), never),
		preconditions: signals.NewSignal(g, false),
		blocks:        signals.NewSignal(g, false),
	}
	x.Status = signals.NewComputed(g, func(r signals.Reader) (reactive.Status, error) { return x.status.Get(r), nil })
	x.Ready = signals.NewComputed(g, func(r signals.Reader) (bool, error) { return x.status.Get(r) == reactive.Ready, nil })
	x.Result = signals.NewComputedFunc(g, never, func(r signals.Reader) (any, error) { return x.result.Get(r), nil })
	x.Preconditions = signals.NewComputed(g, func(r signals.Reader) (bool, error) { return x.preconditions.Get(r), nil })
	x.BlockedByFailure = signals.NewComputed(g, func(r signals.Reader) (bool, error) { return x.blocks.Get(r), nil })
	s.steps[key] = x
	if s.root.Steps() != nil {
		s.routed = append(s.routed, x)
	}
	s.err = errors.Join(s.err, s.write(x))
	return x
}

// Changed records that a node has changed, if it has signals.
func (s *Signals) Changed(v int32) {
	if len(s.steps) == 0 || s.root.Steps() != nil {
		return
	}
	if x := s.steps[s.root.Key(v)]; x != nil {
		s.touch(x)
	}
}

// Closed records that all nodes may have changed.
func (s *Signals) Closed() {
	for _, key := range slices.Sorted(maps.Keys(s.steps)) {
		s.touch(s.steps[key])
	}
}

func (s *Signals) touch(x *StepSignals) {
	if !x.pending {
		x.pending = true
		s.pending = append(s.pending, x)
	}
}

// Err returns the errors of effects on the signals so far, joined. They do not change the root.
func (s *Signals) Err() error { return s.err }

// Applied writes the signals of the steps that an event has changed.
func (s *Signals) Applied() {
	for _, x := range s.routed {
		s.touch(x)
	}
	if len(s.pending) == 0 {
		return
	}
	err := s.graph.Batch(func() error {
		var errs []error
		for _, x := range s.pending {
			x.pending = false
			errs = append(errs, s.write(x))
		}
		return errors.Join(errs...)
	})
	s.pending = s.pending[:0]
	s.err = errors.Join(s.err, err)
}

// write updates the signals of a step.
func (s *Signals) write(x *StepSignals) error {
	status, result, preconditions, blocks := s.now(x.key)
	was := x.status.Peek()
	errs := []error{x.status.Set(status), x.preconditions.Set(preconditions), x.blocks.Set(blocks)}
	if status == reactive.Completed || was == reactive.Completed {
		errs = append(errs, x.result.Set(result))
	}
	return errors.Join(errs...)
}

// now returns the state of a step in the root.
func (s *Signals) now(key string) (status reactive.Status, result any, preconditions, blocks bool) {
	r := s.root
	if steps := r.Steps(); steps != nil {
		step, _ := steps.StepNow(key)
		return step.Status, step.Result, false, false
	}
	v, ok := r.Node(key)
	if !ok {
		return reactive.Absent, nil, false, false
	}
	blocks = r.Blocked(v)
	result, err := value.Of(r.Output(v))
	if err != nil { // cannot happen: the codec accepts only values
		result = nil
	}
	return r.Status(v), result, r.Preconditions(v), blocks
}
