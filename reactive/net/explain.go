package net

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// WaitKind says what somebody waits for in a net.
type WaitKind string

// What there is to wait for.
const (
	AtGate   WaitKind = "gate"  // a token is denied until the context changes
	AtJoin   WaitKind = "join"  // tokens have arrived and others may still
	ForTurn  WaitKind = "turn"  // a token is admitted, and its step-run not yet scheduled
	ForCall  WaitKind = "call"  // a task's call: its node says more
	ForDelay WaitKind = "delay" // a task without a call is tried again later
	ForItems WaitKind = "items" // a loop's iterations
)

// Wait is something that a step waits for. Only the fields that its kind has use for are set.
type Wait struct {
	Kind  WaitKind
	Step  string
	Since uint64 // sequence of the event that made it wait; 0: the call's node knows

	Token uint64                 // gate, turn
	Rule  int                    // gate: index of the rule that denies; -1: none holds
	Err   string                 // gate: why the rule could not be evaluated
	Reads map[string]value.Value // gate: what the rules read, as it is now

	Mode    playbook.JoinMode // join
	FanOut  string            // join: the step-run whose fan-out it answers to
	Arrived []string          // join: the steps that tokens have come from
	Live    int               // join: tokens and step-runs of that fan-out that may still arrive, those of fan-outs within it too

	Run       string // call, delay, items: key of the step-run
	Task      string
	Iteration int   // from 0; -1: the step has no loop
	Node      int32 // call: its node
	Due       int64 // delay, Unix nanoseconds
	Done      int   // items: iterations that have ended
	Failed    int   // items: of those, how many have failed
	Total     int   // items
}

// Waits returns what the run waits for: tokens first, oldest first, then step-runs in the order of scheduling.
func (n *Net) Waits() []Wait {
	w := waits{net: n}
	for _, t := range n.gates.All() {
		w.atGate(t)
	}
	ready := slices.Clone(n.ready)
	slices.SortFunc(ready, func(a, b *token) int { return cmp.Compare(a.id, b.id) })
	for _, t := range ready {
		w.add(Wait{Kind: ForTurn, Step: n.book.Steps[t.step].Name, Since: t.since, Token: t.id})
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

// waits collects what a run waits for.
type waits struct {
	net  *Net
	list []Wait
}

func (w *waits) add(x Wait) { w.list = append(w.list, x) }

func (w *waits) atGate(t *token) {
	w.add(Wait{
		Kind: AtGate, Step: w.net.book.Steps[t.step].Name, Since: t.since, Token: t.id, Rule: t.verdict.Rule, Err: t.verdict.Err,
		Reads: w.net.readAtGate(t),
	})
}

// readAtGate gives what the rules of a token's step read.
func (n *Net) readAtGate(t *token) map[string]value.Value {
	list := map[string]value.Value{}
	s := &scope{net: n, args: t.args, event: t.event}
	for _, rule := range n.book.Steps[t.step].Admit.Rules {
		playbook.Readings(rule.When, s, list)
	}
	return list
}

// readAtArcs returns what the guards of a router read.
func (s *scope) readAtArcs(next *playbook.Next) map[string]value.Value {
	list := map[string]value.Value{}
	for i := range next.Arcs {
		playbook.Readings(next.Arcs[i].When, s, list)
	}
	return list
}

// liveWithin counts the tokens and step-runs of every group and of those within it, where any joins wait for them.
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
	slices.SortFunc(groups, func(a, b *group) int { return cmp.Compare(b.id, a.id) }) // those within others first
	for _, g := range groups {
		live[g.parent] += live[g]
	}
	return live
}

func (w *waits) atJoin(j *tracker, live int) {
	step := w.net.book.Steps[j.step]
	x := Wait{
		Kind: AtJoin, Step: step.Name, Since: j.tokens[len(j.tokens)-1].since, Mode: step.Join.Mode, FanOut: j.group.run, Live: live,
	}
	for _, t := range j.tokens {
		x.Arrived = append(x.Arrived, t.from)
	}
	w.add(x)
}

func (w *waits) inRun(run *stepRun) {
	base := Wait{Step: run.step.Name, Run: run.key, Iteration: -1}
	if run.step.Loop != nil {
		x := base
		x.Kind, x.Done, x.Failed, x.Total = ForItems, run.done+run.failed, run.failed, len(run.items)
		w.add(x)
	}
	for _, i := range slices.Sorted(maps.Keys(run.iters)) {
		it := run.iters[i]
		x := base
		if run.step.Loop != nil {
			x.Iteration = int(i)
		}
		if it.pc < len(run.step.Tasks) { // it may have done the last, and end with the next event
			x.Task = it.task().Label
		}
		switch {
		case it.cell != noCell:
			x.Kind, x.Node = ForCall, it.cell
		case it.wake == 0:
			x.Kind, x.Due = ForDelay, w.net.pipelines.more
		default:
			x.Kind, x.Due = ForDelay, it.wake
		}
		w.add(x)
	}
}
