package ledger

import (
	"slices"

	"github.com/sluiceflow/sluice/internal/binheap"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// timer is an instant at which an event is due without input from outside. Timers are derived from the journal, so a restart
// neither loses nor delays them.
type timer struct {
	due     int64
	kind    timerKind
	node    int32
	attempt int32
	use     int32  // see Request
	asked   uint64 // in a routed run: sequence of the request that it belongs to; else 0
}

// timerKind also orders the timers of one instant.
type timerKind uint8

const (
	retryTimer         timerKind = iota // the backoff is over
	decisionRetryTimer                  // the backoff of a decision call is over
	sleepTimer                          // a sleep is over
	hedgeTimer                          // the next participant is due
	attemptTimer                        // an attempt's timeout
	totalTimer                          // the total timeout of a step
	queueTimer                          // the queue timeout of a call
	decisionTimer                       // a decision call's timeout, or a person's
	deadlineTimer                       // the run's deadline
)

// Names of the timers in the journal.
const (
	retryTimerName    = "retry"
	windowTimerName   = "window"
	decisionTimerName = "decision"
)

// earlier orders timers by instant, then by kind, then in template order or, in a routed run, in the order of requests. So the
// order depends only on the journal, not on the nodes of the calls.
func (ts *timers) earlier(t, u timer) bool {
	switch {
	case t.due != u.due:
		return t.due < u.due
	case t.kind != u.kind:
		return t.kind < u.kind
	case t.asked != u.asked:
		return t.asked < u.asked
	}
	return t.node >= 0 && u.node >= 0 && ts.l.host.Before(t.node, u.node)
}

// timers is a binary heap. Stale timers are dropped when they reach the top. A stale timer never becomes valid again.
type timers struct {
	l     *Ledger
	heap  []timer
	less  func(t, u timer) bool
	sweep int             // length of heap at which stale timers are removed
	first map[int32]int64 // by step with a total timeout: instant of the first request, or of a person's retry
	ends  map[int32]int64 // by step with a timeout: end of the newest attempt
	taken map[int32]int64 // by step with a queue timeout: end of the wait for a worker
}

func (t *timers) add(x timer) { t.heap = binheap.Push(t.heap, x, t.less) }

func (t *timers) pop() { t.heap = binheap.Pop(t.heap, t.less) }

func (t *timers) clear() { t.heap = nil }

// timersSwept is the minimum number of timers at which stale ones are removed.
const timersSwept = 1024

// addTimer adds a timer. It removes stale timers together when they are many, so that the heap is at most about twice as large
// as the number of valid timers.
func (ts *timers) addTimer(x timer) {
	if x.node >= 0 {
		x.use, x.asked = ts.l.host.Use(x.node)
	}
	t := ts
	if len(t.heap) >= max(t.sweep, timersSwept) {
		all := t.heap
		t.heap = t.heap[:0]
		for _, old := range all {
			if ts.alive(old) {
				t.add(old)
			}
		}
		t.sweep = 2 * len(t.heap)
	}
	t.add(x)
}

// policy returns a step's timing.
func (l *Ledger) policy(v int32) call.Policy { return call.Policy{Timing: l.Place(v).Timing} }

// arm sets the timers of an attempt that has just been requested.
func (ts *timers) arm(v int32, e *journal.Event) {
	if row := ts.l.Row(v); !row.Timed && e.Detail == nil {
		return
	}
	if limit := ts.l.plan.Workflow.Deadline; limit > 0 && ts.l.run.deadline == 0 {
		ts.l.run.deadline = call.After(e.At, limit)
		ts.addTimer(timer{due: ts.l.run.deadline, kind: deadlineTimer, node: -1})
	}
	if e.Detail != nil && e.Detail.Due > 0 {
		ts.addTimer(timer{due: e.Detail.Due, kind: sleepTimer, node: v, attempt: e.Attempt})
	}
	if e.Detail != nil && e.Detail.Name != "" {
		ts.l.mail.wait(e.Detail.Name, ts.l.Request(v, e.Attempt))
	}
	p := ts.l.policy(v)
	due := p.AttemptEnd(e.At)
	if due == 0 && ts.l.Row(v).Asks && ts.bestOf(v) {
		due = ts.l.run.deadline // the window is then the run's deadline
	}
	if due > 0 {
		ts.addTimer(timer{due: due, kind: attemptTimer, node: v, attempt: e.Attempt})
		if ts.ends == nil {
			ts.ends = map[int32]int64{}
		}
		ts.ends[v] = due
	}
	if p.Timing == nil {
		return
	}
	if _, counting := ts.first[v]; p.Timing.TotalTimeout > 0 && !counting {
		if ts.first == nil {
			ts.first = map[int32]int64{}
		}
		ts.first[v] = e.At
		ts.addTimer(timer{due: p.TotalEnd(e.At), kind: totalTimer, node: v})
	}
}

// queue sets the timer of a call that waits for a worker.
func (ts *timers) queue(v int32) {
	if !ts.l.Row(v).Timed {
		return
	}
	due := ts.l.policy(v).QueueEnd(ts.l.at)
	if due == 0 {
		return
	}
	if ts.taken == nil {
		ts.taken = map[int32]int64{}
	}
	ts.taken[v] = due
	ts.addTimer(timer{due: due, kind: queueTimer, node: v, attempt: ts.l.nodes[v].Attempt})
}

// queued reports whether the call of a timer has waited for a worker since the timer was set.
func (ts *timers) queued(t timer) bool {
	n := &ts.l.nodes[t.node]
	if n.Attempt != t.attempt || ts.taken[t.node] != t.due {
		return false
	}
	return n.Status == Ready && n.Fact == NoFact || n.Has(Pending) && n.Has(RetryDue) && n.Has(Granted)
}

// AttemptEnd returns the instant at which the newest attempt of a node, which must be in progress, times out, or 0.
func (l *Ledger) AttemptEnd(v int32) int64 {
	ts := &l.timers
	at := l.run.deadline
	if !l.Row(v).Timed {
		return at
	}
	sooner := func(due int64) {
		if due > 0 && (at == 0 || due < at) {
			at = due
		}
	}
	sooner(ts.ends[v])
	if first, counting := ts.first[v]; counting {
		sooner(l.policy(v).TotalEnd(first))
	}
	return at
}

// bestOf reports whether a step waits for the best of several answers.
func (ts *timers) bestOf(v int32) bool {
	f := ts.l.Place(v).Step.FanIn
	return f != nil && f.Policy == template.BestOf
}

// ended describes a failed attempt for its policy.
func (l *Ledger) ended(v int32, e *journal.Event) call.Ended {
	n := &l.nodes[v]
	x := call.Ended{
		Failure: n.Failure, Attempts: int(n.count), At: e.At, First: l.timers.first[v], Deadline: l.run.deadline,
	}
	if e.Detail != nil {
		x.RetryAt = e.Detail.RetryAt
		if e.Detail.Due > 0 {
			x.At = e.Detail.Due
		}
	}
	if t := l.Place(v).Timing; t != nil && t.Retry != nil && t.Retry.Jitter > 0 {
		x.Request = l.run.start.Run + "/" + RequestName(l.host.Key(v), n.Attempt)
	}
	return x
}

// foldTimer applies a due retry.
func (ts *timers) foldTimer(v int32, e *journal.Event) Effect {
	n := &ts.l.nodes[v]
	switch e.Detail.Timer {
	case windowTimerName:
		return ts.l.fanOut.foldWindow(v, e)
	case decisionTimerName:
		if t := ts.l.tasks.tasks[v]; t != nil && !t.open && !t.wanted && t.state == call.Undecided && t.asked == e.Detail.Count {
			ts.l.tasks.wantDecision(v)
			return Applied
		}
		return Late
	}
	if !n.Has(Pending) || n.Has(RetryDue) || n.Attempt != e.Attempt {
		return Late
	}
	n.Flags |= RetryDue
	ts.l.host.Want(v)
	return Applied
}

// alive reports whether a timer is not stale.
func (ts *timers) alive(t timer) bool {
	if t.node >= 0 && t.use != ts.l.Request(t.node, 0).Use {
		return false
	}
	switch t.kind {
	case deadlineTimer:
		return t.due == ts.l.run.deadline
	case retryTimer:
		n := &ts.l.nodes[t.node]
		return n.Has(Pending) && !n.Has(RetryDue) && n.Attempt == t.attempt
	case totalTimer:
		n := &ts.l.nodes[t.node]
		first, counting := ts.first[t.node]
		return n.Status != Absent && (n.Fact == Requested || n.Has(Pending)) && counting && t.due == ts.l.policy(t.node).TotalEnd(first)
	case hedgeTimer:
		n := &ts.l.nodes[t.node]
		if n.Fact != Requested || n.Attempt != t.attempt {
			return false
		}
		_, due, ok := ts.l.fanOut.gathers[t.node].Next()
		return ok && due == t.due
	case decisionTimer:
		x := ts.l.tasks.tasks[t.node]
		return x != nil && x.due == t.due && x.asked == t.attempt && (x.open || ts.l.tasks.awaitsPerson(t.node))
	case decisionRetryTimer:
		x := ts.l.tasks.tasks[t.node]
		return x != nil && !x.open && !x.wanted && x.state == call.Undecided && x.asked == t.attempt && x.due == t.due
	case queueTimer:
		return ts.queued(t)
	}
	n := &ts.l.nodes[t.node]
	return n.Fact == Requested && n.Attempt == t.attempt
}

// nextDue returns the instant of the next timer of a call, or of the run's deadline.
func (ts *timers) nextDue() int64 {
	for len(ts.heap) > 0 {
		if ts.alive(ts.heap[0]) && ts.l.run.finished == nil {
			return ts.heap[0].due
		}
		ts.pop()
	}
	return 0
}

// fire returns the event of the first timer.
func (ts *timers) fire(now int64) journal.Event {
	t := ts.heap[0]
	e := journal.Event{At: now, Detail: &journal.Detail{Due: t.due}}
	if t.kind == deadlineTimer {
		e.Type = journal.RunDeadlineExceeded
		e.Detail.Failure = &journal.Failure{Code: call.CodeDeadline, Message: "the run's deadline has passed"}
		return e
	}
	e.Node, e.Hint, e.Attempt = ts.l.host.Key(t.node), t.node+1, ts.l.nodes[t.node].Attempt
	switch t.kind {
	case retryTimer:
		e.Type, e.Detail.Timer = journal.TimerFired, retryTimerName
	case decisionRetryTimer:
		e.Type, e.Detail.Timer, e.Detail.Count = journal.TimerFired, decisionTimerName, t.attempt
	case hedgeTimer:
		e.Type = journal.DispatchCreated
		e.Detail.Participant, _, _ = ts.l.fanOut.gathers[t.node].Next()
	case sleepTimer:
		e.Type = journal.CallResponded
	case decisionTimer:
		e.Type, e.Detail.Count = journal.DecisionReceived, t.attempt
		e.Detail.Failure = &journal.Failure{Code: call.CodeTimeout, Message: "no decision in time", Retryable: true}
	case queueTimer:
		e.Type, e.Detail.Failure = journal.StepFailed, &journal.Failure{Code: call.CodeQueueTimeout, Message: "no worker has taken the call in time"}
		ts.expire(&e, t.node)
	default:
		ts.timeout(&e, t)
	}
	return e
}

// timeout makes an event the consequence of an attempt's or a step's timeout: another attempt if one is left, otherwise the
// step's on_timeout.
func (ts *timers) timeout(e *journal.Event, t timer) {
	p := ts.l.policy(t.node)
	e.Detail.Failure = &journal.Failure{Code: call.CodeTimeout, Message: "no answer in time", Retryable: true}
	e.Type = journal.CallError
	waiting := ts.l.nodes[t.node].Has(Pending)
	if g := ts.l.fanOut.gathers[t.node]; g != nil && !waiting && g.Succeeds() {
		e.Type, e.Detail.Failure, e.Detail.Timer = journal.TimerFired, nil, windowTimerName
		return
	}
	if !waiting {
		x := ts.l.ended(t.node, e)
		x.Failure = e.Detail.Failure
		if _, again := p.Again(x); again && t.kind == attemptTimer {
			return
		}
	}
	if waiting {
		e.Type = journal.StepFailed
	}
	ts.expire(e, t.node)
}

// expire makes the final failure of a step by a timeout the outcome according to its on_timeout.
func (ts *timers) expire(e *journal.Event, v int32) {
	switch ts.l.policy(v).OnTimeout() {
	case template.SkipOnTimeout:
		e.Type = journal.CallSkipped
	case template.AbortOnTimeout:
		e.Type, e.Attempt = journal.RunClosed, 0
	}
}

// timerNames are the names of timers for people.
var timerNames = map[timerKind]string{
	retryTimer: "the next attempt", decisionRetryTimer: "asking for a decision again", sleepTimer: "the end of its sleep",
	hedgeTimer: "asking the next participant", attemptTimer: "the attempt's timeout", totalTimer: "the step's total timeout", queueTimer: "the end of waiting to be taken",
	decisionTimer: "the end of waiting for a decision", deadlineTimer: "the run's deadline",
}

// Due is a timer of a node.
type Due struct {
	At    int64  // Unix nanoseconds
	Means string // the effect, for people
}

// TimersOf returns the timers of a node, without stale ones, in the order in which they will fire.
func (l *Ledger) TimersOf(v int32) []Due {
	var of []timer
	for _, t := range l.timers.heap {
		if t.node == v && l.timers.alive(t) {
			of = append(of, t)
		}
	}
	slices.SortFunc(of, func(t, u timer) int {
		switch {
		case l.timers.less(t, u):
			return -1
		case l.timers.less(u, t):
			return 1
		}
		return 0
	})
	list := make([]Due, len(of))
	for i, t := range of {
		list[i] = Due{t.due, timerNames[t.kind]}
	}
	return list
}

// SoonestOf returns the timer of a node that will fire first. It reports false if there is none, or if there are more than most
// timers: it is called while a run proceeds, and its cost must not grow with the number of waiting steps.
func (l *Ledger) SoonestOf(v int32, most int) (Due, bool) {
	if len(l.timers.heap) > most {
		return Due{}, false
	}
	if list := l.TimersOf(v); len(list) > 0 {
		return list[0], true
	}
	return Due{}, false
}

// Soonest returns the next timer of each node with timers; -1 is the run.
func (l *Ledger) Soonest() map[int32]Due {
	first := map[int32]timer{}
	for _, t := range l.timers.heap {
		if known, ok := first[t.node]; (!ok || l.timers.less(t, known)) && l.timers.alive(t) {
			first[t.node] = t
		}
	}
	due := make(map[int32]Due, len(first))
	for v, t := range first {
		due[v] = Due{t.due, timerNames[t.kind]}
	}
	return due
}
