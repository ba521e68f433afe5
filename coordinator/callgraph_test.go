package coordinator_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/reactive/callgraph"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

func callsOf(t testing.TB, e *coordinator.Engine, id string) *coordinator.CallGraph {
	r, err := e.Run(t.Context(), id)
	require.NoError(t, err)
	g, err := r.CallGraph(t.Context())
	require.NoError(t, err)
	require.NoError(t, g.CheckAcyclic())
	require.Equal(t, dag.CallGraph, g.Kind())
	return g
}

func edges(g *coordinator.CallGraph) []string {
	var list []string
	for e := range g.Edges() {
		list = append(list, g.Key(e.From)+" "+e.Attrs.Type.String()+" "+g.Key(e.To))
	}
	slices.Sort(list)
	return list
}

func lineage(t testing.TB, g *coordinator.CallGraph, call string) (list []string) {
	node, ok := g.Node(call)
	require.True(t, ok, call)
	for v := range g.Lineage(node) {
		list = append(list, g.Key(v))
	}
	return list
}

// The call graph of every run leads to the run without a parent.
func TestCallGraphsSpanGenerations(t *testing.T) {
	seen := make(chan *journal.Identity, 9)
	who := operation.Define("who", func(ctx context.Context, _ any) (int, error) {
		seen <- operation.CallOf(ctx).Identity
		return 7, nil
	})
	dir := written(t, map[string]string{
		"top.yaml": `
kind: Workflow
name: top
operations: {sub: {workflow: {path: middle.yaml}}}
steps: [{operation: who}, {map: {id: each, over: [1, 2], as: n, steps: [{operation: sub}]}}, {id: last, operation: who}]`,
		"middle.yaml": "{kind: Workflow, name: middle, operations: {sub: {workflow: {path: low.yaml}}}, steps: [{operation: sub}]}",
		"low.yaml":    "{kind: Workflow, name: low, operations: {sub: {workflow: {path: lowest.yaml}}}, steps: [{operation: sub}]}",
		"lowest.yaml": "{kind: Workflow, name: lowest, steps: [{operation: who}]}",
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{who}})
	r, err := e.Start(t.Context(), loaded(t, dir+"/top.yaml", "who"), nil, coordinator.WithID("r"),
		coordinator.WithIdentity(journal.Identity{ID: "ann", Scopes: []string{"pay"}}))
	require.NoError(t, err)
	require.NoError(t, wait(t, r).Err())

	g := callsOf(t, e, "r")
	require.Equal(t, 10, g.NodeCount())
	require.Equal(t, []string{
		"r/sub[0]#1 depends_on r/last#1", "r/sub[0]#1 triggered r/sub[0]#1/sub#1",
		"r/sub[0]#1/sub#1 triggered r/sub[0]#1/sub#1/sub#1", "r/sub[0]#1/sub#1/sub#1 triggered r/sub[0]#1/sub#1/sub#1/who#1",
		"r/sub[1]#1 depends_on r/last#1", "r/sub[1]#1 triggered r/sub[1]#1/sub#1",
		"r/sub[1]#1/sub#1 triggered r/sub[1]#1/sub#1/sub#1", "r/sub[1]#1/sub#1/sub#1 triggered r/sub[1]#1/sub#1/sub#1/who#1",
		"r/who#1 depends_on r/sub[0]#1", "r/who#1 depends_on r/sub[1]#1",
	}, edges(g))
	lowest := "r/sub[1]#1/sub#1/sub#1"
	above := []string{"r/sub[1]#1/sub#1/sub#1", "r/sub[1]#1/sub#1", "r/sub[1]#1"}
	require.Equal(t, above, lineage(t, g, lowest+"/who#1"))
	for v := range g.Nodes() {
		c := g.Call(v)
		require.Equal(t, &journal.Identity{ID: "ann", Scopes: []string{"pay"}}, c.Identity, c.ID)
		require.Equal(t, []any{g.Key(v), callgraph.Completed}, []any{c.ID, c.Status})
		require.Equal(t, map[bool]string{true: c.Run, false: ""}[strings.Contains(c.Run, "/")], c.Parent)
		if c.Operation == "who" {
			require.EqualValues(t, 7, c.Output)
			require.Equal(t, c.Identity, <-seen)
		}
	}

	low := callsOf(t, e, "r/sub[1]#1/sub#1")
	require.Equal(t, above, lineage(t, low, lowest+"/who#1"))
	require.Equal(t, 4, low.NodeCount(), "the calls of the runs below it, and the calls that have led to it")
	require.Equal(t, "sub", low.Call(0).Operation)
	require.Equal(t, above, lineage(t, callsOf(t, e, lowest), lowest+"/who#1"))
}

// A participant's call starts a child of its own, and was itself made by the call of the step.
func TestParticipantsTriggerChildren(t *testing.T) {
	dir := written(t, map[string]string{
		"top.yaml": `
kind: Workflow
name: top
operations: {sub: {workflow: {path: child.yaml}}}
steps:
  - {id: ask, operation: sub, target: {resolve: static, participants: [ann, "b/c"]}, fan_in: {policy: all}}
  - {id: after, operation: echo}`,
		"child.yaml": "{kind: Workflow, name: child, steps: [{operation: echo}]}",
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	r, err := e.Start(t.Context(), loaded(t, dir+"/top.yaml", "echo"), nil, coordinator.WithID("r"))
	require.NoError(t, err)
	require.NoError(t, wait(t, r).Err())
	g := callsOf(t, e, "r")
	require.Equal(t, []string{
		"r/ask#1 depends_on r/after#1", "r/ask#1 triggered r/ask#1:ann", "r/ask#1 triggered r/ask#1:b%2Fc",
		"r/ask#1:ann triggered r/ask#1:ann/echo#1", "r/ask#1:b%2Fc triggered r/ask#1:b%2Fc/echo#1",
	}, edges(g))
	require.Equal(t, []string{"r/ask#1:b%2Fc", "r/ask#1"}, lineage(t, callsOf(t, e, "r/ask#1:b%2Fc"), "r/ask#1:b%2Fc/echo#1"))
}

func TestCallGraphsOfPlaybooks(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	w := household(t, map[string]string{
		"top.yaml": `
workflow:
  - {step: start, tool: {name: t, kind: echo}, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}}
  - {step: b, loop: {in: [1, 2], iterator: i, spec: {mode: parallel}}, tool: [{name: x, kind: echo}, {name: y, kind: playbook, path: child.yaml}], next: {arcs: [{step: d}]}}
  - {step: c, tool: {kind: noop}, next: {arcs: [{step: d}]}}
  - {step: d, spec: {join: {mode: all}}, tool: {name: t, kind: echo}}
`,
		"child.yaml": "workflow: [{step: s, tool: {name: t, kind: echo}}]\n",
	})
	r, err := e.Start(t.Context(), w, nil, coordinator.WithID("p"))
	require.NoError(t, err)
	require.NoError(t, wait(t, r).Err())
	g := callsOf(t, e, "p")
	require.Equal(t, []string{
		"p/b@1[0].x#1 depends_on p/b@1[0].y#1", "p/b@1[0].y#1 depends_on p/d@1.t#1", "p/b@1[0].y#1 triggered p/b@1[0].y#1/s@1.t#1",
		"p/b@1[1].x#1 depends_on p/b@1[1].y#1", "p/b@1[1].y#1 depends_on p/d@1.t#1", "p/b@1[1].y#1 triggered p/b@1[1].y#1/s@1.t#1",
		"p/start@1.t#1 depends_on p/b@1[0].x#1", "p/start@1.t#1 depends_on p/b@1[1].x#1", "p/start@1.t#1 depends_on p/d@1.t#1",
	}, edges(g))
	require.Equal(t, []string{"p/b@1[1].y#1"}, lineage(t, callsOf(t, e, "p/b@1[1].y#1"), "p/b@1[1].y#1/s@1.t#1"))
}

// For runs under the rules of another version the graph has the calls, and the calls that made them.
func TestCallGraphsOfRunsThatCannotBeFollowed(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	store, err := disk.Open(unpack(t, "format-1.tar.gz"), disk.Config{Logger: quiet})
	require.NoError(t, err)
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: quiet})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
	g := callsOf(t, e, "parent")
	require.Greater(t, g.NodeCount(), 2)
	for v := range g.Nodes() {
		c := g.Call(v)
		require.Equal(t, callgraph.Completed, c.Status, c.ID)
		require.Equal(t, map[bool]string{true: "", false: c.Run}[c.Run == "parent"], c.Parent)
	}
	require.True(t, g.Has("parent/child#1"))
}
