package shadow

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// The rerun of a playbook's run begins with the past of that run: events that were decided there. Some of their values have the id of
// that run, and the calls in progress are not among them. So they are not decided again: both workflows take them unchanged, and the
// decisions that both would have made at each of them are compared.

// begins reports whether an event belongs to the start of a run.
func begins(e *journal.Event) bool {
	return e.Type == journal.RunStarted || e.Type == journal.ResultKept || e.Type == journal.InputSet
}

// follow takes an event of the past of a rerun. It reports false for any other event.
func (s *Shadow) follow(e *journal.Event) bool {
	if start := decide.StartOf(e); start != nil && start.From != nil && s.was.Body() != nil {
		s.past = uint64(start.From.Kept) + 1
	}
	if e.Seq > s.past {
		return false
	}
	s.compareAt(e)
	was, is := *e, s.command(e)
	was.Hint, is.Seq, is.At = 0, e.Seq, e.At
	s.remember(e)
	if s.was.Apply(&was) != s.is.Apply(&is) {
		s.pairs.found(Difference{Kind: Gone, Step: e.Node, Attempt: e.Attempt, Seq: e.Seq, What: e.Type.String(), Old: e.Type.String()})
	}
	for _, root := range []*reactive.Root{s.was, s.is} {
		root.TakeCalls()
		root.TakeCancels()
	}
	return true
}

// compareAt compares the decisions of the two workflows at an event of the past that one of them has decided.
func (s *Shadow) compareAt(e *journal.Event) {
	switch e.Type {
	case journal.StepScheduled:
		if next, ok := s.is.Next(e.At); !ok || next.Node != e.Node {
			s.pairs.found(Difference{Kind: Gone, Step: e.Node, Seq: e.Seq, What: e.Type.String(), Old: e.Node, New: next.Node})
		}
	case journal.CallRequested:
		v, asked := s.was.Node(e.Node)
		u, ok := s.is.Node(e.Node)
		if !asked || !ok {
			return // the effects differ
		}
		was, is := s.event(s.was, e), s.event(s.is, e)
		if !s.pairs.same(&was, &is) {
			s.pairs.found(s.pairs.of(&was, Operation, nameOf(&was), nameOf(&is)))
		}
		before, _ := s.was.Body().Input(v)
		after, _ := s.is.Body().Input(u)
		if !value.Equal(before, after) {
			s.pairs.found(s.pairs.of(&was, Input, before, after))
		}
	}
}
