package net_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/callgraph"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// mCall is a call of a run in the model.
type mCall struct {
	key     string
	item    int // of its loop; -1: the iterations are sequential
	attempt int
	before  []string // the calls for which all its attempts have waited
}

// comesFrom records the runs from which a run's token comes: the runs merged at its join, the run whose arc it followed or, for
// the final step, the runs that precede no other.
func (m *model) comesFrom(r *mRun, t *mToken) {
	r.sources = t.joined
	if t.from != "" && len(t.joined) == 0 {
		r.sources = []string{t.from}
	}
	if t.final {
		for _, o := range m.past {
			if !slices.ContainsFunc(m.past, func(p *mRun) bool { return slices.Contains(p.sources, o.key) }) {
				r.sources = append(r.sources, o.key)
			}
		}
	}
	m.past = append(m.past, r)
}

// noteCall records a call and its predecessors.
func (m *model) noteCall(it *mIter) {
	r := it.run
	c := mCall{key: it.open, item: -1, attempt: 1}
	if m.steps[r.step].width > 1 && m.steps[r.step].items >= 0 {
		c.item = it.index
	}
	last := slices.IndexFunc(r.called, func(o mCall) bool { return o.item == c.item })
	switch {
	case last < 0:
		c.before = m.waitedBy(r)
		r.called = append(r.called, c)
	case r.called[last].key == c.key:
		c.attempt, c.before = r.called[last].attempt+1, r.called[last].before
		r.called[last] = c
	default:
		c.before = []string{reactive.RequestName(r.called[last].key, int32(r.called[last].attempt))}
		r.called[last] = c
	}
	for _, b := range c.before {
		m.waits = append(m.waits, fmt.Sprintf("%s#%d after %s", c.key, c.attempt, b))
	}
}

// waitedBy returns the calls for which the first calls of a run wait: the last calls of the runs before it.
func (m *model) waitedBy(r *mRun) (list []string) {
	for _, o := range m.past {
		switch {
		case !slices.Contains(r.sources, o.key):
		case len(o.called) == 0:
			list = append(list, m.waitedBy(o)...)
		default:
			for _, c := range o.called {
				list = append(list, reactive.RequestName(c.key, int32(c.attempt)))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// callGraph returns the call graph of the run so far, with the predecessors of its calls.
func (b *table) callGraph() (g *callgraph.Graph, waits []string) {
	g = callgraph.New(decide.NewRoot(b.plan))
	for _, e := range b.journal {
		e.Hint = 0
		g.Apply(&e)
	}
	graph, _, err := callgraph.Merge(g)
	require.NoError(b.t, err)
	require.NoError(b.t, graph.CheckAcyclic())
	for e := range graph.Edges() {
		require.Equal(b.t, dag.DependsOn, e.Attrs.Type)
		waits = append(waits, strings.ReplaceAll(graph.Key(e.To)+" after "+graph.Key(e.From), "game/", ""))
	}
	return g, waits
}

// sameCalls compares the predecessors and the status of each call.
func (b *table) sameCalls(m *model) {
	g, waits := b.callGraph()
	there, running := map[string]bool{}, map[string]bool{}
	for _, req := range b.root.OpenCalls() {
		running[reactive.RequestName(b.root.Key(req.Node), req.Attempt)] = true
	}
	for _, c := range g.Calls() {
		require.False(b.t, there[c.Request], c.Request)
		there[c.Request] = true
		require.Equal(b.t, "game/"+c.Request, c.ID)
		require.Equal(b.t, running[c.Request], c.Status == callgraph.Running, c.Request)
		require.NotEqual(b.t, callgraph.Pending, c.Status, c.Request)
	}
	want := slices.DeleteFunc(m.waits, func(w string) bool { return !there[strings.Fields(w)[0]] })
	require.ElementsMatch(b.t, want, waits)
}

// Each iteration of a parallel loop is a separate lane, and too many of them meet in one node.
func TestIterationsMeet(t *testing.T) {
	const n = 200
	b := lay(t, fmt.Sprintf(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: game}
workflow:
  - {step: start, loop: {in: '{{ take(%s, %d) }}', iterator: i, spec: {mode: parallel}}, tool: [{name: a, kind: work}, {name: b, kind: work}], next: {arcs: [{step: end}]}}
  - {step: end, loop: {in: '{{ take(%s, %d) }}', iterator: i, spec: {mode: parallel}}, tool: [{name: c, kind: work}]}
`, list(n), n, list(n), n))
	for len(b.calls()) > 0 {
		b.answer(b.calls()[0], true)
	}
	g, waits := b.callGraph()
	require.Len(t, g.Calls(), 3*n)
	require.Len(t, waits, 3*n)
	require.Contains(t, waits, "start@1[7].b#1 after start@1[7].a#1")
	require.Contains(t, waits, "start@1 after start@1[7].b#1")
	require.Contains(t, waits, "end@1[8].c#1 after start@1")
}

func list(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ", %d", i)
	}
	return "[" + b.String()[2:] + "]"
}
