package shadow

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// roundsMax bounds the steps of the other workflow in one turn, which may be endless although the run's turn was not.
const roundsMax = 10_000

// flush applies the collected turn to the other workflow.
func (s *Shadow) flush() {
	if s.turn.seq == 0 || s.err != nil {
		return
	}
	if s.turn.noted && len(s.turn.own) == 0 {
		s.note()
	} else {
		s.take()
	}
	for i := range s.turn.own {
		s.pairs.add(recorded, &s.turn.own[i])
	}
	s.pairs.settle()
	s.turn.seq = 0
}

// take steps the other workflow with the events from outside, and then with the kept outcomes of its new requests, until no event
// follows.
func (s *Shadow) take() {
	items := make([]decide.Item, 0, len(s.turn.outside))
	for i := range s.turn.outside {
		if it, ok := s.item(&s.turn.outside[i]); ok {
			items = append(items, it)
		}
	}
	for range roundsMax {
		out := s.step.Step(s.turn.at, items)
		for _, r := range out.Replies {
			r.To(r.Err)
		}
		if out.Err != nil {
			s.err = out.Err
			return
		}
		if items = s.followed(out.Batch); len(items) == 0 && !out.More {
			return
		}
	}
}

// note takes commands that were journaled while no process drove the run, without decisions.
func (s *Shadow) note() {
	for i := range s.turn.outside {
		e := &s.turn.outside[i]
		s.followed(s.step.Settle(s.turn.at))
		c := s.command(e)
		batch, _, err := s.step.Note(s.turn.at, c)
		if err != nil {
			s.refused(e, err)
			continue
		}
		s.given[keyOf(e)]++
		s.followed(batch)
	}
}

// item returns the item for the other workflow. It keeps an outcome that the other workflow has not requested.
func (s *Shadow) item(e *journal.Event) (decide.Item, bool) {
	it := decide.Item{Event: s.command(e)}
	if e.Detail != nil {
		it.Received = e.Detail.Received
	}
	if s.origin(e) == command {
		key := keyOf(e)
		if s.given[key]++; e.Type == journal.ResultKept || e.Type == journal.InputSet {
			return it, true
		}
		it.Reply = func(err error) {
			if err != nil {
				s.refused(e, err)
			}
		}
		return it, true
	}
	if !s.isOpen(e) {
		k := requestOf(e)
		s.early[k] = append(s.early[k], it.Event)
		return it, false
	}
	s.given[keyOf(e)]++
	return it, true
}

// command returns an event for the other workflow, which has another start.
func (s *Shadow) command(e *journal.Event) journal.Event {
	c := copied(e)
	if e.Type == journal.RunStarted {
		c.Detail.Start = s.start
	}
	return c
}

// copied returns an event without the fields that belong to its journal.
func copied(e *journal.Event) journal.Event {
	c := *e
	c.Seq, c.At, c.Hint = 0, 0, 0
	if e.Detail != nil {
		d := *e.Detail
		d.Received = 0
		c.Detail = &d
	}
	return c
}

// isOpen reports whether the other workflow waits for an outcome.
func (s *Shadow) isOpen(e *journal.Event) bool {
	v, ok := s.is.Node(e.Node)
	if !ok {
		return false
	}
	req := s.is.Request(v, e.Attempt)
	if e.Detail != nil {
		req.Participant = e.Detail.Participant
		if e.Type == journal.DecisionReceived {
			req.Decision = e.Detail.Count
		}
	}
	return s.is.Open(req)
}

// followed pairs the events of the other workflow, and returns the kept outcomes of its new requests.
func (s *Shadow) followed(batch []journal.Event) (early []decide.Item) {
	for i := range batch {
		e := &batch[i]
		if k := keyOf(e); s.given[k] > 0 {
			if s.given[k]--; s.given[k] == 0 {
				delete(s.given, k)
			}
			continue
		}
		if e.Type == journal.RunReopened || e.Type == journal.RunStarted {
			continue
		}
		one := s.event(s.is, e)
		one.seq = s.turn.seq
		s.pairs.add(shadowed, &one)
		switch e.Type {
		case journal.CallRequested, journal.DispatchCreated, journal.DecisionRequested:
			early = append(early, s.awaited(e)...)
		}
	}
	return early
}

// awaited returns the outcomes of a request, and of all participants of a fan-out, that preceded the request.
func (s *Shadow) awaited(e *journal.Event) (items []decide.Item) {
	take := func(k key) {
		for _, kept := range s.early[k] {
			s.given[keyOf(&kept)]++
			items = append(items, decide.Item{Event: kept})
		}
		delete(s.early, k)
	}
	if len(s.early) == 0 {
		return nil
	}
	take(requestOf(e))
	if e.Type == journal.CallRequested && e.Detail != nil {
		for _, id := range e.Detail.Participants {
			k := requestOf(e)
			k.participant = id
			take(k)
		}
	}
	return items
}

// refused records a command that the other workflow refuses.
func (s *Shadow) refused(e *journal.Event, err error) {
	if k := keyOf(e); s.given[k] > 0 {
		if s.given[k]--; s.given[k] == 0 {
			delete(s.given, k)
		}
	}
	s.pairs.found(Difference{Kind: Refused, Step: e.Node, Seq: e.Seq, What: e.Type.String(), New: err.Error()})
}

// Roots returns the roots of the run under its own workflow and under the other one, as of the last added event.
func (s *Shadow) Roots() (was, is *reactive.Root) { return s.was, s.is }
