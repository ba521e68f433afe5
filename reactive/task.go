package reactive

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// task is whether a completed step's task is done, of a step that declares who says so.
type task struct {
	state  call.Fulfillment
	asked  int32 // number of the newest decision call
	open   bool  // its answer is waited for
	paused bool  // its outcome has paused the run
	wanted bool  // the next decision call is to be made
	due    int64 // when the decision must have come, or is asked for again; 0: whenever
}

// complete ends an attempt with an output. Whether that is enough, the step's fulfillment says.
func (r *Root) complete(v int32, output any, e *journal.Event) {
	n := &r.nodes[v]
	n.fact, n.output = responded, value.Pack(output)
	f := r.fulfillment(v)
	if f == nil {
		return
	}
	r.tasks[v] = &task{state: call.NoTask}
	r.setTask(v, call.Undecided)
	switch call.SourceOf(f) {
	case call.ByAnswer:
		decision, why := call.Decide(f, output)
		r.decideTask(v, decision, why, e)
	case call.ByCall:
		r.wantDecision(v)
	default:
		n.flags |= held
		r.awaitDecision(v, r.patience(v).AttemptEnd(e.At))
	}
}

// patience is how long a person's decision is waited for: the decision source's own timing. Unlike a call's, it does not
// default to the step's timeout, which is made for machines.
func (r *Root) patience(v int32) call.Policy {
	if s := r.fulfillment(v).Source; s != nil {
		return call.Policy{Timing: s.Timing}
	}
	return call.Policy{}
}

// awaitDecision sets the timer of a decision. The task remembers it, because a timer outlives a task that is dropped.
func (r *Root) awaitDecision(v int32, due int64) {
	t := r.tasks[v]
	if t.due = due; due > 0 {
		r.addTimer(timer{due: due, kind: decisionTimer, node: v, attempt: t.asked})
	}
}

// asksPerson reports whether a task waits for a person's decision.
func (r *Root) asksPerson(v int32) bool {
	t := r.tasks[v]
	return t.state == call.Undecided && call.SourceOf(r.fulfillment(v)) == call.ByPerson
}

func (r *Root) fulfillment(v int32) *template.Fulfillment {
	if r.row(v).Kind != plan.Step || r.node(v).Step == nil {
		return nil
	}
	return r.node(v).Step.Fulfillment
}

// wantDecision has the decision source asked.
func (r *Root) wantDecision(v int32) {
	r.nodes[v].flags |= held
	r.tasks[v].wanted, r.tasks[v].due = true, 0
	r.run.deciding++
	r.decisions = append(r.decisions, v)
}

// NextDecision is the next step whose decision source is to be asked, and the number of that call. It stays the next
// until it was asked, or could not be.
func (r *Root) NextDecision() (v, number int32, ok bool) {
	if len(r.decisions) == 0 || r.run.closed != nil {
		return 0, 0, false
	}
	v = r.decisions[0]
	return v, r.tasks[v].asked + 1, true
}

func (r *Root) wantsDecision(v int32) bool { return r.tasks[v] != nil && r.tasks[v].wanted }

// foldDecisionRequested takes that a decision source was asked. A person is not called: the run waits.
func (r *Root) foldDecisionRequested(v int32, e *journal.Event) Outcome {
	t := r.tasks[v]
	if t == nil || !t.wanted || e.Attempt != r.nodes[v].attempt {
		return Late
	}
	if r.asksPerson(v) {
		t.asked, t.wanted = t.asked+1, false
		r.run.deciding--
		r.awaitDecision(v, r.patience(v).AttemptEnd(e.At))
		return Applied
	}
	t.asked, t.open, t.wanted = t.asked+1, true, false
	r.calls = append(r.calls, r.Request(v, e.Attempt).deciding(t.asked))
	r.awaitDecision(v, r.decisionPolicy(v).AttemptEnd(e.At))
	return Applied
}

// decisionPolicy is the timing of a step's decision calls: their own, or the step's timeout.
func (r *Root) decisionPolicy(v int32) call.Policy {
	t := r.node(v).Step.Fulfillment.Source.Timing
	if t == nil {
		t = &template.Timing{}
	}
	own := *t
	if own.Timeout == 0 && r.node(v).Timing != nil {
		own.Timeout = r.node(v).Timing.Timeout
	}
	return call.Policy{Timing: &own}
}

// foldDecision takes a decision: of a source that was asked, or of a person.
func (r *Root) foldDecision(v int32, e *journal.Event) Outcome {
	t := r.tasks[v]
	if t == nil || e.Attempt != r.nodes[v].attempt {
		return Late
	}
	if e.Detail.State != "" {
		return r.foldPerson(v, t, e)
	}
	switch {
	case t.wanted && e.Detail.Count == t.asked+1: // it could not even be asked
		t.asked, t.wanted = t.asked+1, false
		r.run.deciding--
	case e.Detail.Count != t.asked:
		return Late
	case r.asksPerson(v) && e.Detail.Failure != nil: // no person has decided in time
	case !t.open:
		return Late
	default:
		t.open = false
		r.run.deciding--
	}
	if e.Detail.Due > 0 && !r.asksPerson(v) {
		r.cancels = append(r.cancels, r.Request(v, e.Attempt).deciding(t.asked))
	}
	if e.Detail.Failure != nil {
		r.conclude(v, call.Broken, e.Detail.Failure.Error(), e)
	} else {
		decision, why := call.Decide(r.fulfillment(v), e.Value)
		r.conclude(v, decision, why, e)
	}
	return Applied
}

// conclude takes what the decision source has said, or that it has said nothing of use: then it may be asked again.
func (r *Root) conclude(v int32, decision call.Fulfillment, why string, e *journal.Event) {
	if decision == call.Broken && r.fulfillment(v).OnError == template.ThenRetry {
		r.retryDecision(v, why, e)
	} else {
		r.decideTask(v, decision, why, e)
	}
	r.bank.Mark(v)
}

// retryDecision asks again, under the retry of the decision source's own timing.
func (r *Root) retryDecision(v int32, why string, e *journal.Event) {
	t := r.tasks[v]
	failure := &journal.Failure{Code: call.CodeDecisionError, Message: why, Retryable: true}
	at := e.At
	if e.Detail.Due > 0 {
		at = e.Detail.Due
	}
	policy, asked := r.patience(v), int(t.asked)+1 // that a person is asked is not journaled the first time
	if call.SourceOf(r.fulfillment(v)) == call.ByCall {
		policy, asked = r.decisionPolicy(v), int(t.asked)
	}
	due, ok := policy.Again(call.Ended{
		Failure: failure, Attempts: asked, At: at, Deadline: r.run.deadline, RetryAt: e.Detail.RetryAt,
		Request: fmt.Sprintf("%s/%s/?%d", r.run.start.Run, RequestName(r.Key(v), e.Attempt), t.asked),
	})
	switch {
	case !ok:
		r.failTask(v, failure, call.Broken)
	case due <= e.At:
		r.wantDecision(v)
	default:
		t.due = due
		r.addTimer(timer{due: due, kind: decisionRetryTimer, node: v, attempt: t.asked})
	}
}

// foldPerson takes a decision by a person: of a task that waits for one, in place of a decision source that is being asked,
// or as the explicit end of a pause.
func (r *Root) foldPerson(v int32, t *task, e *journal.Event) Outcome {
	if !r.Undecided(v) || e.Type == journal.DecisionReceived && t.state != call.Undecided {
		return Late // a decision that is there is overridden, and not made twice
	}
	r.stopAsking(v)
	decision := call.Fulfillment(e.Detail.State)
	if decision == call.NotFulfilled && t.state != call.Undecided {
		r.failTask(v, &journal.Failure{Code: call.CodeNotFulfilled, Message: e.Detail.Reason}, call.NotFulfilled)
	} else {
		r.decideTask(v, decision, e.Detail.Reason, e)
	}
	r.bank.Mark(v)
	return Applied
}

// Undecided reports whether a step's work is answered and the decision about it is open: its source is being asked, a
// person is waited for, or what was decided has paused the run. Then a person may decide, whatever the source, ask for the
// decision again, or abort the step.
func (r *Root) Undecided(v int32) bool {
	t := r.tasks[v]
	if t == nil || !r.nodes[v].has(held) || r.nodes[v].has(pending) || r.Closed() {
		return false
	}
	return t.paused || t.state == call.Undecided
}

// Decidable reports whether a step's task waits for a person: it asks one, or what was decided has paused the run.
func (r *Root) Decidable(v int32) bool {
	return r.Undecided(v) && (r.tasks[v].paused || r.asksPerson(v))
}

// Reaskable reports whether the decision about a step can be asked for again: it is open, its source is called, and it is not
// about to be.
func (r *Root) Reaskable(v int32) bool {
	return r.Undecided(v) && call.SourceOf(r.fulfillment(v)) == call.ByCall && !r.ToBeAsked(v)
}

// ToBeAsked reports whether the decision source of a step is asked as soon as the run is not paused.
func (r *Root) ToBeAsked(v int32) bool {
	t := r.tasks[v]
	return t != nil && t.wanted
}

// askAgain has the decision source asked once more, under a new number.
func (r *Root) askAgain(v int32) Outcome {
	if !r.Reaskable(v) {
		return Late
	}
	r.stopAsking(v)
	r.setTask(v, call.Undecided)
	r.wantDecision(v)
	r.bank.Mark(v)
	return Applied
}

// stopAsking ends the asking for a decision: a call under way is cancelled, one that was to be made is not, and a pause
// that the outcome has caused is over.
func (r *Root) stopAsking(v int32) {
	t := r.tasks[v]
	if t.paused {
		r.run.pauses--
	}
	if t.open || t.wanted {
		r.run.deciding--
	}
	if t.open {
		r.cancels = append(r.cancels, r.Request(v, r.nodes[v].attempt).deciding(t.asked))
	}
	t.paused, t.open, t.wanted, t.due = false, false, false, 0
}

// decideTask settles a task, or does what a refusal leads to.
func (r *Root) decideTask(v int32, decision call.Fulfillment, why string, e *journal.Event) {
	n, t := &r.nodes[v], r.tasks[v]
	if decision == call.Fulfilled {
		n.flags &^= held
		r.setTask(v, decision)
		return
	}
	action, failure := call.Consequence(r.fulfillment(v), decision, why)
	switch action {
	case template.ThenPause:
		n.flags |= held
		t.paused = true
		r.run.pauses++
	case template.ThenSkip:
		n.flags &^= held
		n.fact, n.failure, n.output = dropped, failure, nil
	case template.ThenAbort:
		n.flags |= held
		r.closings = append(r.closings, closing{v, failure})
	default:
		r.failTask(v, failure, decision)
		return
	}
	r.setTask(v, decision)
}

// setTask is the one place where the state of a task changes.
func (r *Root) setTask(v int32, to call.Fulfillment) {
	t, n := r.tasks[v], &r.nodes[v]
	if r.watched && t.state != to {
		r.taskChanges = append(r.taskChanges, TaskChange{v, r.Key(v), n.attempt, t.state, to, n.failure})
	}
	t.state = to
}

// failTask fails a step whose call has succeeded.
func (r *Root) failTask(v int32, failure *journal.Failure, state call.Fulfillment) {
	n := &r.nodes[v]
	n.flags &^= held
	n.fact, n.failure, n.output = errored, failure, nil
	r.fails = append(r.fails, v)
	r.setTask(v, state)
}

// closing is a node after which the run is to be closed.
type closing struct {
	node    int32
	failure *journal.Failure
}

// NextClosing is a step whose task's outcome ends the run. It reports false when there is none.
func (r *Root) NextClosing() (int32, *journal.Failure, bool) {
	if len(r.closings) == 0 || r.run.closed != nil {
		return -1, nil, false
	}
	return r.closings[0].node, r.closings[0].failure, true
}

// Fulfillment is where a step's task stands.
func (r *Root) Fulfillment(v int32) call.Fulfillment {
	if t := r.tasks[v]; t != nil {
		return t.state
	}
	return call.NoTask
}

// dropTask forgets a task when its step gets a new attempt.
func (r *Root) dropTask(v int32) {
	if r.tasks[v] == nil {
		return
	}
	r.stopAsking(v)
	r.setTask(v, call.NoTask)
	delete(r.tasks, v)
	r.nodes[v].flags &^= held
}
