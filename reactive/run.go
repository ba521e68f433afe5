package reactive

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
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

// Paused reports whether nothing new may start: a person has paused the run, the run that started it is paused, or a task
// has come to an outcome that pauses it.
func (r *Root) Paused() bool { return r.run.stopped || r.run.above || r.run.pauses > 0 }

// Stopped reports whether a person has paused the run. Only a person ends that pause.
func (r *Root) Stopped() bool { return r.run.stopped }

// PausedFromAbove reports whether the run is paused because the one that started it is.
func (r *Root) PausedFromAbove() bool { return r.run.above }

// RunStatus is where the run stands.
func (r *Root) RunStatus() RunStatus {
	switch {
	case r.run.finished != nil:
		return RunStatus(r.run.finished.Detail.State)
	case r.Paused():
		return RunPaused
	case r.run.busy == 0 && r.run.deciding == 0 && !r.Done() && !r.firing() && !r.starting():
		return RunWaiting
	}
	return RunRunning
}

// starting reports whether a node may start now that only waits for room in the process: a retry that is due.
func (r *Root) starting() bool {
	_, ok := r.NextStart(0)
	return ok
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
		status := RunFailed
		if r.nodes[v].has(expired) {
			status = RunStepTimeout
		}
		return Verdict{Status: status, Failure: r.attributed(r.Failure(v), v), Node: v}
	}
	out := r.plan.Checked.Output
	if out == nil {
		return Verdict{Status: RunCompleted, Node: -1}
	}
	v, err := rendered(out, env{r, -1})
	if err != nil {
		return Verdict{Status: RunFailed, Failure: failed(CodeOutputResolution, err), Node: -1}
	}
	return Verdict{Status: RunCompleted, Output: v, Node: -1}
}

func (r *Root) closedVerdict(e *journal.Event) Verdict {
	out := Verdict{Failure: failureOf(e, CodeCancelled), Node: -1}
	switch e.Type {
	case journal.RunCancelled:
		out.Status = RunAborted
	case journal.RunDeadlineExceeded:
		out.Status = RunDeadlineExceeded
	default:
		out.Status = RunFailed
		v, ok := r.Node(e.Node)
		if ok {
			out.Node = v
			out.Failure = r.attributed(out.Failure, v)
		}
		if byTimer(e) || ok && r.nodes[v].has(expired) {
			out.Status = RunStepTimeout
		}
	}
	return out
}

// attributed is the failure of node v as the run's: it names v, unless it names the step that it goes back to already.
func (r *Root) attributed(f *journal.Failure, v int32) *journal.Failure {
	if f == nil {
		f = &journal.Failure{Code: CodeDependency}
	}
	if f.Step != "" {
		return f
	}
	named := *f
	named.Step = r.Key(v)
	return &named
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
	if r.failedByItems(v) {
		if u := r.failedNode(r.maps[v]); u >= 0 {
			return r.attributed(r.Failure(u), u)
		}
	}
	return n.failure
}

// failedByItems reports whether v is a map that has failed because some of its items have.
func (r *Root) failedByItems(v int32) bool {
	n := &r.nodes[v]
	return n.status == Failed && n.failure == nil && n.has(expanded)
}

// failedNode is the node after which a map's first failed item is named; -1: none failed.
func (r *Root) failedNode(x *expansion) int32 {
	for i := range x.items {
		if lo, hi := r.extent(x.blocks[i]); r.firstUncaught(lo, hi) >= 0 {
			return r.origin(lo, hi)
		}
	}
	return -1
}

// firstFailure is the node a failed run is named after; -1: every failure was caught.
func (r *Root) firstFailure() int32 {
	if r.top.bad == 0 {
		return -1
	}
	return r.origin(r.extent(0))
}

// origin is where the failure of a body began: of the nodes that its uncaught failures go back to, the one that failed
// first, in the order of the journal. -1: every failure was caught.
func (r *Root) origin(lo, hi int32) int32 {
	roots := map[int32]bool{}
	r.addOrigins(roots, lo, hi)
	first := int32(-1)
	for _, v := range slices.Backward(r.fails) { // a node that has failed twice counts from the last time
		if roots[v] {
			first = v
			delete(roots, v)
		}
	}
	if first < 0 {
		return r.firstUncaught(lo, hi)
	}
	return first
}

// addOrigins adds the nodes that the uncaught failures of a body go back to, those inside its maps included.
func (r *Root) addOrigins(roots map[int32]bool, lo, hi int32) {
	chain := map[int32]bool{}
	r.eachUncaught(lo, hi, func(v int32) bool {
		r.addChain(chain, v)
		return true
	})
	for v := range chain {
		switch {
		case r.cascaded(v) || r.row(v).Kind == plan.Join:
		case r.failedByItems(v):
			for _, b := range r.maps[v].blocks[:len(r.maps[v].items)] {
				lo, hi := r.extent(b)
				r.addOrigins(roots, lo, hi)
			}
		default:
			roots[v] = true
		}
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
	first := int32(-1)
	r.eachUncaught(lo, hi, func(v int32) bool {
		if first < 0 || !r.cascaded(v) {
			first = v
		}
		return r.cascaded(v)
	})
	return first
}

// eachUncaught calls yield for the failed nodes of a body that no conditional of the body has caught, in template order,
// until it returns false.
func (r *Root) eachUncaught(lo, hi int32, yield func(v int32) bool) {
	caught := r.caughtIn(lo, hi)
	for v := lo; v < hi; v++ {
		row := r.row(v)
		if row.Kind == plan.Join || row.Map >= 0 && r.nodes[v].block == 0 {
			continue
		}
		if r.bank.Output(v)&plan.ShowsBlocked != 0 && !caught[v] && !yield(v) {
			return
		}
	}
}

// caughtIn is the set of failed nodes of a body that a conditional has caught: the chains of what those that decided
// needed or have looked at. A map catches what the tests of its items look at.
func (r *Root) caughtIn(lo, hi int32) map[int32]bool {
	caught := map[int32]bool{}
	for g := lo; g < hi; g++ {
		row := r.row(g)
		decided := row.Kind == plan.Gate && r.nodes[g].status == Completed
		if !decided && !(row.Kind == plan.Map && r.nodes[g].has(expanded)) {
			continue
		}
		for _, p := range r.plan.Predecessors(r.bank.Row(g)) {
			v := r.beside(g, p)
			if r.bank.Output(v)&plan.ShowsBlocked == 0 {
				continue
			}
			if class, _ := r.edge(v, g); class == plan.Settles || decided && class == plan.Needs {
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

// Pending reports whether another attempt of a node is to come: the retry of one that has failed, or one that a person has asked
// for, whatever the last has come to.
func (r *Root) Pending(v int32) bool { return r.nodes[v].has(pending) }

// Final reports whether a node is terminal for good: one with another attempt to come is not, nor a completed one whose task is
// not decided.
func (r *Root) Final(v int32) bool {
	return r.nodes[v].status.Terminal() && !r.nodes[v].has(pending|held)
}

// BlocksRetry reports whether another attempt of a node would be aborted at once, because something that it,
// or a map around it needs, has failed and the failure policy aborts dependents.
func (r *Root) BlocksRetry(v int32) bool {
	if !r.abortDependents() {
		return false
	}
	for b := r.nodes[v].block; b != 0 && !r.blocked(v); b = r.nodes[v].block {
		v = r.blocks[b].owner
	}
	return r.blocked(v)
}

// Retryable reports whether another attempt of a node may be asked for: it is a step whose newest attempt has ended.
func (r *Root) Retryable(v int32) bool {
	n := &r.nodes[v]
	return r.row(v).Kind == plan.Step && (n.final() || n.has(pending) && !n.has(retryDue))
}

// Requested is the input of the attempt that a node is running.
//
// For a step whose task is being decided it is nil: see its output.
func (r *Root) Requested(v int32) any {
	if r.nodes[v].fact != running {
		return nil
	}
	return value.Unpack(r.nodes[v].output)
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

// CallName is how a call is called outside: as its request, and then by the participant who is asked, or by the number of the
// call to the step's decision source.
func CallName(key string, attempt int32, participant string, decision int32) string {
	name := RequestName(key, attempt)
	if participant != "" {
		name += ":" + url.PathEscape(participant)
	}
	if decision != 0 {
		name += "?" + strconv.Itoa(int(decision))
	}
	return name
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
	if len(r.asks) == 0 || r.run.closed != nil {
		return -1, false
	}
	return r.asks[0], true
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
