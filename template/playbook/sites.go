package playbook

import (
	"github.com/sluiceflow/sluice/template"
)

// assemble makes the workflow: the sites of all calls side by side, because what orders them is not the tree. Row i of the
// plan that it compiles to is site i.
func (r *reader) assemble() {
	w := r.Tree()
	w.Routing = r.book
	// What a run is started with is laid over the workload, so it must be an object, or nothing.
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
