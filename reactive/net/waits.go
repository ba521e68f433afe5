package net

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// Waits returns the waits of the run: tokens first, oldest first, then step-runs in the order of scheduling.
func (n *Net) Waits() []routed.Wait {
	w := waits{net: n}
	for _, t := range n.gates.All() {
		w.atGate(t)
	}
	ready := slices.Clone(n.ready)
	slices.SortFunc(ready, func(a, b *token) int { return cmp.Compare(a.id, b.id) })
	for _, t := range ready {
		w.add(routed.Wait{Kind: routed.ForTurn, Step: n.book.Steps[t.step].Name, Since: t.since, Token: t.id})
	}
	joins := slices.SortedFunc(maps.Keys(n.fanOuts.joins), func(a, b *tracker) int { return cmp.Compare(a.tokens[0].id, b.tokens[0].id) })
	live := n.fanOuts.liveWithin(joins)
	for _, j := range joins {
		w.atJoin(j, live[j.group])
	}
	for _, run := range n.runs.live() {
		w.inRun(run)
	}
	return w.list
}

// waits collects the waits of a run.
type waits struct {
	net  *Net
	list []routed.Wait
}

func (w *waits) add(x routed.Wait) { w.list = append(w.list, x) }

func (w *waits) atGate(t *token) {
	w.add(routed.Wait{
		Kind: routed.AtGate, Step: w.net.book.Steps[t.step].Name, Since: t.since, Token: t.id, Rule: t.verdict.Rule, Err: t.verdict.Err,
		Reads: w.net.readAtGate(t),
	})
}

// readAtGate returns the values that the rules of a token's step read.
func (n *Net) readAtGate(t *token) map[string]value.Value {
	list := map[string]value.Value{}
	s := &scope{net: n, args: t.args, event: t.event}
	for _, rule := range n.book.Steps[t.step].Admit.Rules {
		playbook.Readings(rule.When, s, list)
	}
	return list
}

// readAtArcs returns the values that the guards of a router read.
func (s *scope) readAtArcs(next *playbook.Next) map[string]value.Value {
	list := map[string]value.Value{}
	for i := range next.Arcs {
		playbook.Readings(next.Arcs[i].When, s, list)
	}
	return list
}

// liveWithin counts the live tokens and step-runs of every group and its nested groups, if joins wait for them.
func (f *fanOuts) liveWithin(joins []*tracker) map[*group]int {
	if len(joins) == 0 {
		return nil
	}
	live := map[*group]int{}
	var groups []*group
	count := func(g *group) {
		for h := g; h != nil; h = h.parent {
			if _, seen := live[h]; seen {
				break
			}
			live[h] = 0
			groups = append(groups, h)
		}
		live[g]++
	}
	for _, t := range f.net.ready {
		count(t.group)
	}
	for _, t := range f.net.gates.All() {
		count(t.group)
	}
	for _, run := range f.net.runs.byKey {
		count(run.group)
	}
	slices.SortFunc(groups, func(a, b *group) int { return cmp.Compare(b.id, a.id) }) // nested groups first
	for _, g := range groups {
		live[g.parent] += live[g]
	}
	return live
}

func (w *waits) atJoin(j *tracker, live int) {
	step := w.net.book.Steps[j.step]
	x := routed.Wait{
		Kind: routed.AtJoin, Step: step.Name, Since: j.tokens[len(j.tokens)-1].since, Mode: string(step.Join.Mode), FanOut: j.group.run, Live: live,
	}
	for _, t := range j.tokens {
		x.Arrived = append(x.Arrived, t.from)
	}
	w.add(x)
}

func (w *waits) inRun(run *stepRun) {
	base := routed.Wait{Step: run.step.Name, Run: run.key, Iteration: -1}
	if run.step.Loop != nil {
		x := base
		x.Kind, x.Done, x.Failed, x.Total = routed.ForItems, run.done+run.failed, run.failed, len(run.items)
		w.add(x)
	}
	for _, i := range slices.Sorted(maps.Keys(run.iters)) {
		it := run.iters[i]
		x := base
		if run.step.Loop != nil {
			x.Iteration = int(i)
		}
		if it.pc < len(run.step.Tasks) { // otherwise its last task is done, and it ends with the next event
			x.Task = it.task().Label
		}
		switch {
		case it.call != noCall:
			x.Kind, x.Node = routed.ForCall, it.call
		case it.wake == 0:
			x.Kind, x.Due = routed.ForDelay, w.net.pipelines.more
		default:
			x.Kind, x.Due = routed.ForDelay, it.wake
		}
		w.add(x)
	}
}
