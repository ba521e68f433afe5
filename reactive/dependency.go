package reactive

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// faults says why the nodes of a tree have failed or were aborted, and where that began.
type faults struct {
	*places
	l            ledger.Keeper
	tree         *tree
	dependencies map[int32]*dependents // of nodes that have failed, for those that need them
	judged       int                   // so many of the nodes that have failed do not end the run
}

// dependency is why a node is aborted that needs something that has failed: it names the step where that began. What one
// failure takes with it shares one Failure, so that a chain of a million costs one.
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

// blocker is the first of the nodes whose failure blocks v; -1: there is none.
func (fs *faults) blocker(v int32) int32 {
	first := int32(-1)
	fs.eachBlocker(v, func(u int32) bool {
		first = u
		return false
	})
	return first
}

// eachBlocker calls yield for the predecessors whose failure keeps a node from ever starting, and for the conditional around
// it if that has failed, until it returns false. For a conditional these are only what its test does not catch.
func (fs *faults) eachBlocker(v int32, yield func(u int32) bool) {
	row := fs.l.Row(v)
	for _, p := range fs.plan.Predecessors(fs.bank.Row(v)) {
		u := fs.beside(v, p)
		if fs.bank.Output(u)&plan.ShowsBlocked == 0 || fs.settles(u, v) {
			continue
		}
		if (row.Kind != plan.Gate || !fs.tree.gates.catches(v, u)) && !yield(u) {
			return
		}
	}
	if row.Gate >= 0 && fs.tree.branch(v) == broken {
		yield(fs.beside(v, row.Gate))
	}
}

// dependencyOn is what aborts the nodes that need u, which has failed or was aborted.
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

// dependents is what the nodes are told that need a node which has failed.
type dependents struct {
	of      *journal.Failure // of that node
	status  ledger.Status    // of that node
	failure *journal.Failure
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
