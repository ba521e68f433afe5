package rerun

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/expr"
)

// source is the run that is repeated, as of an event.
type source struct {
	id     string
	start  *journal.Start
	input  any
	entry  *registry.Entry
	root   *reactive.Root
	asked  map[string]*stepRecord // by step
	inputs map[string]any         // of the steps in wants
	wants  map[string]bool

	given []*journal.Event // inputs that a person has set in the run, and below it

	top  bool  // it is the repeated run, not a child of it
	past *past // of a playbook; nil: the workflow is of another kind
}

// stepRecord has the data of a source about a step.
type stepRecord struct {
	input [32]byte // hash of the newest attempt's
	known bool
	last  uint64 // the newest event about it
}

// read follows the run that is repeated up to an event; 0: to its end. wants names the steps whose inputs are needed.
func (m *Maker) read(ctx context.Context, id string, upto uint64, wants map[string]bool) (*source, error) {
	return m.readUnder(ctx, id, upto, nil, func() *source { return newSource(id, wants, true) })
}

// readChild is read for the whole of a child below that run.
func (m *Maker) readChild(ctx context.Context, id string, wants map[string]bool) (*source, error) {
	return m.readUnder(ctx, id, 0, nil, func() *source { return newSource(id, wants, false) })
}

func newSource(id string, wants map[string]bool, top bool) *source {
	return &source{id: id, asked: map[string]*stepRecord{}, inputs: map[string]any{}, wants: wants, top: top}
}

// readUnder is read under the newest known move; nil: none. If it finds a later one, it reads the run again.
func (m *Maker) readUnder(ctx context.Context, id string, upto uint64, moved *journal.Event, empty func() *source) (*source, error) {
	s := empty()
	for e, err := range m.Store.Read(ctx, id, 1) {
		if err != nil {
			return nil, unreadable(id, err)
		}
		if upto > 0 && e.Seq > upto {
			break
		}
		if decide.IsMove(&e) && (moved == nil || moved.Seq < e.Seq) {
			return m.readUnder(ctx, id, upto, &e, empty)
		}
		if moved != nil {
			e = decide.Under(&e, moved)
		}
		if s.root == nil {
			if err := m.begin(ctx, s, &e); err != nil {
				return nil, err
			}
		}
		if s.past == nil {
			s.note(&e)
		}
		var effect ledger.Effect
		if err := usercode.Call(func() error { effect = s.root.Apply(&e); return nil }); err != nil {
			return nil, fmt.Errorf("run %s cannot be followed: %w", id, err)
		}
		if s.past != nil {
			s.past.add(s.root, &e, effect)
		}
	}
	switch {
	case s.root == nil:
		return nil, fmt.Errorf("%w: %s", decide.ErrRunNotFound, id)
	case upto > s.root.Seq():
		return nil, fmt.Errorf("%w: run %s has %d events, and so no event %d", decide.ErrNoMoment, id, s.root.Seq(), upto)
	}
	return s, nil
}

// begin takes the first event of a run.
func (m *Maker) begin(ctx context.Context, s *source, e *journal.Event) (err error) {
	s.start, s.input = decide.StartOf(e), e.Value
	if s.start == nil {
		return fmt.Errorf("run %s: %w: it does not begin with its start", s.id, journal.ErrDamaged)
	}
	if err := decide.SameRules(s.start); err != nil {
		return fmt.Errorf("run %s cannot be rerun here: %w", s.id, err)
	}
	if s.entry, err = m.Registry.Read(ctx, s.start.Workflow, s.start.Children); err != nil {
		return fmt.Errorf("run %s cannot be rerun: %w", s.id, err)
	}
	s.root = decide.NewRoot(s.entry.Plan)
	switch {
	case s.root.Body() == nil:
	case s.root.Steps() == nil:
		return fmt.Errorf("%w: run %s: %w", decide.ErrNotPossible, s.id, errWorld)
	case !s.top:
		return fmt.Errorf("%w: run %s: %w", decide.ErrNotPossible, s.id, errChild)
	default:
		s.past = &past{known: map[string]bool{}}
	}
	return nil
}

// unreadable is the error about a journal that cannot be read.
func unreadable(id string, err error) error {
	switch {
	case errors.Is(err, journal.ErrDamaged):
		return fmt.Errorf("run %s cannot be rerun, because its journal is damaged: examine it with `sluice doctor`: %w", id, err)
	case errors.Is(err, journal.ErrNotFound):
		return fmt.Errorf("run %s cannot be rerun, because values of it were deleted: start it again: %w", id, err)
	}
	return fmt.Errorf("read run %s: %w", id, err)
}

// note records the input in an event about a step.
func (s *source) note(e *journal.Event) {
	if e.Type == journal.InputSet {
		given := *e
		s.given = append(s.given, &given)
	}
	if e.Node == "" || e.Type == journal.ResultKept || e.Type == journal.InputSet {
		return
	}
	a := s.asked[e.Node]
	if a == nil {
		a = &stepRecord{}
		s.asked[e.Node] = a
	}
	a.last = e.Seq
	if e.Type == journal.CallRequested {
		hash, _, err := journal.HashOf(e.Value)
		a.input, a.known = hash, err == nil
		if s.wants[e.Node] {
			s.inputs[e.Node] = e.Value
		}
	}
}

// result returns the event by which a step's result is kept; nil: it has no result to keep.
func (s *source) result(v int32) *journal.Event {
	n, key := s.root.Look(v), s.root.Key(v)
	if n.Attempt == 0 || !s.root.Final(v) || s.asked[key] == nil {
		return nil
	}
	kept := &journal.Kept{Run: s.id, Seq: s.asked[key].last}
	if f := s.root.Fulfillment(v); f != "none" {
		kept.Fulfillment = string(f)
	}
	switch before := s.root.Adopted(v); {
	case before != nil && s.root.Attempts(v) == 0 && isSet(before):
		kept.Run, kept.Seq = before.Run, 0
	case before != nil && s.root.Attempts(v) == 0:
		kept.Input = before.Input
	case s.asked[key].known:
		kept.Input = s.asked[key].input[:]
	}
	e := &journal.Event{Type: journal.ResultKept, Node: key, Attempt: n.Attempt, Detail: &journal.Detail{Kept: kept}}
	switch n.Fact {
	case ledger.Responded:
		kept.Status, e.Value = ledger.KeptCompleted, s.root.Output(v)
	case ledger.Errored:
		kept.Status, e.Detail.Failure = ledger.KeptFailed, n.Failure
		if !caught(s.root, v) {
			return nil
		}
	case ledger.Dropped:
		kept.Status, e.Detail.Failure = ledger.KeptSkipped, n.Failure
	default:
		return nil
	}
	if reports := s.reports(v); len(reports) > 0 {
		e.Detail.About = reports
	}
	return e
}

// isSet reports whether a person has set the result of a step.
func isSet(kept *journal.Kept) bool { return kept.Seq == 0 }

// reports returns the reports of a step as expressions see them.
func (s *source) reports(v int32) []any {
	if s.root.Reports(v).Count == 0 && s.root.Adopted(v) == nil {
		return nil
	}
	list, err := s.root.Env(v).Step(s.root.Place(v).Key, expr.Reports)
	if err != nil {
		return nil
	}
	all, _ := list.([]any)
	return all
}
