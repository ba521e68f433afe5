package net

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/texts"
	"github.com/sluiceflow/sluice/template/value"
)

// Digest writes all state that determines the net's future: its tokens, the progress of its step-runs, its context and its
// counts.
func (n *Net) Digest(w io.Writer, now int64) {
	d := &digest{w: w, now: now, groups: map[*group]int{}, branches: map[*group][]branch{}, texts: texts.New(n.root.Meter())}
	text := d.texts.Of
	fmt.Fprintf(w, "net %s %v %v %d %d %d %d %d %v %v;", text(n.ctx.Peek()), n.halted != nil, n.waiting, n.final, n.tally.bad,
		min(1, n.tally.normal), n.pipelines.jumps, n.runs.scheduled, n.tally.partial, n.stopped)
	if n.book.Executor.Final >= 0 && n.final == finalNone {
		fmt.Fprintf(w, "summary %s;", text(n.summary()))
	}
	for i := range n.steps {
		s := &n.steps[i]
		fmt.Fprintf(w, "step %d %d %d %s %s;", s.runs, s.live, s.status, text(s.result), code(s.failure))
	}
	ready := slices.Clone(n.ready)
	slices.SortFunc(ready, func(a, b *token) int { return cmp.Compare(a.id, b.id) })
	d.tokens("ready", ready)
	d.tokens("gate", n.gates.All())
	for _, j := range slices.SortedFunc(maps.Keys(n.fanOuts.joins), func(a, b *tracker) int { return cmp.Compare(a.tokens[0].id, b.tokens[0].id) }) {
		d.tokens("join", j.tokens)
		for _, t := range j.tokens {
			d.branches[t.group] = append(d.branches[t.group], branch{arc: t.arc, id: t.id, token: t})
		}
	}
	for _, run := range n.runs.live() {
		d.run(run)
	}
	d.order()
	for _, it := range n.pipelines.todo {
		fmt.Fprintf(w, "more %s %d;", it.run.key, it.index)
	}
	for _, t := range n.timers.inOrder() {
		if n.timers.alive(t) {
			fmt.Fprintf(w, "timer %s %s %d;", t.run.key, t.key, t.due-now)
		}
	}
}

// digest writes the parts of a net. It numbers fan-outs in the order of their first use, because it matters only which tokens
// share a fan-out.
type digest struct {
	w        io.Writer
	now      int64
	groups   map[*group]int
	known    []*group // by number
	branches map[*group][]branch
	texts    *texts.Texts
}

// path returns the number of a fan-out. At the first use, it also writes the fan-outs around it.
func (d *digest) path(g *group) string {
	var path strings.Builder
	for ; g != nil; g = g.parent {
		number, known := d.groups[g]
		if known {
			fmt.Fprintf(&path, ">%d", number)
			break
		}
		fmt.Fprintf(&path, ">%d/%d/%d/%d/%d/%t", len(d.known), g.router, g.arc, g.live, g.failed, g.alone)
		for _, k := range g.known { // sorted by join
			if j := k.tracker; j != nil && j.group == g && j.fired {
				fmt.Fprintf(&path, "+%d", j.step)
			}
		}
		d.groups[g] = len(d.known)
		d.known = append(d.known, g)
	}
	return path.String()
}

// order writes the order of branches of the same arc that contain a fan-out, because joins merge tokens in that order.
func (d *digest) order() {
	for _, g := range d.known {
		d.branches[g.parent] = append(d.branches[g.parent], branch{arc: g.arc, id: g.id, group: g})
	}
	for _, g := range d.known {
		list := d.branches[g]
		slices.SortFunc(list, branch.compare)
		for _, b := range list {
			if b.group != nil {
				fmt.Fprintf(d.w, "fan-out %d;", d.groups[b.group])
			} else {
				fmt.Fprintf(d.w, "at join %d;", b.token.step)
			}
		}
	}
}

func (d *digest) tokens(where string, list []*token) {
	for _, t := range list {
		fmt.Fprintf(d.w, "%s %d %s %s %s %d %s;", where, t.step, d.texts.Of(t.args), d.texts.Of(t.event), d.path(t.group), t.arc, t.from)
	}
}

// run writes the parts of a step-run that may still affect its future, such as values that expressions may read.
func (d *digest) run(run *stepRun) {
	text := d.texts.Of
	fmt.Fprintf(d.w, "run %s %s %s %v %s %s %s %s %d %d %d %d %s %d %s %d;", run.key, text(run.args), text(run.input), run.noInput, text(run.vars.Peek()), text(run.items),
		text(run.results), text(run.labeled.Peek()), run.next, run.width, run.done, run.failed, code(run.failure), run.arc, d.path(run.group), d.now-run.began)
	if run.writes != nil {
		run.writes.Walk(func(path string, by []int32, v value.Value) { fmt.Fprintf(d.w, "write %s %d %s;", path, by, text(v)) })
	}
	for _, i := range slices.Sorted(maps.Keys(run.iters)) {
		it := run.iters[i]
		fmt.Fprintf(d.w, "it %d %d %d %v %s %s %s %s %s %d;", i, it.pc, it.tries, it.visits, text(it.input), text(it.vars.Peek()), text(it.ctx.Peek()), text(it.prev),
			text(it.results.Peek()), max(0, it.wake-d.now))
	}
}

// code returns the code of a failure, or "" for nil.
func code(f *journal.Failure) string {
	if f == nil {
		return ""
	}
	return f.Code
}
