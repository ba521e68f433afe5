package reactive

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// dependency is why a node is aborted that needs something that has failed: it names the step where that began. What one
// failure takes with it shares one Failure, so that a chain of a million costs one.
func (r *Root) dependency(v int32) *journal.Failure {
	n := &r.nodes[v]
	if n.status == Aborted && n.failure != nil && n.failure.Code == CodeDependency {
		return n.failure
	}
	if u := r.blocker(v); u >= 0 {
		return r.dependencyOn(u)
	}
	return &journal.Failure{Code: CodeDependency, Message: "a step it depends on has failed"}
}

// blocker is the first of the nodes whose failure blocks v; -1: there is none.
func (r *Root) blocker(v int32) int32 {
	first := int32(-1)
	r.eachBlocker(v, func(u int32) bool {
		first = u
		return false
	})
	return first
}

// eachBlocker calls yield for the predecessors whose failure keeps a node from ever starting, and for the conditional around
// it if that has failed, until it returns false. For a conditional these are only what its test does not catch.
func (r *Root) eachBlocker(v int32, yield func(u int32) bool) {
	row := r.row(v)
	for _, p := range r.plan.Predecessors(r.bank.Row(v)) {
		u := r.beside(v, p)
		if r.bank.Output(u)&plan.ShowsBlocked == 0 || r.settles(u, v) {
			continue
		}
		if (row.Kind != plan.Gate || !r.catches(v, u)) && !yield(u) {
			return
		}
	}
	if row.Gate >= 0 && r.branch(v) == broken {
		yield(r.beside(v, row.Gate))
	}
}

// dependencyOn is what aborts the nodes that need u, which has failed or was aborted.
func (r *Root) dependencyOn(u int32) *journal.Failure {
	n := &r.nodes[u]
	if r.row(u).Kind == plan.Join {
		if n.failure == nil {
			n.failure = r.dependency(u)
		}
		return n.failure
	}
	if n.failure != nil && n.failure.Code == CodeDependency && r.cascaded(u) {
		return n.failure
	}
	known := r.dependencies[u]
	if known == nil || known.of != n.failure || known.status != n.status {
		known = &dependents{of: n.failure, status: n.status, failure: r.describeDependency(u)}
		r.dependencies[u] = known
	}
	return known.failure
}

// dependents is what the nodes are told that need a node which has failed.
type dependents struct {
	of      *journal.Failure // of that node
	status  Status           // of that node
	failure *journal.Failure
}

func (r *Root) describeDependency(u int32) *journal.Failure {
	n := &r.nodes[u]
	f := &journal.Failure{Code: CodeDependency, Step: r.Key(u)}
	what := map[plan.Kind]string{plan.Step: "step", plan.Map: "map", plan.Gate: "conditional"}[r.row(u).Kind]
	if f.Step != "" {
		what = fmt.Sprintf("%s %q", what, f.Step)
	}
	how := "has failed"
	if n.status == Aborted {
		how = "was aborted"
	}
	f.Message = what + ", which it depends on, " + how
	if n.failure != nil && n.failure.Code != CodeAborted {
		f.Message += " (" + n.failure.Code + ")"
	}
	return f
}
