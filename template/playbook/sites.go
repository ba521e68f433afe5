package playbook

import (
	"github.com/sluiceflow/sluice/template"
)

// assemble makes the workflow: all call sites side by side, because the tree does not order them. In the plan of the workflow,
// row i is call site i.
func (r *reader) assemble() {
	w := r.Tree()
	w.Routing = r.book
	// The input of a run is merged over the workload, so it must be an object or null.
	w.Input = map[string]any{"type": []any{"object", "null"}}
	if len(r.book.CallSites) == 0 {
		return
	}
	sites := make([]template.Node, len(r.book.CallSites))
	for i, t := range r.book.CallSites {
		sites[i] = &t.Call
	}
	r.SetSteps([]template.Node{&template.Parallel{Steps: sites, Pos: r.book.Pos}})
}
