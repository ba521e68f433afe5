package net

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

var _ reactive.Digester = (*Net)(nil)

// Digest writes everything that what the net does next depends on: where its tokens are and what they carry, how far its
// step-runs have come, its context and its counts.
func (n *Net) Digest(w io.Writer, now int64) {
	fmt.Fprintf(w, "net %s %v %v %d %d %d %d %d %v %v;", text(n.ctx.values), n.halted != nil, n.waiting, n.final, n.tally.bad,
		min(1, n.tally.normal), n.jumps, n.stepRuns, n.tally.partial, n.stopped)
	if n.book.Executor.Final >= 0 && n.final == finalNone {
		fmt.Fprintf(w, "summary %s;", text(n.summary()))
	}
	for i := range n.steps {
		s := &n.steps[i]
		fmt.Fprintf(w, "step %d %d %d %s %s;", s.runs, s.live, s.status, text(s.result), code(s.failure))
	}
	d := &digest{w: w, now: now, groups: map[*group]int{}}
	ready := slices.Clone(n.ready)
	slices.SortFunc(ready, func(a, b *token) int { return cmp.Compare(a.id, b.id) })
	d.tokens("ready", ready)
	d.tokens("gate", n.gates.all())
	for _, j := range slices.SortedFunc(maps.Keys(n.joins), func(a, b *tracker) int { return cmp.Compare(a.tokens[0].id, b.tokens[0].id) }) {
		d.tokens("join", j.tokens)
	}
	for _, run := range n.live() {
		d.run(run)
	}
}

// digest writes the parts of a net. Fan-outs are numbered as they come up: which they are is of no matter, only who shares
// them.
type digest struct {
	w      io.Writer
	now    int64
	groups map[*group]int
}

// path is a fan-out with those around it.
func (d *digest) path(g *group) string {
	var list []string
	for ; g != nil; g = g.parent {
		if _, known := d.groups[g]; !known {
			d.groups[g] = len(d.groups)
		}
		at := fmt.Sprintf("%d/%d/%d/%d", d.groups[g], g.arc, g.live, g.failed)
		for _, j := range g.joins {
			if j.fired {
				at += fmt.Sprintf("+%d", j.step)
			}
		}
		list = append(list, at)
	}
	return strings.Join(list, ">")
}

func (d *digest) tokens(where string, list []*token) {
	for _, t := range list {
		fmt.Fprintf(d.w, "%s %d %s %s %s %d %s;", where, t.step, text(t.args), text(t.event), d.path(t.group), t.arc, t.from)
	}
}

// run writes a step-run with everything that an expression may still read of it.
func (d *digest) run(run *stepRun) {
	fmt.Fprintf(d.w, "run %s %s %s %s %s %s %s %d %d %d %d %s %d %s %d;", run.key, text(run.args), text(run.input), text(run.vars), text(run.items),
		text(run.results), text(run.labeled), run.next, run.width, run.done, run.failed, code(run.failure), run.arc, d.path(run.group), d.now-run.began)
	for _, k := range slices.Sorted(maps.Keys(run.writes)) {
		fmt.Fprintf(d.w, "write %s %d %s;", k, run.writes[k].by, text(run.writes[k].v))
	}
	for _, i := range slices.Sorted(maps.Keys(run.iters)) {
		it := run.iters[i]
		fmt.Fprintf(d.w, "it %d %d %d %v %s %s %s %s %d;", i, it.pc, it.tries, it.visits, text(it.vars), text(it.ctx), text(it.prev),
			text(it.results), max(0, it.wake-d.now))
	}
}

// text is a value as canonical JSON.
func text(v any) string {
	out, err := value.JSON(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// code is what a failure is named; nothing where there is none.
func code(f *journal.Failure) string {
	if f == nil {
		return ""
	}
	return f.Code
}
