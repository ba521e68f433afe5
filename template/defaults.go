package template

import (
	"cmp"

	"github.com/sluiceflow/sluice/template/fields"
)

// setDefault sets a field that was omitted. It writes only changes, so completing a complete tree does not write to it.
func setDefault[T cmp.Ordered](field *T, fallback T) {
	var zero T
	if *field == zero {
		*field = fallback
	}
}

// complete fills in all defaults, so that readers of the tree find every value set.
func (w *Workflow) complete() {
	setDefault(&w.FailurePolicy, ContinueRunning)
	for _, b := range w.Operations {
		if b.HTTP != nil {
			setDefault(&b.HTTP.Method, b.HTTP.defaultMethod())
			setDefault(&b.HTTP.FollowRedirects, FollowSameHost)
		}
	}
	completeAll(w.Steps)
}

// defaultMethod returns POST for a request with a body, and GET otherwise.
func (h *HTTP) defaultMethod() string {
	if h.Body != nil {
		return "POST"
	}
	return "GET"
}

// completeAll completes the elements of a list and all elements inside them.
func completeAll(steps []Node) {
	for _, n := range steps {
		switch n := n.(type) {
		case *Step:
			n.complete()
		case *Sequential:
			completeAll(n.Steps)
		case *Parallel:
			completeAll(n.Steps)
		case *Conditional:
			completeAll(n.Then)
			completeAll(n.Else)
		case *Map:
			setDefault(&n.As, "item")
			completeAll(n.Steps)
		}
	}
}

// complete fills in a step's defaults, and converts the score field to a JSON pointer.
func (s *Step) complete() {
	setDefault(&s.ID, s.Operation)
	if t := s.Target; t != nil && t.Resolve == ResolveTaskType && t.CapabilityID == "" && s.Operation != "" {
		own := *t // a program may share one target among steps of several operations
		own.CapabilityID, s.Target = s.Operation, &own
	}
	if s.FanIn != nil {
		setDefault(&s.FanIn.Policy, AnyOne)
		switch s.FanIn.Policy {
		case AnyOne:
			setDefault(&s.FanIn.MinResponses, 1)
		case BestOf:
			setDefault(&s.FanIn.ScoreOrder, "desc")
			if pointer := fields.Pointer(s.FanIn.ScoreField); pointer != s.FanIn.ScoreField {
				s.FanIn.ScoreField = pointer
			}
		}
	}
	s.Timing.complete()
	if f := s.Fulfillment; f != nil {
		setDefault(&f.OnNotFulfilled, ThenFail)
		setDefault(&f.OnError, ThenFail)
		if f.Source != nil {
			f.Source.Timing.complete()
		}
	}
}

func (t *Timing) complete() {
	if t == nil {
		return
	}
	setDefault(&t.OnTimeout, FailOnTimeout)
	if t.Retry != nil {
		setDefault(&t.Retry.Multiplier, 1)
		setDefault(&t.Retry.Scope, ScopeMissing)
	}
}
