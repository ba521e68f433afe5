package reactive

import (
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// faults determines the causes of failed and aborted nodes of a tree, and the nodes in which the failures began.
type faults struct {
	*places
	l            ledger.Keeper
	tree         *tree
	dependencies map[int32]*dependents // failures of the nodes that need a failed node, by that node
	judged       int                   // number of failed nodes that do not end the run
}

// attributed returns the failure of node v as the failure of the run. It names v, unless it already names the step in which it
// began.
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

// Failure returns the failure of a node that failed, was aborted, or was skipped by its timing, else nil. The failure of a map
// is the failure of its first failed item.
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

// failedByItems reports whether v is a map that failed because of its items.
func (fs *faults) failedByItems(v int32) bool {
	n := fs.l.Node(v)
	return n.Status == ledger.Failed && n.Failure == nil && n.Has(ledger.Expanded)
}

// failedNode returns the node that the failure of the first failed item names, or -1 if no item failed.
func (fs *faults) failedNode(x *expansion) int32 {
	for i := range x.items {
		if lo, hi := fs.extent(x.blocks[i]); fs.firstUncaught(lo, hi) >= 0 {
			return fs.origin(lo, hi)
		}
	}
	return -1
}

// firstFailure returns the node that the failure of the run names, or -1 if every failure was caught.
func (fs *faults) firstFailure() int32 {
	if fs.tree.top.bad == 0 {
		return -1
	}
	return fs.origin(fs.extent(0))
}

// origin returns the node in which the failure of a body began, or -1 if every failure was caught. Of the origins of uncaught
// failures, it returns the first in the order of the journal.
func (fs *faults) origin(lo, hi int32) int32 {
	roots := map[int32]bool{}
	fs.addOrigins(roots, lo, hi)
	first := int32(-1)
	for _, v := range slices.Backward(fs.l.Fails()) { // a node that failed twice counts at its last failure
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

// addOrigins adds the origins of the uncaught failures of a body, including those inside its maps.
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

// firstUncaught returns the first node of a body, in template order, whose failure no conditional of that body caught, or -1. A
// node that failed itself precedes nodes that aborted because of others.
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

// eachUncaught calls yield, in template order, for the nodes of a body whose failures no conditional of the body caught, until
// yield returns false.
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

// caughtIn returns the failed nodes of a body whose failures a conditional caught: the failure chains of the nodes that a
// decided conditional needs or reads. A map catches the failures that the tests in its items read.
func (fs *faults) caughtIn(lo, hi int32) map[int32]bool {
	caught := map[int32]bool{}
	for g := lo; g < hi; g++ {
		row := fs.l.Row(g)
		decided := row.Kind == plan.Gate && fs.l.Node(g).Status == ledger.Completed
		if !decided && !(row.Kind == plan.Map && fs.l.Node(g).Has(ledger.Expanded)) {
			continue
		}
		for _, p := range fs.plan.Predecessors(fs.bank.Row(g)) {
			v := fs.inSameBody(g, p)
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

// Caught reports whether a conditional of a node's body caught the node's failure.
func (fs *faults) Caught(v int32) bool { return fs.caughtIn(fs.extent(fs.l.Node(v).Block))[v] }

// addChain adds p's failure chain to a set.
func (fs *faults) addChain(set map[int32]bool, p int32) {
	for stack := []int32{p}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if set[v] {
			continue
		}
		set[v] = true
		stack = append(stack, fs.causes(v)...)
	}
}

// UncaughtFailure returns the first step that failed for good and that no conditional tests. It reports false if there is none.
// With the policy abort-all, such a step ends the run.
func (fs *faults) UncaughtFailure() (int32, bool) {
	for ; fs.judged < len(fs.l.Fails()); fs.judged++ {
		v := fs.l.Fails()[fs.judged]
		if !fs.l.Place(v).Tested && fs.bank.Output(v)&plan.ShowsBlocked != 0 {
			return v, true
		}
	}
	return -1, false
}

// dependency returns the failure of a node that aborts because a node that it needs has failed. It names the step in which the
// failure began. All nodes that abort because of one failure share a Failure, so that a chain of a million nodes costs one.
func (fs *faults) dependency(v int32) *journal.Failure {
	n := fs.l.Node(v)
	if n.Status == ledger.Aborted && n.Failure != nil && n.Failure.Code == CodeDependency {
		return n.Failure
	}
	if u := fs.blocker(v); u >= 0 {
		return fs.dependencyOn(u)
	}
	return &journal.Failure{Code: CodeDependency, Message: "a step it depends on has failed"}
}

// blocker returns the first node whose failure blocks v, or -1.
func (fs *faults) blocker(v int32) int32 {
	first := int32(-1)
	fs.eachBlocker(v, func(u int32) bool {
		first = u
		return false
	})
	return first
}

// eachBlocker calls yield for the predecessors whose failures prevent the start of a node, and for the conditional around it if
// that failed, until yield returns false. For a conditional, it skips the failures that the test catches.
func (fs *faults) eachBlocker(v int32, yield func(u int32) bool) {
	row := fs.l.Row(v)
	for _, p := range fs.plan.Predecessors(fs.bank.Row(v)) {
		u := fs.inSameBody(v, p)
		if fs.bank.Output(u)&plan.ShowsBlocked == 0 || fs.settles(u, v) {
			continue
		}
		if (row.Kind != plan.Gate || !fs.tree.gates.catches(v, u)) && !yield(u) {
			return
		}
	}
	if row.Gate >= 0 && fs.tree.branch(v) == broken {
		yield(fs.inSameBody(v, row.Gate))
	}
}

// dependencyOn returns the failure of the nodes that need u, a failed or aborted node.
func (fs *faults) dependencyOn(u int32) *journal.Failure {
	n := fs.l.Node(u)
	if fs.l.Row(u).Kind == plan.Join {
		if n.Failure == nil {
			n.Failure = fs.dependency(u)
		}
		return n.Failure
	}
	if n.Failure != nil && n.Failure.Code == CodeDependency && fs.cascaded(u) {
		return n.Failure
	}
	known := fs.dependencies[u]
	if known == nil || known.of != n.Failure || known.status != n.Status {
		known = &dependents{of: n.Failure, status: n.Status, failure: fs.describeDependency(u)}
		fs.dependencies[u] = known
	}
	return known.failure
}

func (fs *faults) describeDependency(u int32) *journal.Failure {
	n := fs.l.Node(u)
	f := &journal.Failure{Code: CodeDependency, Step: fs.Key(u)}
	what := map[plan.Kind]string{plan.Step: "step", plan.Map: "map", plan.Gate: "conditional"}[fs.l.Row(u).Kind]
	if f.Step != "" {
		what = fmt.Sprintf("%s %q", what, f.Step)
	}
	how := "has failed"
	if n.Status == ledger.Aborted {
		how = "was aborted"
	}
	f.Message = what + ", which it depends on, " + how
	if n.Failure != nil && n.Failure.Code != CodeAborted {
		f.Message += " (" + n.Failure.Code + ")"
	}
	return f
}

// settles reports whether there is an edge from one node to another that any end of the first satisfies.
func (fs *faults) settles(from, to int32) bool {
	class, ok := fs.edge(from, to)
	return ok && class != plan.Needs
}

// edge returns the class of the edge from one node to another. It reports false if there is none.
func (fs *faults) edge(from, to int32) (plan.Class, bool) {
	if fs.l.Node(from).Block != fs.l.Node(to).Block {
		return plan.Needs, false
	}
	row := fs.bank.Row(to)
	out := fs.plan.Outgoing(fs.bank.Row(from))
	i, ok := slices.BinarySearchFunc(out, row, func(e plan.Edge, row int32) int { return int(e.To) - int(row) })
	if !ok {
		return plan.Needs, false
	}
	return out[i].Class, true
}

// causes returns the nodes that made x fail, nil if x failed by itself.
func (fs *faults) causes(x int32) []int32 {
	row := fs.l.Row(x)
	if row.Kind != plan.Join && !fs.cascaded(x) {
		return nil
	}
	var causes []int32
	for _, p := range fs.plan.Predecessors(fs.bank.Row(x)) {
		v := fs.inSameBody(x, p)
		if fs.bank.Output(v)&plan.ShowsBlocked == 0 {
			continue
		}
		if class, _ := fs.edge(v, x); class != plan.Sees {
			causes = append(causes, v)
		}
	}
	if row.Gate >= 0 && fs.tree.branch(x) == broken {
		causes = append(causes, fs.inSameBody(x, row.Gate))
	}
	return causes
}

// cascaded reports whether x was aborted only because of other nodes.
func (fs *faults) cascaded(x int32) bool {
	n := fs.l.Node(x)
	return n.Status == ledger.Aborted && (n.Has(ledger.Cascade) || n.Fact == ledger.NoFact && !n.Has(ledger.ByHand))
}

// BlockedByFailure returns the predecessors whose failures prevent the start of a node, and the conditional around it if that
// failed. For a conditional, it omits the failures that the test catches.
func (fs *faults) BlockedByFailure(v int32) []int32 {
	var causes []int32
	fs.eachBlocker(v, func(u int32) bool {
		causes = append(causes, u)
		return true
	})
	return causes
}

// dependents is the failure of the nodes that need a failed node.
type dependents struct {
	of      *journal.Failure // of that node
	status  ledger.Status    // of that node
	failure *journal.Failure
}
