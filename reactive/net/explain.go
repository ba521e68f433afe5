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

// Waits gives what the run waits for: tokens first, oldest first, then step-runs in the order of scheduling.
func (n *Net) Waits() []Wait {
	var list []Wait
	for _, t := range n.gates.All() {
		list = append(list, n.atGate(t))
	}
	ready := slices.Clone(n.ready)
	slices.SortFunc(ready, func(a, b *token) int { return cmp.Compare(a.id, b.id) })
	for _, t := range ready {
		list = append(list, Wait{Kind: ForTurn, Step: n.book.Steps[t.step].Name, Since: t.since, Token: t.id})
	}
	joins := slices.SortedFunc(maps.Keys(n.joins), func(a, b *tracker) int { return cmp.Compare(a.tokens[0].id, b.tokens[0].id) })
	live := n.liveWithin(joins)
	for _, j := range joins {
		list = append(list, n.atJoin(j, live[j.group]))
	}
	for _, run := range n.live() {
		list = n.inRun(list, run)
	}
	return list
}

func (n *Net) atGate(t *token) Wait {
	return Wait{
		Kind: AtGate, Step: n.book.Steps[t.step].Name, Since: t.since, Token: t.id, Rule: t.verdict.Rule, Err: t.verdict.Err,
		Reads: n.readAtGate(t),
	}
}

// readAtGate gives what the rules of a token's step read.
func (n *Net) readAtGate(t *token) map[string]value.Value {
	list := map[string]value.Value{}
	s := &scope{net: n, args: t.args, event: t.event}
	for _, rule := range n.book.Steps[t.step].Admit.Rules {
		s.readings(rule.When, list)
	}
	return list
}

// readAtArcs gives what the guards of a router read, where somebody wants to know.
func (n *Net) readAtArcs(next *playbook.Next, s *scope) map[string]value.Value {
	if n.watch == nil {
		return nil
	}
	list := map[string]value.Value{}
	for i := range next.Arcs {
		s.readings(next.Arcs[i].When, list)
	}
	return list
}

// read are the variables of which it is told what was read of them.
var read = []string{"workload", "ctx", "args", "event", "input", "step", "results", "outcome", "output"}

// readings adds what an expression reads, by how it is written there: keys of variables, and one level below them where that
// is all it reads.
func (s *scope) readings(e playbook.Expr, list map[string]value.Value) {
	if e == nil {
		return
	}
	bare := playbook.Bare(e)
	for _, name := range slices.Concat(read, bare) {
		v, err := s.Name(name)
		object, ok := v.(map[string]any)
		keys, all := e.Keys(name)
		if slices.Contains(bare, name) && (!ok || all) {
			list[name] = v // null for what is undefined
			continue
		}
		if err != nil || !ok {
			continue
		}
		if all {
			keys = slices.Sorted(maps.Keys(object))
		}
		for _, k := range keys {
			members, whole := e.Members(name, k)
			below, isObject := object[k].(map[string]any)
			if all || whole || len(members) == 0 || !isObject {
				list[name+"."+k] = object[k]
				continue
			}
			for _, m := range members {
				list[name+"."+k+"."+m] = below[m]
			}
		}
	}
}

// liveWithin counts the tokens and step-runs of every group and of those within it, where any joins wait for them.
func (n *Net) liveWithin(joins []*tracker) map[*group]int {
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
	for _, t := range n.ready {
		count(t.group)
	}
	for _, t := range n.gates.All() {
		count(t.group)
	}
	for _, run := range n.runs {
		count(run.group)
	}
	slices.SortFunc(groups, func(a, b *group) int { return cmp.Compare(b.id, a.id) }) // those within others first
	for _, g := range groups {
		live[g.parent] += live[g]
	}
	return live
}

func (n *Net) atJoin(j *tracker, live int) Wait {
	w := Wait{
		Kind: AtJoin, Step: n.book.Steps[j.step].Name, Since: j.tokens[len(j.tokens)-1].since,
		Mode: n.book.Steps[j.step].Join.Mode, FanOut: j.group.run, Live: live,
	}
	for _, t := range j.tokens {
		w.Arrived = append(w.Arrived, t.from)
	}
	return w
}

func (n *Net) inRun(list []Wait, run *stepRun) []Wait {
	base := Wait{Step: run.step.Name, Run: run.key, Iteration: -1}
	if run.step.Loop != nil {
		w := base
		w.Kind, w.Done, w.Failed, w.Total = ForItems, run.done+run.failed, run.failed, len(run.items)
		list = append(list, w)
	}
	for _, i := range slices.Sorted(maps.Keys(run.iters)) {
		it := run.iters[i]
		w := base
		if run.step.Loop != nil {
			w.Iteration = int(i)
		}
		if it.pc < len(run.step.Tasks) { // it may have done the last, and end with the next event
			w.Task = it.task().Label
		}
		switch {
		case it.cell != noCell:
			w.Kind, w.Node = ForCall, it.cell
		case it.wake == 0:
			w.Kind, w.Due = ForDelay, n.more
		default:
			w.Kind, w.Due = ForDelay, it.wake
		}
		list = append(list, w)
	}
	return list
}
