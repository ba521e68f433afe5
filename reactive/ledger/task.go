package ledger

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// TaskChanges returns the changes of tasks since the last TaskChanges, in order. The slice is valid until the next Apply.
func (k *tasks) TaskChanges() []TaskChange {
	c := k.taskChanges
	k.taskChanges = k.taskChanges[:0]
	return c
}

// tasks holds the sources and states of decisions, for the steps that declare a fulfillment.
type tasks struct {
	l           *Ledger
	tasks       map[int32]*task
	undecided   map[int32]bool // steps with state Undecided
	decisions   []int32        // steps whose decision source must be called
	closings    []closing
	taskChanges []TaskChange
	pauses      int // number of tasks whose outcome pauses the run
	deciding    int // number of decision calls that are pending or in progress
}

// task is the state of the decision about a completed step.
type task struct {
	state  call.Fulfillment
	asked  int32 // number of the newest decision call
	open   bool  // its answer is outstanding
	paused bool  // its outcome has paused the run
	wanted bool  // the next decision call is pending
	due    int64 // instant at which the decision is due, or is requested again; 0: never
}

// complete ends an attempt with an output. The step's fulfillment determines whether the output completes the step.
func (k *tasks) complete(v int32, output any, e *journal.Event) {
	n := &k.l.nodes[v]
	n.Fact, n.Output = Responded, value.Pack(output)
	f := k.fulfillment(v)
	if f == nil {
		return
	}
	k.tasks[v] = &task{state: call.NoTask}
	k.setTask(v, call.Undecided)
	switch call.SourceOf(f) {
	case call.ByAnswer:
		decision, why := call.Decide(f, output)
		k.decideTask(v, decision, why, e)
	case call.ByCall:
		k.wantDecision(v)
	default:
		n.Flags |= Held
		k.awaitDecision(v, k.patience(v).AttemptEnd(e.At))
	}
}

// patience returns the timing of a person's decision, which is the timing of the decision source. Unlike the timing of a
// decision call, it does not default to the step's timeout, which is for machines.
func (k *tasks) patience(v int32) call.Policy {
	if s := k.fulfillment(v).Source; s != nil {
		return call.Policy{Timing: s.Timing}
	}
	return call.Policy{}
}

// awaitDecision sets the timer of a decision. The task stores the instant, because a timer outlives a dropped task.
func (k *tasks) awaitDecision(v int32, due int64) {
	t := k.tasks[v]
	if t.due = due; due > 0 {
		k.l.timers.addTimer(timer{due: due, kind: decisionTimer, node: v, attempt: t.asked})
	}
}

// awaitsPerson reports whether a task waits for a person's decision.
func (k *tasks) awaitsPerson(v int32) bool {
	t := k.tasks[v]
	return t.state == call.Undecided && call.SourceOf(k.fulfillment(v)) == call.ByPerson
}

func (k *tasks) fulfillment(v int32) *template.Fulfillment {
	if !k.l.Row(v).Decides {
		return nil
	}
	return k.l.Place(v).Step.Fulfillment
}

// wantDecision requests a call to the decision source.
func (k *tasks) wantDecision(v int32) {
	k.l.nodes[v].Flags |= Held
	k.tasks[v].wanted, k.tasks[v].due = true, 0
	k.deciding++
	k.decisions = append(k.decisions, v)
}

// NextDecision returns the next step whose decision source must be called, and the number of that call. It returns the same
// step until the source was called or the call has failed.
func (k *tasks) NextDecision() (v, number int32, ok bool) {
	if len(k.decisions) == 0 || k.l.run.closed != nil {
		return 0, 0, false
	}
	v = k.decisions[0]
	return v, k.tasks[v].asked + 1, true
}

func (k *tasks) wantsDecision(v int32) bool { return k.tasks[v] != nil && k.tasks[v].wanted }

// foldDecisionRequested records a call to a decision source. For a person there is no call: the run waits.
func (k *tasks) foldDecisionRequested(v int32, e *journal.Event) Effect {
	t := k.tasks[v]
	if t == nil || !t.wanted || e.Attempt != k.l.nodes[v].Attempt {
		return Late
	}
	if k.awaitsPerson(v) {
		t.asked, t.wanted = t.asked+1, false
		k.deciding--
		k.awaitDecision(v, k.patience(v).AttemptEnd(e.At))
		return Applied
	}
	t.asked, t.open, t.wanted = t.asked+1, true, false
	k.l.toMake = append(k.l.toMake, k.l.Request(v, e.Attempt).deciding(t.asked))
	k.awaitDecision(v, k.decisionPolicy(v).AttemptEnd(e.At))
	return Applied
}

// decisionPolicy returns the timing of a step's decision calls: the timing of the source, or the step's timeout.
func (k *tasks) decisionPolicy(v int32) call.Policy {
	t := k.l.Place(v).Step.Fulfillment.Source.Timing
	if t == nil {
		t = &template.Timing{}
	}
	own := *t
	if own.Timeout == 0 && k.l.Place(v).Timing != nil {
		own.Timeout = k.l.Place(v).Timing.Timeout
	}
	return call.Policy{Timing: &own}
}

// foldDecision applies a decision of a called source or of a person.
func (k *tasks) foldDecision(v int32, e *journal.Event) Effect {
	t := k.tasks[v]
	if t == nil || e.Attempt != k.l.nodes[v].Attempt {
		return Late
	}
	if e.Detail.State != "" {
		return k.foldPerson(v, t, e)
	}
	switch {
	case t.wanted && e.Detail.Count == t.asked+1: // the call could not be made
		t.asked, t.wanted = t.asked+1, false
		k.deciding--
	case e.Detail.Count != t.asked:
		return Late
	case k.awaitsPerson(v) && e.Detail.Failure != nil: // the person did not decide in time
	case !t.open:
		return Late
	default:
		t.open = false
		k.deciding--
	}
	if e.Detail.Due > 0 && !k.awaitsPerson(v) {
		k.l.cancels = append(k.l.cancels, k.l.Request(v, e.Attempt).deciding(t.asked))
	}
	if e.Detail.Failure != nil {
		k.conclude(v, call.Broken, e.Detail.Failure.Error(), e)
	} else {
		decision, why := call.Decide(k.fulfillment(v), e.Value)
		k.conclude(v, decision, why, e)
	}
	return Applied
}

// conclude applies the answer of the decision source. If the answer is an error, the source may be called again.
func (k *tasks) conclude(v int32, decision call.Fulfillment, why string, e *journal.Event) {
	if decision == call.Broken && k.fulfillment(v).OnError == template.ThenRetry {
		k.retryDecision(v, why, e)
	} else {
		k.decideTask(v, decision, why, e)
	}
	k.l.bank.Mark(v)
}

// retryDecision requests another call to the decision source, according to the retry of its timing.
func (k *tasks) retryDecision(v int32, why string, e *journal.Event) {
	t := k.tasks[v]
	failure := &journal.Failure{Code: call.CodeDecisionError, Message: why, Retryable: true}
	at := e.At
	if e.Detail.Due > 0 {
		at = e.Detail.Due
	}
	policy, asked := k.patience(v), int(t.asked)+1 // the first request to a person is not journaled
	if call.SourceOf(k.fulfillment(v)) == call.ByCall {
		policy, asked = k.decisionPolicy(v), int(t.asked)
	}
	due, ok := policy.Again(call.Ended{
		Failure: failure, Attempts: asked, At: at, Deadline: k.l.run.deadline, RetryAt: e.Detail.RetryAt,
		Request: fmt.Sprintf("%s/%s/?%d", k.l.run.start.Run, RequestName(k.l.host.Key(v), e.Attempt), t.asked),
	})
	switch {
	case !ok:
		k.failTask(v, failure, call.Broken)
	case due <= e.At:
		k.wantDecision(v)
	default:
		t.due = due
		k.l.timers.addTimer(timer{due: due, kind: decisionRetryTimer, node: v, attempt: t.asked})
	}
}

// foldPerson applies a decision by a person: about a task that waits for one, in place of a decision call in progress, or as
// the explicit end of a pause.
func (k *tasks) foldPerson(v int32, t *task, e *journal.Event) Effect {
	if !k.Undecided(v) || e.Type == journal.DecisionReceived && t.state != call.Undecided {
		return Late // a decided task can only be overridden
	}
	k.stopAsking(v)
	decision := call.Fulfillment(e.Detail.State)
	if decision == call.NotFulfilled && t.state != call.Undecided {
		k.failTask(v, &journal.Failure{Code: call.CodeNotFulfilled, Message: e.Detail.Reason}, call.NotFulfilled)
	} else {
		k.decideTask(v, decision, e.Detail.Reason, e)
	}
	k.l.bank.Mark(v)
	return Applied
}

// Undecided reports whether a step is completed and its task undecided: a decision call is in progress, a person must decide,
// or the decision has paused the run. A person may then decide, whatever the source, request the decision again, or abort the
// step.
func (k *tasks) Undecided(v int32) bool {
	t := k.tasks[v]
	if t == nil || !k.l.nodes[v].Has(Held) || k.l.nodes[v].Has(Pending) || k.l.Closed() {
		return false
	}
	return t.paused || t.state == call.Undecided
}

// Decidable reports whether a step's task waits for a person: its source is a person, or the decision has paused the run.
func (k *tasks) Decidable(v int32) bool {
	return k.Undecided(v) && (k.tasks[v].paused || k.awaitsPerson(v))
}

// Reaskable reports whether the decision about a step can be requested again: it is open, its source is a call, and no call is
// pending.
func (k *tasks) Reaskable(v int32) bool {
	return k.Undecided(v) && call.SourceOf(k.fulfillment(v)) == call.ByCall && !k.ToBeAsked(v)
}

// ToBeAsked reports whether a call to the decision source of a step is pending. It is made when the run is not paused.
func (k *tasks) ToBeAsked(v int32) bool {
	t := k.tasks[v]
	return t != nil && t.wanted
}

// askAgain requests another call to the decision source, under a new number.
func (k *tasks) askAgain(v int32) Effect {
	if !k.Reaskable(v) {
		return Late
	}
	k.stopAsking(v)
	k.setTask(v, call.Undecided)
	k.wantDecision(v)
	k.l.bank.Mark(v)
	return Applied
}

// stopAsking withdraws a request for a decision: it cancels a call in progress, drops a pending one, and ends a pause that the
// outcome caused.
func (k *tasks) stopAsking(v int32) {
	t := k.tasks[v]
	if t.paused {
		k.pauses--
	}
	if t.open || t.wanted {
		k.deciding--
	}
	if t.open {
		k.l.cancels = append(k.l.cancels, k.l.Request(v, k.l.nodes[v].Attempt).deciding(t.asked))
	}
	t.paused, t.open, t.wanted, t.due = false, false, false, 0
}

// decideTask settles a task, or applies the consequence of a refusal.
func (k *tasks) decideTask(v int32, decision call.Fulfillment, why string, e *journal.Event) {
	n, t := &k.l.nodes[v], k.tasks[v]
	if decision == call.Fulfilled {
		n.Flags &^= Held
		k.setTask(v, decision)
		return
	}
	action, failure := call.Consequence(k.fulfillment(v), decision, why)
	switch action {
	case template.ThenPause:
		n.Flags |= Held
		t.paused = true
		k.pauses++
	case template.ThenSkip:
		n.Flags &^= Held
		n.Fact, n.Failure, n.Output = Dropped, failure, nil
	case template.ThenAbort:
		n.Flags |= Held
		k.closings = append(k.closings, closing{v, failure})
	default:
		k.failTask(v, failure, decision)
		return
	}
	k.setTask(v, decision)
}

// setTask sets the state of a task and records the change. Only setTask changes the state.
func (k *tasks) setTask(v int32, to call.Fulfillment) {
	t, n := k.tasks[v], &k.l.nodes[v]
	if delete(k.undecided, v); to == call.Undecided {
		k.undecided[v] = true
	}
	if k.l.watched && t.state != to {
		k.taskChanges = append(k.taskChanges, TaskChange{k.l.host.Key(v), n.Attempt, t.state, to, n.Failure})
	}
	t.state = to
}

// failTask fails a step whose call succeeded.
func (k *tasks) failTask(v int32, failure *journal.Failure, state call.Fulfillment) {
	n := &k.l.nodes[v]
	n.Flags &^= Held
	n.Fact, n.Failure, n.Output = Errored, failure, nil
	k.l.fails = append(k.l.fails, v)
	k.setTask(v, state)
}

// closing names a node whose failure must close the run.
type closing struct {
	node    int32
	failure *journal.Failure
}

// NextClosing returns a step whose task's outcome closes the run. It reports false if there is none.
func (k *tasks) NextClosing() (int32, *journal.Failure, bool) {
	if len(k.closings) == 0 || k.l.run.closed != nil {
		return -1, nil, false
	}
	return k.closings[0].node, k.closings[0].failure, true
}

// Fulfillment returns the state of a step's task.
func (k *tasks) Fulfillment(v int32) call.Fulfillment {
	if t := k.tasks[v]; t != nil {
		return t.state
	}
	return call.NoTask
}

// dropTask removes the task of a step that gets a new attempt.
func (k *tasks) dropTask(v int32) {
	if k.tasks[v] == nil {
		return
	}
	k.forgetTask(v)
	k.l.nodes[v].Flags &^= Held
}

// forgetTask withdraws the open decision about a step.
func (k *tasks) forgetTask(v int32) {
	k.stopAsking(v)
	k.setTask(v, call.NoTask)
	delete(k.tasks, v)
}
