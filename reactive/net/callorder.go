package net

import (
	"github.com/sluiceflow/sluice/reactive/callgraph"
	"github.com/sluiceflow/sluice/reactive/net/callorder"
	"github.com/sluiceflow/sluice/reactive/routed"
)

var _ callgraph.Ordered = (*Net)(nil)

// CallOrder returns the order of the net's calls for a call graph. It replaces the function set by Watch.
func (n *Net) CallOrder(g *callgraph.Graph) callgraph.Order {
	order := callorder.New(g, func(key string) (string, int32) {
		v, _ := n.root.Node(key)
		it := n.pipelines.byCall[v]
		if it == nil { // a journal that was written elsewhere may have a call that is not open: it counts as a step-run of its own
			return key, 0
		}
		return it.run.key, it.index
	})
	n.Watch(func(v routed.View) {
		if v.Name == routed.StepScheduled {
			i, _ := n.book.StepIndex(v.Step)
			loop := n.book.Steps[i].Loop
			order.Scheduled(v.Run, v.Runs, loop != nil && loop.Parallel)
		}
	})
	return order
}
