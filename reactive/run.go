package reactive

import (
	"strconv"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// Verdict is how a run ends, or has ended.
type Verdict struct {
	Status  RunStatus
	Failure *journal.Failure // why it did not complete
	Node    int32            // the node it is named after; -1: none
	Output  any
}

// Started reports whether the run has its first event.
func (r *Root) Started() bool { return r.run.start != nil }

// Start is what the run was started with.
func (r *Root) Start() *journal.Start { return r.run.start }

// Finished is the run's last event; nil while it lives.
func (r *Root) Finished() *journal.Event { return r.run.finished }

// StartedAt is when the run was started, Unix nanoseconds.
func (r *Root) StartedAt() int64 { return r.run.started }

// At is when the event applied last was decided, Unix nanoseconds.
func (r *Root) At() int64 { return r.at }

// Closed reports whether the run was cancelled, closed or overtaken by its deadline: nothing counts any more.
func (r *Root) Closed() bool { return r.run.closed != nil }

// Paused reports whether somebody has stopped the run.
func (r *Root) Paused() bool { return r.run.stopped || r.run.pauses > 0 }

// Stopped reports whether a person has paused the run: a pause that a task has caused ends with that task's decision alone.
func (r *Root) Stopped() bool { return r.run.stopped }

// RunStatus is where the run stands.
func (r *Root) RunStatus() RunStatus {
	switch {
	case r.run.finished != nil:
		return RunStatus(r.run.finished.Detail.State)
	case r.Paused():
		return RunPaused
	case r.run.busy == 0 && r.run.deciding == 0 && !r.Done() && !r.firing():
		return RunWaiting
	}
	return RunRunning
}

// Done reports whether nothing is left to do, so that the run is to be finished: it is closed, or every node has settled.
func (r *Root) Done() bool {
	if r.body != nil {
		return r.run.start != nil && r.run.finished == nil && (r.run.closed != nil || r.body.Done())
	}
	return r.run.start != nil && r.run.finished == nil && (r.run.closed != nil || r.top.unsettled == 0)
}

// Verdict says how a done run ends. It is named after its first uncaught failure, in the order of the journal. A failure
// is caught when a conditional that decided tests a node of its chain.
func (r *Root) Verdict() Verdict {
	if e := r.run.closed; e != nil {
		return r.closedVerdict(e)
	}
	if r.body != nil {
		return r.body.Verdict()
	}
	if v := r.firstFailure(); v >= 0 {
		f := r.Failure(v)
		if f == nil {
			f = dependencyFailed
		}
		status := RunFailed
		if f.Code == CodeTimeout {
			status = RunStepTimeout
		}
		return Verdict{Status: status, Failure: f, Node: v}
	}
	out := r.plan.Checked.Output
	if out == nil {
		return Verdict{Status: RunCompleted, Node: -1}
	}
	v, err := out.Eval(env{r, -1})
	if err != nil {
		return Verdict{Status: RunFailed, Failure: failed(CodeOutputResolution, err), Node: -1}
	}
	return Verdict{Status: RunCompleted, Output: v, Node: -1}
}

func (r *Root) closedVerdict(e *journal.Event) Verdict {
	out := Verdict{Failure: failureOf(e, CodeCanceled), Node: -1}
	switch e.Type {
	case journal.RunCanceled:
		out.Status = RunAborted
	case journal.RunDeadlineExceeded:
		out.Status = RunDeadlineExceeded
	default:
		out.Status = RunFailed
		if out.Failure.Code == CodeTimeout {
			out.Status = RunStepTimeout
		}
		if v, ok := r.Node(e.Node); ok {
			out.Node = v
		}
	}
	return out
}

// Failure is why a node has failed, was aborted or was skipped by its timing; nil when it was not. A map's is that of
// its first failed item.
func (r *Root) Failure(v int32) *journal.Failure {
	n := &r.nodes[v]
	switch n.status {
	case Failed, Aborted, Skipped:
	default:
		return nil
	}
	if x := r.maps[v]; x != nil && n.failure == nil && n.has(expanded) && n.status == Failed {
		if u := r.failedNode(x); u >= 0 {
			return r.Failure(u)
		}
	}
	return n.failure
}

// failedNode is the node after which a map's first failed item is named; -1: none failed.
func (r *Root) failedNode(x *expansion) int32 {
	for i := range x.items {
		b := &r.blocks[x.blocks[i]]
		if u := r.firstUncaught(b.base, b.base+r.plan.Nodes[b.row].End-b.row-1); u >= 0 {
			return u
		}
	}
	return -1
}

// firstFailure is the node a failed run is named after; -1: every failure was caught.
func (r *Root) firstFailure() int32 {
	if r.top.bad == 0 {
		return -1
	}
	caught := map[int32]map[int32]bool{}
	for _, v := range r.fails {
		if r.standing(v, caught) {
			return v
		}
	}
	return r.firstUncaught(0, int32(len(r.plan.Nodes)))
}

// standing reports whether v's own failure still holds and was caught neither beside it nor, in a map, further out.
func (r *Root) standing(v int32, caught map[int32]map[int32]bool) bool {
	for {
		b := r.nodes[v].block
		if caught[b] == nil {
			lo, hi := r.extent(b)
			caught[b] = r.caughtIn(lo, hi)
		}
		if r.bank.Output(v)&plan.ShowsBlocked == 0 || r.cascaded(v) || caught[b][v] {
			return false
		}
		if b == 0 {
			return true
		}
		v = r.blocks[b].owner
	}
}

// extent is the range of nodes [lo, hi) of a block.
func (r *Root) extent(b int32) (lo, hi int32) {
	if b == 0 {
		return 0, int32(len(r.plan.Nodes))
	}
	blk := &r.blocks[b]
	return blk.base, blk.base + r.plan.Nodes[blk.row].End - blk.row - 1
}

// firstUncaught is the first node of a body, in template order, whose failure no conditional of that body caught; one
// that failed itself comes before those it took with it. -1: there is none.
func (r *Root) firstUncaught(lo, hi int32) int32 {
	caught := r.caughtIn(lo, hi)
	taken := int32(-1)
	for v := lo; v < hi; v++ {
		row := r.row(v)
		if row.Kind == plan.Join || row.Map >= 0 && r.nodes[v].block == 0 {
			continue
		}
		if r.bank.Output(v)&plan.ShowsBlocked == 0 || caught[v] {
			continue
		}
		if !r.cascaded(v) {
			return v
		}
		if taken < 0 {
			taken = v
		}
	}
	return taken
}

// caughtIn is the set of failed nodes of a body that a conditional has caught: the chains of what those that decided
// have looked at. A map whose items' tests look outside catches for them.
func (r *Root) caughtIn(lo, hi int32) map[int32]bool {
	caught := map[int32]bool{}
	for g := lo; g < hi; g++ {
		row := r.row(g)
		decided := row.Kind == plan.Gate && r.nodes[g].status == Completed
		if !decided && !(row.Kind == plan.Map && r.nodes[g].has(expanded)) {
			continue
		}
		for _, p := range r.plan.Predecessors(r.bank.Row(g)) {
			if v := r.beside(g, p); r.bank.Output(v)&plan.ShowsBlocked != 0 {
				r.addChain(caught, v)
			}
		}
	}
	return caught
}

// addChain adds p's failure chain to a set.
func (r *Root) addChain(set map[int32]bool, p int32) {
	for stack := []int32{p}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if set[v] {
			continue
		}
		set[v] = true
		stack = append(stack, r.causes(v)...)
	}
}

// Status is where a node stands.
func (r *Root) Status(v int32) Status { return r.nodes[v].status }

// Pending reports whether a failed node has a retry to come.
func (r *Root) Pending(v int32) bool { return r.nodes[v].has(pending) }

// Final reports whether a node is terminal for good: a failed one with a retry to come is not,
// nor a completed one whose task is not decided.
func (r *Root) Final(v int32) bool {
	return r.nodes[v].status.Terminal() && !r.nodes[v].has(pending|held)
}

// Retryable reports whether another attempt of a node may be asked for: it is a step whose newest attempt has ended.
func (r *Root) Retryable(v int32) bool {
	n := &r.nodes[v]
	return r.row(v).Kind == plan.Step && (n.final() || n.has(pending))
}

// Requested is the input of the attempt that a node is running.
//
// For a step whose task is being decided it is nil: see its output.
func (r *Root) Requested(v int32) any {
	if r.nodes[v].fact != running {
		return nil
	}
	return r.nodes[v].output
}

// Attempt is the number of a node's newest attempt; 0: it has none.
func (r *Root) Attempt(v int32) int32 { return r.nodes[v].attempt }

// Attempts is how many attempts of a node were requested.
func (r *Root) Attempts(v int32) int32 { return r.nodes[v].count }

// Tested reports whether some conditional's test reads the node's status or error, or that of a map around it: then its
// failure does not end a run that aborts at the first uncaught one.
func (r *Root) Tested(v int32) bool { return r.node(v).Tested }

// RequestName is how a request is called outside: in journals, in interfaces, to operations.
func RequestName(key string, attempt int32) string {
	return key + "#" + strconv.Itoa(int(attempt))
}

// TakeCancels gives the calls whose attempts were closed from outside since the last call, to be stopped.
func (r *Root) TakeCancels() []Request {
	c := r.cancels
	r.cancels = nil
	return c
}

// TakeCalls gives the calls of participants and decision sources that the events since the last call want made.
func (r *Root) TakeCalls() []Request {
	c := r.calls
	r.calls = nil
	return c
}

// OpenCalls are all the calls that the journal knows as asked and not answered, in the order of their nodes, or of a routed
// run in that in which its cells were opened: what is asked again, with the same request ids, when a run is recovered.
func (r *Root) OpenCalls() []Request {
	var calls []Request
	for _, v := range r.inOrder() {
		n := &r.nodes[v]
		if t := r.tasks[v]; t != nil && t.open {
			calls = append(calls, r.Request(v, n.attempt).deciding(t.asked))
		}
		row := r.row(v)
		if n.fact != running || row.Kind != plan.Step || row.OpKind != plan.Call || n.status == Absent {
			continue
		}
		if !row.Asks {
			calls = append(calls, r.Request(v, n.attempt))
			continue
		}
		for _, p := range r.gathers[v].Waiting() {
			calls = append(calls, r.Request(v, n.attempt).asking(p))
		}
	}
	return calls
}

// NextAsk is the next gate or map whose Go function is to be run. It stays the next until its answer was applied.
func (r *Root) NextAsk() (int32, bool) {
	for len(r.asks) > 0 {
		if v := r.asks[0]; r.nodes[v].has(asked) && r.run.closed == nil {
			return v, true
		}
		r.asks = r.asks[1:]
	}
	return -1, false
}

// UncaughtFailure is the first step that has failed for good where no conditional looks; a run with the policy
// abort-all ends there. It reports false when there is none.
func (r *Root) UncaughtFailure() (int32, bool) {
	for ; r.judged < len(r.fails); r.judged++ {
		v := r.fails[r.judged]
		if !r.node(v).Tested && r.bank.Output(v)&plan.ShowsBlocked != 0 {
			return v, true
		}
	}
	return -1, false
}
