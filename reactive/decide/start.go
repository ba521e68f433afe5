package decide

import (
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/bodies"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// NewRoot returns the root of a run without events.
func NewRoot(p *plan.Plan) *reactive.Root { return bodies.NewRoot(p) }

// EngineVersion is the version of the rules that derive statuses. A run proceeds only under the version of its start.
const EngineVersion = 4

// SameRules returns an error if a run was started under other rules: statuses derived now could differ from the statuses that
// led to its calls.
func SameRules(start *journal.Start) error {
	if start.Engine == EngineVersion && start.Expressions == expr.Version {
		return nil
	}
	return fmt.Errorf("%w: %w (engine %d, expressions %d; here %d, %d)",
		ErrMissing, ErrRules, start.Engine, start.Expressions, EngineVersion, expr.Version)
}

// Started returns the first event of a run of p. It contains all properties of the workflow that later versions could read
// differently, and the limits of the run, with defaults. Its Detail.Start belongs to the caller, which adds the rest.
func Started(run string, p *plan.Plan, input value.Value, limits Limits) journal.Event {
	w := p.Workflow
	start := &journal.Start{
		Run: run, Workflow: p.Hash, Name: w.Name, Version: w.Version, FailurePolicy: string(w.FailurePolicy),
		MaxConcurrency: kept(w.MaxConcurrency), Engine: EngineVersion, Expressions: expr.Version, Functions: p.Functions,
	}
	limits.complete().KeptBy(start, w)
	return journal.Event{Type: journal.RunStarted, Value: input, Detail: &journal.Detail{Start: start}}
}

// StartOf returns the parameters of a run from its first event, or nil if the event has none.
func StartOf(e *journal.Event) *journal.Start {
	if e.Type != journal.RunStarted || e.Detail == nil {
		return nil
	}
	return e.Detail.Start
}

// OwnIdentity returns a copy of an identity that shares no memory with the caller, with its resources as a value; nil for
// nil.
func OwnIdentity(of *journal.Identity) (*journal.Identity, error) {
	if of == nil {
		return nil, nil
	}
	resources, err := value.Own(of.Resources)
	if err != nil {
		return nil, fmt.Errorf("resources of the identity: %w", err)
	}
	return &journal.Identity{ID: of.ID, Scopes: slices.Clone(of.Scopes), Resources: resources}, nil
}

// Moved returns the event of a move to another workflow. start is the start of the run under that workflow, see StartUnder.
func Moved(start *journal.Start, actor string) journal.Event {
	return journal.Event{Type: journal.RunMoved, Detail: &journal.Detail{Start: start, Actor: actor}}
}

// MoveTo applies a move to the root of its run under the other workflow, and returns the head, which is due at once: the consequences
// are not decided yet.
func MoveTo(root *reactive.Root, move *journal.Event, seq uint64, at int64) journal.Head {
	move.Seq, move.At = seq, at
	root.Apply(move)
	head := HeadOf(root)
	head.Due = at
	return head
}

// Under returns an event of a run for a root of the workflow that the run was moved to: the first event as if the run had been
// started with that workflow. A reader that follows the journal past a move begins again with such events.
func Under(was, moved *journal.Event) journal.Event {
	e := *was
	e.Hint = 0 // it is for a root of the other workflow
	if e.Type == journal.RunStarted && e.Detail != nil {
		d := *e.Detail
		d.Start = moved.Detail.Start
		e.Detail = &d
	}
	return e
}

// IsMove reports whether an event moves a run to another workflow.
func IsMove(e *journal.Event) bool {
	return e.Type == journal.RunMoved && e.Detail != nil && e.Detail.Start != nil
}

// LikeStart copies the limits of the run whose past another run begins with. Under other limits, that past could have other
// consequences.
func LikeStart(start, like *journal.Start) {
	start.FailurePolicy, start.MaxConcurrency, start.OnBlocked = like.FailurePolicy, like.MaxConcurrency, like.OnBlocked
	start.MapItemsMax, start.InstancesMax = like.MapItemsMax, like.InstancesMax
	start.ContextBytesMax, start.EventWorkMax = like.ContextBytesMax, like.EventWorkMax
}

// StartUnder returns the start of a run for another workflow.
func StartUnder(start *journal.Start, p *plan.Plan) *journal.Start {
	s, w := *start, p.Workflow
	s.Workflow, s.Name, s.Version, s.Functions = p.Hash, w.Name, w.Version, p.Functions
	s.FailurePolicy, s.MaxConcurrency = string(w.FailurePolicy), kept(w.MaxConcurrency)
	s.OnBlocked = p.OnBlocked(start.OnBlocked)
	return &s
}
