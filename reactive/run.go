package reactive

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// Verdict is how a run ends, or has ended.
type Verdict struct {
	Status  RunStatus
	Failure *journal.Failure // why it did not complete
	Node    int32            // the node it is named after; -1: none
	Output  any
}

// RunStatus is where the run stands.
func (r *Root) RunStatus() RunStatus {
	switch {
	case r.Finished() != nil:
		return RunStatus(r.Finished().Detail.State)
	case r.Paused():
		return RunPaused
	case r.tree.busy == 0 && !r.keeper.Deciding() && !r.Done() && !r.firing() && !r.starting():
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
		return r.Started() && r.Finished() == nil && (r.Closed() || r.body.Done())
	}
	return r.Started() && r.Finished() == nil && (r.Closed() || r.tree.top.unsettled == 0)
}

// Verdict says how a done run ends. It is named after its first uncaught failure, in the order of the journal. A failure
// is caught when a conditional that decided tests a node of its chain.
func (r *Root) Verdict() Verdict {
	if e := r.ClosedBy(); e != nil {
		return r.closedVerdict(e)
	}
	if r.body != nil {
		return r.body.Verdict()
	}
	if v := r.tree.faults.firstFailure(); v >= 0 {
		status := RunFailed
		if r.keeper.Node(v).Has(ledger.Expired) {
			status = RunStepTimeout
		}
		return Verdict{Status: status, Failure: r.tree.faults.attributed(r.Failure(v), v), Node: v}
	}
	out := r.places.plan.Checked.Output
	if out == nil {
		return Verdict{Status: RunCompleted, Node: -1}
	}
	v, err := rendered(out, env{r.tree, -1})
	if err != nil {
		return Verdict{Status: RunFailed, Failure: failed(CodeOutputResolution, err), Node: -1}
	}
	return Verdict{Status: RunCompleted, Output: v, Node: -1}
}

func (r *Root) closedVerdict(e *journal.Event) Verdict {
	out := Verdict{Failure: e.FailureOr(CodeCanceled), Node: -1}
	switch e.Type {
	case journal.RunCanceled:
		out.Status = RunAborted
	case journal.RunDeadlineExceeded:
		out.Status = RunDeadlineExceeded
	default:
		out.Status = RunFailed
		v, ok := r.Node(e.Node)
		if ok {
			out.Node = v
			out.Failure = r.tree.faults.attributed(out.Failure, v)
		}
		if e.ByTimer() || ok && r.keeper.Node(v).Has(ledger.Expired) {
			out.Status = RunStepTimeout
		}
	}
	return out
}

// attributed is the failure of node v as the run's: it names v, unless it names the step that it goes back to already.
func (fs *faults) attributed(f *journal.Failure, v int32) *journal.Failure {
	if f == nil {
		f = &journal.Failure{Code: CodeDependency}
	}
	if f.Step != "" {
		return f
	}
	named := *f
	named.Step = fs.Key(v)
	return &named
}

// Failure is why a node has failed, was aborted or was skipped by its timing; nil when it was not. A map's is that of
// its first failed item.
func (fs *faults) Failure(v int32) *journal.Failure {
	n := fs.l.Node(v)
	switch n.Status {
	case ledger.Failed, ledger.Aborted, ledger.Skipped:
	default:
		return nil
	}
	if fs.failedByItems(v) {
		if u := fs.failedNode(fs.maps[v]); u >= 0 {
			return fs.attributed(fs.Failure(u), u)
		}
	}
	return n.Failure
}

// failedByItems reports whether v is a map that has failed because some of its items have.
func (fs *faults) failedByItems(v int32) bool {
	n := fs.l.Node(v)
	return n.Status == ledger.Failed && n.Failure == nil && n.Has(ledger.Expanded)
}

// failedNode is the node after which a map's first failed item is named; -1: none failed.
func (fs *faults) failedNode(x *expansion) int32 {
	for i := range x.items {
		if lo, hi := fs.extent(x.blocks[i]); fs.firstUncaught(lo, hi) >= 0 {
			return fs.origin(lo, hi)
		}
	}
	return -1
}

// firstFailure is the node a failed run is named after; -1: every failure was caught.
func (fs *faults) firstFailure() int32 {
	if fs.tree.top.bad == 0 {
		return -1
	}
	return fs.origin(fs.extent(0))
}

// origin is where the failure of a body began: of the nodes that its uncaught failures go back to, the one that failed
// first, in the order of the journal. -1: every failure was caught.
func (fs *faults) origin(lo, hi int32) int32 {
	roots := map[int32]bool{}
	fs.addOrigins(roots, lo, hi)
	first := int32(-1)
	for _, v := range slices.Backward(fs.l.Fails()) { // a node that has failed twice counts from the last time
		if roots[v] {
			first = v
			delete(roots, v)
		}
	}
	if first < 0 {
		return fs.firstUncaught(lo, hi)
	}
	return first
}

// addOrigins adds the nodes that the uncaught failures of a body go back to, those inside its maps included.
func (fs *faults) addOrigins(roots map[int32]bool, lo, hi int32) {
	chain := map[int32]bool{}
	fs.eachUncaught(lo, hi, func(v int32) bool {
		fs.addChain(chain, v)
		return true
	})
	for v := range chain {
		switch {
		case fs.cascaded(v) || fs.l.Row(v).Kind == plan.Join:
		case fs.failedByItems(v):
			for _, b := range fs.maps[v].blocks[:len(fs.maps[v].items)] {
				lo, hi := fs.extent(b)
				fs.addOrigins(roots, lo, hi)
			}
		default:
			roots[v] = true
		}
	}
}

// extent is the range of nodes [lo, hi) of a block.
func (p *places) extent(b int32) (lo, hi int32) {
	if b == 0 {
		return 0, int32(len(p.plan.Nodes))
	}
	blk := &p.blocks[b]
	return blk.base, blk.base + p.plan.Nodes[blk.row].End - blk.row - 1
}

// firstUncaught is the first node of a body, in template order, whose failure no conditional of that body caught; one
// that failed itself comes before those it took with it. -1: there is none.
func (fs *faults) firstUncaught(lo, hi int32) int32 {
	first := int32(-1)
	fs.eachUncaught(lo, hi, func(v int32) bool {
		if first < 0 || !fs.cascaded(v) {
			first = v
		}
		return fs.cascaded(v)
	})
	return first
}

// eachUncaught calls yield for the failed nodes of a body that no conditional of the body has caught, in template order,
// until it returns false.
func (fs *faults) eachUncaught(lo, hi int32, yield func(v int32) bool) {
	caught := fs.caughtIn(lo, hi)
	for v := lo; v < hi; v++ {
		row := fs.l.Row(v)
		if row.Kind == plan.Join || row.Map >= 0 && fs.l.Node(v).Block == 0 {
			continue
		}
		if fs.bank.Output(v)&plan.ShowsBlocked != 0 && !caught[v] && !yield(v) {
			return
		}
	}
}

// caughtIn is the set of failed nodes of a body that a conditional has caught: the chains of what those that decided
// needed or have looked at. A map catches what the tests of its items look at.
func (fs *faults) caughtIn(lo, hi int32) map[int32]bool {
	caught := map[int32]bool{}
	for g := lo; g < hi; g++ {
		row := fs.l.Row(g)
		decided := row.Kind == plan.Gate && fs.l.Node(g).Status == ledger.Completed
		if !decided && !(row.Kind == plan.Map && fs.l.Node(g).Has(ledger.Expanded)) {
			continue
		}
		for _, p := range fs.plan.Predecessors(fs.bank.Row(g)) {
			v := fs.beside(g, p)
			if fs.bank.Output(v)&plan.ShowsBlocked == 0 {
				continue
			}
			if class, _ := fs.edge(v, g); class == plan.Settles || decided && class == plan.Needs {
				fs.addChain(caught, v)
			}
		}
	}
	return caught
}

// addChain adds p's failure chain to a set.
func (fs *faults) addChain(set map[int32]bool, p int32) {
	for stack := []int32{p}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if set[v] {
			continue
		}
		set[v] = true
		stack = append(stack, fs.behindOf(v)...)
	}
}

// BlocksRetry reports whether another attempt of a node would be aborted at once, because something that it,
// or a map around it needs, has failed and the failure policy aborts dependents.
func (t *tree) BlocksRetry(v int32) bool {
	if !t.abortDependents() {
		return false
	}
	for b := t.l.Node(v).Block; b != 0 && !t.blocked(v); b = t.l.Node(v).Block {
		v = t.blocks[b].owner
	}
	return t.blocked(v)
}

// OpenCalls are all the calls that the journal knows as asked and not answered, in the order of their nodes, or of a routed
// run in that in which its calls were opened: what is asked again, with the same request ids, when a run is recovered.
func (r *Root) OpenCalls() []ledger.Request {
	var calls []ledger.Request
	for _, v := range r.places.inOrder() {
		calls = r.keeper.OpenCalls(calls, v)
	}
	return calls
}

// NextAsk is the next gate or map whose Go function is to be run. It stays the next until its answer was applied.
func (gs *gates) NextAsk() (int32, bool) {
	if len(gs.asks) == 0 || gs.l.Closed() {
		return -1, false
	}
	return gs.asks[0], true
}

// UncaughtFailure is the first step that has failed for good where no conditional looks; a run with the policy
// abort-all ends there. It reports false when there is none.
func (fs *faults) UncaughtFailure() (int32, bool) {
	for ; fs.judged < len(fs.l.Fails()); fs.judged++ {
		v := fs.l.Fails()[fs.judged]
		if !fs.l.Place(v).Tested && fs.bank.Output(v)&plan.ShowsBlocked != 0 {
			return v, true
		}
	}
	return -1, false
}
