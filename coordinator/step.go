package coordinator

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// intentsMax bounds the events that one step decides. What is left is decided by the next, after the inbox has been
// looked at again, so that a cancel always gets in.
const intentsMax = 1024

// item is something that came in for a run: the outcome of a call, or a wish from outside.
type item struct {
	event    journal.Event
	received int64           // Unix nanoseconds; 0: just now
	reply    func(err error) // for a wish: called once it is durable or refused
	flight   *flight         // for an outcome: the call, until the loop has made an event of its landing
	landing  landing
}

// stepper is the coordinator without goroutines, clock and I/O: it takes what came in and gives what is to be
// journaled and then done. The shell and the scenario runner are its two drivers.
//
//	items, now ──▶ Step ──▶ batch ──▶ Append ──▶ commands, replies
//
// It is ahead of the journal by the batch that Step returned. If that batch cannot be appended, the stepper is thrown
// away and made anew from the journal.
type stepper struct {
	root     *reactive.Root
	function func(name string) *template.Function                   // finds a Go function of the workflow; nil: none
	pure     func(v int32, input any) (out any, err error, ok bool) // makes calls that leave nothing behind; false for all others
	admit    func() bool                                            // asks for room for one more call of the process
	admitted int                                                    // calls of this step that have room
	batch    []journal.Event
	calls    []reactive.Request // to be made once the batch is durable
	answers  []answer
	now      int64
}

// answer is the result of a pure operation, to be journaled after the starts of its round.
type answer struct {
	req reactive.Request
	out any
	err error
}

// outcome is what a step asks of its driver: append batch, then reply, then make and cancel calls.
type outcome struct {
	batch   []journal.Event
	calls   []reactive.Request
	cancels []reactive.Request
	replies []reply
	more    bool // there is more to decide at once
}

type reply struct {
	f   func(error)
	err error
}

// Step applies what came in, and what has fallen due, in the order of their instants, and then decides. now never
// goes back. The batch is valid until the next Step.
func (s *stepper) Step(now int64, items []item) outcome {
	s.now = now
	s.batch, s.calls, s.admitted = s.batch[:0], s.calls[:0], 0
	var out outcome
	for i := range items {
		if t := items[i].received; t > 0 {
			s.fire(t - 1)
		}
		if r, ok := s.take(&items[i]); ok {
			out.replies = append(out.replies, r)
		}
	}
	s.fire(now)
	out.more = s.decide()
	out.batch, out.calls = s.batch, s.calls
	out.cancels = s.root.TakeCancels()
	return out
}

// fire applies the consequences of all timers due at that instant.
func (s *stepper) fire(until int64) {
	for {
		e, ok := s.root.Fire(until)
		if !ok {
			return
		}
		e.At = s.now
		s.apply(e)
	}
}

// take applies one item. A wish that cannot be is refused and leaves the journal as it was.
func (s *stepper) take(it *item) (reply, bool) {
	if err := s.refuse(&it.event); err != nil {
		if it.reply == nil {
			return reply{}, false
		}
		return reply{it.reply, err}, true
	}
	e := it.event
	e.At = s.now
	if it.received != s.now && it.received != 0 {
		d := journal.Detail{}
		if e.Detail != nil {
			d = *e.Detail
		}
		d.Received = it.received
		e.Detail = &d
	}
	s.apply(e)
	return reply{it.reply, nil}, it.reply != nil
}

func (s *stepper) apply(e journal.Event) {
	e.Seq = s.root.Seq() + 1
	s.batch = append(s.batch, e)
	s.root.Apply(&s.batch[len(s.batch)-1])
}

// decide goes round until nothing follows any more: ends first, then what was waited for, then starts. It reports
// whether it stopped early.
func (s *stepper) decide() (more bool) {
	if !s.root.Started() || s.root.Finished() != nil {
		return false
	}
	limit := len(s.batch) + intentsMax
	for {
		before := len(s.batch)
		s.end()
		if s.root.Finished() != nil {
			return false
		}
		s.answerMessages()
		s.ask()
		s.start(limit)
		s.answerPure()
		switch {
		case len(s.batch) == before:
			return false
		case len(s.batch) >= limit:
			return true
		}
	}
}

// end closes a run that aborts at its first failure, and finishes one that has nothing left to do.
func (s *stepper) end() {
	if s.root.Plan().Workflow.FailurePolicy == template.AbortAll && !s.root.Closed() {
		if v, ok := s.root.UncaughtFailure(); ok {
			s.apply(journal.Event{
				Type: journal.RunClosed, At: s.now, Node: s.root.Key(v), Hint: v + 1,
				Detail: &journal.Detail{Failure: s.root.Failure(v)},
			})
		}
	}
	if !s.root.Done() {
		return
	}
	verdict := s.root.Verdict()
	s.apply(journal.Event{
		Type: journal.RunFinished, At: s.now, Value: verdict.Output,
		Detail: &journal.Detail{State: string(verdict.Status), Failure: verdict.Failure},
	})
}

// answerMessages ends the waits that a message has reached.
func (s *stepper) answerMessages() {
	for {
		a, ok := s.root.NextAnswer()
		if !ok {
			return
		}
		s.apply(s.about(a.Node, journal.Event{Type: journal.CallResponded, Attempt: a.Attempt, Value: a.Output}))
	}
}

// ask runs the Go functions that decide conditionals and give the lists of maps.
func (s *stepper) ask() {
	for {
		v, ok := s.root.NextAsk()
		if !ok {
			return
		}
		s.apply(s.about(v, s.decided(v)))
	}
}

// start requests what may start, in template order, as far as the limit goes.
func (s *stepper) start(limit int) {
	if s.root.Paused() {
		return
	}
	for len(s.batch) < limit {
		v, ok := s.root.NextStart()
		if !ok {
			return
		}
		op := s.root.Operation(v)
		if op.Kind == plan.Call {
			if !s.admit() {
				return
			}
			s.admitted++
		}
		s.request(v, op)
	}
}

// request journals the intent to call, or that there is nothing to call with.
func (s *stepper) request(v int32, op *plan.Operation) {
	input, failure := s.input(v)
	e := journal.Event{Type: journal.CallRequested, Attempt: s.root.Attempt(v) + 1, Value: input}
	if failure == nil {
		e.Detail, failure = s.appointment(v, op, input)
	}
	if failure != nil {
		s.apply(s.about(v, journal.Event{Type: journal.StepFailed, Detail: &journal.Detail{Failure: failure}}))
		return
	}
	s.apply(s.about(v, e))
	req := reactive.Request{Node: v, Attempt: e.Attempt}
	if out, err, done := s.carryOut(v, op, input); done {
		s.answers = append(s.answers, answer{req, out, err})
	} else if op.Kind == plan.Call {
		s.calls = append(s.calls, req)
	}
}

// answerPure journals the results of the round's pure operations.
func (s *stepper) answerPure() {
	for i := range s.answers {
		a := &s.answers[i]
		if s.root.Open(a.req) {
			s.apply(s.about(a.req.Node, ending(a.req, a.out, a.err)))
		}
	}
	clear(s.answers)
	s.answers = s.answers[:0]
}

// about completes an event about a node.
func (s *stepper) about(v int32, e journal.Event) journal.Event {
	e.At, e.Node, e.Hint = s.now, s.root.Key(v), v+1
	return e
}

// external reports whether a node's operation is carried out outside the engine.
func (s *stepper) external(v int32) bool {
	row := s.root.Row(v)
	return row.Kind == plan.Step && s.root.Operation(v).Kind == plan.Call
}
