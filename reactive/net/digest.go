package net

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template/value"
)

var _ reactive.Digester = (*Net)(nil)

// Digest writes everything that what the net does next depends on: where its tokens are and what they carry, how far its
// step-runs have come, its context and its counts.
func (n *Net) Digest(w io.Writer, now int64) {
	text := func(v any) string {
		out, err := value.JSON(v)
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	fmt.Fprintf(w, "net %s %v %v %d %d %d %d %d %v %v;", text(n.ctx.values), n.halted != nil, n.waiting, n.final, n.tally.bad,
		min(1, n.tally.normal), n.jumps, n.stepRuns, n.tally.partial, n.stopped)
	for i := range n.steps {
		s := &n.steps[i]
		fmt.Fprintf(w, "step %d %d %d %s", s.runs, s.live, s.status, text(s.result))
		if s.failure != nil {
			fmt.Fprintf(w, " !%s", s.failure.Code)
		}
		fmt.Fprint(w, ";")
	}
	if n.book.Executor.Final >= 0 { // the final step will be told of these
		fmt.Fprintf(w, "counts %d %d %d %d;", n.tally.succeeded, n.tally.failed, n.tally.normal, n.tally.discarded)
	}
	groups := map[*group]int{}
	number := func(g *group) (path string) {
		var list []string
		for ; g != nil; g = g.parent {
			if _, known := groups[g]; !known {
				groups[g] = len(groups)
			}
			list = append(list, fmt.Sprintf("%d/%d/%d", groups[g], g.live, g.failed))
		}
		return strings.Join(list, ">")
	}
	tokens := func(where string, list []*token) {
		for _, t := range list {
			fmt.Fprintf(w, "%s %d %s %s %s %d %s;", where, t.step, text(t.args), text(t.event), number(t.group), t.arc, t.from)
		}
	}
	ready := slices.Clone(n.ready)
	slices.SortFunc(ready, func(a, b *token) int { return int(a.id) - int(b.id) })
	tokens("ready", ready)
	tokens("gate", n.gates.all())
	for _, j := range slices.SortedFunc(maps.Keys(n.joins), func(a, b *tracker) int { return int(a.tokens[0].id) - int(b.tokens[0].id) }) {
		tokens(fmt.Sprintf("join %v", j.fired), j.tokens)
	}
	for _, run := range n.live() {
		fmt.Fprintf(w, "run %s %s %s %s %s %d %d %d %d %s %d;", run.key, text(run.args), text(run.input), text(run.vars), text(run.results),
			run.next, run.done, run.failed, run.arc, number(run.group), now-run.began)
		for _, k := range slices.Sorted(maps.Keys(run.writes)) {
			fmt.Fprintf(w, "wrote %s %d %s;", k, run.writes[k].by, text(run.writes[k].v))
		}
		for _, i := range slices.Sorted(maps.Keys(run.iters)) {
			it := run.iters[i]
			fmt.Fprintf(w, "it %d %d %d %v %s %s %s %s %d;", i, it.pc, it.tries, it.visits, text(it.vars), text(it.ctx), text(it.prev),
				text(it.results), max(0, it.wake-now))
		}
	}
}
