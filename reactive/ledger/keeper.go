package ledger

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Keeper has the methods for the owner of a ledger, which apply the events of the journal and return their consequences. Only
// package reactive uses it; other packages read the Ledger.
type Keeper struct{ *Ledger }

// Advance begins the next event. It must be called before any other method for that event.
func (k Keeper) Advance(e *journal.Event) {
	if k.reused && k.Beginning() {
		k.run.made = e.At
	}
	if e.Type == journal.RunMoved {
		k.run.moved = e.Seq
	}
	k.seq, k.at = e.Seq, e.At
	k.bytes += bytesOf(e)
}

// Resume continues after a sequence, as if the events up to it had been applied: a snapshot replaces them.
func (k Keeper) Resume(seq uint64, at int64) { k.seq, k.at = seq, at }

// Rebase makes the limits of the run count only the events after a sequence, because a snapshot has the effects of the earlier
// ones.
func (k Keeper) Rebase(seq uint64) { k.base, k.bytes = seq, 0 }

// Begin takes the run's first event.
func (k Keeper) Begin(e *journal.Event) Effect {
	if k.run.start != nil {
		return Duplicate
	}
	k.run.start, k.run.input, k.run.started, k.run.made = e.Detail.Start, e.Value, e.At, e.At
	return Applied
}

// Finish takes the run's last event.
func (k Keeper) Finish(e *journal.Event) {
	kept := *e
	k.run.finished = &kept
}

// Reopen reopens a finished run.
func (k Keeper) Reopen() Effect { return k.foldReopened() }

// Pause begins or ends one cause of a pause.
func (k Keeper) Pause(e *journal.Event) Effect { return k.foldPause(e) }

// Message takes a message to the run.
func (k Keeper) Message(e *journal.Event) Effect { return k.foldMessage(e) }

// Keep takes a result that a rerun keeps from the run that it repeats, or a result or input that it sets.
func (k Keeper) Keep(e *journal.Event) Effect { return k.foldKept(e) }

// Step applies an event about a step's node.
func (k Keeper) Step(v int32, e *journal.Event) Effect { return k.foldStep(v, e) }

// Loose records an event that does not belong to a node, or not yet.
func (k Keeper) Loose(e *journal.Event) Effect { return k.foldLoose(e) }

// Close applies the event that closes the run, and removes all timers.
func (k Keeper) Close(e *journal.Event) {
	kept := *e
	k.run.closed = &kept
	k.timers.clear()
}

// FailNamed fails the step that the closing of a run names.
func (k Keeper) FailNamed(v int32, why *journal.Failure, e *journal.Event) { k.failNamed(v, why, e) }

// Abort closes a node's open attempt or, if it has none, aborts the node.
func (k Keeper) Abort(v int32, why *journal.Failure) { k.abort(v, why) }

// Stop ends a call in progress, because its run was closed.
func (k Keeper) Stop(v int32, why *journal.Failure) {
	k.cancel(v)
	n := &k.nodes[v]
	n.Fact, n.Failure = Stopped, why
}

// Again schedules another attempt, at an instant, of a call that has ended.
func (k Keeper) Again(v int32, due int64) {
	n := &k.nodes[v]
	n.Fact, n.Output = Errored, nil
	n.Flags |= Pending
	k.dropTask(v)
	k.timers.addTimer(timer{due: due, kind: retryTimer, node: v, attempt: n.Attempt})
	k.bank.Mark(v)
}

// Queue begins the queue timeout of a call that may start now.
func (k Keeper) Queue(v int32) { k.timers.queue(v) }

// Drop stops the call in progress at a node, if any, and resets all other state of the node.
func (k Keeper) Drop(v int32) {
	n := &k.nodes[v]
	for i := range n.Attempt {
		delete(k.older, request{v, i + 1})
	}
	if k.tasks.tasks[v] != nil {
		k.stopAsking(v)
		delete(k.tasks.tasks, v)
	}
	if n.Fact == Requested {
		k.cancel(v)
	}
	delete(k.gathers, v)
	delete(k.reports, v)
	delete(k.timers.first, v)
	delete(k.timers.taken, v)
	k.fails = k.fails[:0] // the body handles failures
}

// Node returns a node for reading and writing. The pointer is valid until the next Add.
func (k Keeper) Node(v int32) *Node { return &k.nodes[v] }

// Add adds a node.
func (k Keeper) Add(n Node) { k.nodes = append(k.nodes, n) }

// Failed records that a node has failed for good.
func (k Keeper) Failed(v int32) { k.fails = append(k.fails, v) }

// Fails returns the nodes that have failed for good, in the order of their failures; a node that failed twice appears twice.
func (k Keeper) Fails() []int32 { return k.fails }

// ForgetTask withdraws the open decision about a step.
func (k Keeper) ForgetTask(v int32) { k.forgetTask(v) }

// Deciding reports whether a decision call is pending or in progress.
func (k Keeper) Deciding() bool { return k.deciding > 0 }

// OpenCalls appends the requested calls of a node without an answer to a list.
func (k Keeper) OpenCalls(list []Request, v int32) []Request { return k.openCalls(list, v) }

// ReportsOf returns a step's reports as expressions see them.
func (k Keeper) ReportsOf(v int32) (value.Value, error) { return k.reported(v) }

// Tidy drops stale entries from the front of the queues.
func (k Keeper) Tidy() {
	for len(k.decisions) > 0 && !k.wantsDecision(k.decisions[0]) {
		k.decisions = k.decisions[1:]
	}
}

// NextTimer returns the instant of the next timer of a call, or of the run's deadline, or 0, and reports whether the timer is
// for a retry.
func (k Keeper) NextTimer() (due int64, retry bool) {
	if due = k.timers.nextDue(); due == 0 {
		return 0, false
	}
	return due, k.timers.heap[0].kind <= decisionRetryTimer
}

// Fire returns the event of the next timer, which remains the next until the event is applied.
func (k Keeper) Fire(now int64) journal.Event { return k.timers.fire(now) }

// Watch makes the ledger record changes of statuses and tasks.
func (k Keeper) Watch() { k.watched = true }

// Watched reports whether changes are recorded.
func (k Keeper) Watched() bool { return k.watched }

// TimersKept returns the number of timers in the ledger, stale ones included.
func (k Keeper) TimersKept() int { return len(k.timers.heap) }
