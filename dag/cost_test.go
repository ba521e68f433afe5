package dag_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/dag"
)

func TestAGraphHoldsAtMost120BytesANode(t *testing.T) {
	const n = 100_000
	for _, shuffle := range []bool{false, true} {
		held := heldBytes(func() any { return layered(n, shuffle) }) / n
		t.Logf("shuffled=%t: %.0f bytes a node with three edges", shuffle, held)
		require.Less(t, held, 120.0)
		require.Greater(t, held, 40.0, "a graph this small was not kept alive while it was measured")
	}
}

// The total of allocations bounds the memory in use at any time during a build.
func TestBuildingAllocatesAtMost250BytesANode(t *testing.T) {
	for _, n := range []int{10_000, 100_000} {
		keys := make([]string, n)
		for i := range keys {
			keys[i] = fmt.Sprintf("step-%06d", i)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b := dag.NewBuilder(dag.TemplateGraph)
		b.Grow(n, 3*n)
		for _, key := range keys {
			b.AddNode(key)
		}
		for i := range n {
			for k := range 3 {
				b.AddEdge(int32(i), int32((i+7*k+1)%n), sequential)
			}
		}
		g, err := b.Build()
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Equal(t, 3*n, g.EdgeCount())
		allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
		t.Logf("%d nodes: %.0f bytes a node allocated", n, allocated)
		require.Less(t, allocated, 250.0)
	}
}

func TestOrderingFollowsEveryEdgeOnce(t *testing.T) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		g := layered(n, true)
		require.Equal(t, g.NodeCount()+g.EdgeCount(), dag.SortWork(g))
	}
}

func TestConditionsAreStoredOnce(t *testing.T) {
	const n = 10_000
	build := func(attrs dag.Attributes) float64 {
		return heldBytes(func() any {
			b := dag.NewBuilder(dag.TemplateGraph)
			source := b.AddNode("source")
			for i := range n {
				b.AddEdge(source, b.AddNode(fmt.Sprint(i)), attrs)
			}
			g, err := b.Build()
			require.NoError(t, err)
			return g
		})
	}
	plain, guarded := build(sequential), build(when("a condition of some length, the same on every edge", "!and another"))
	require.Less(t, (guarded-plain)/n, 16.0, "bytes that guards cost an edge")
}

func TestReadsAllocateNothing(t *testing.T) {
	g := layered(2_000, true)
	b := dag.NewBuilder(dag.CallGraph)
	for _, key := range []string{"a", "b", "c"} {
		b.AddNode(key)
	}
	b.AddEdge(0, 1, triggered)
	b.AddEdge(1, 2, triggered)
	calls, err := b.Build()
	require.NoError(t, err)
	key := g.Key(1234)
	var sum int32
	reads := map[string]func(){
		"node":      func() { id, _ := g.Node(key); sum += id },
		"key":       func() { sum += int32(len(g.Key(7))) },
		"edge":      func() { e, _ := g.Edge(0, 1, dag.Sequential); sum += e.To },
		"has edge":  func() { g.HasEdge(3, 4) },
		"rank":      func() { sum += g.Rank(5) },
		"degrees":   func() { sum += int32(g.InDegree(5) + g.OutDegree(5)) },
		"acyclic":   func() { sum += int32(len(g.Cycles())) },
		"nodes":     func() { each2(g, &sum) },
		"edges":     func() { eachEdge(g, &sum) },
		"out, in":   func() { eachNeighbour(g, &sum) },
		"order":     func() { eachInOrder(g, &sum) },
		"lineage":   func() { eachCall(calls, &sum) },
		"out edges": func() { eachOutEdge(g, &sum) },
	}
	for name, read := range reads {
		require.Zero(t, testing.AllocsPerRun(20, read), name)
	}
	require.NotZero(t, sum)
}

func each2(g *dag.Graph, sum *int32) {
	for v, key := range g.Nodes() {
		*sum += v + int32(len(key))
	}
}

func eachEdge(g *dag.Graph, sum *int32) {
	for e := range g.Edges() {
		*sum += e.To
	}
}

func eachOutEdge(g *dag.Graph, sum *int32) {
	for e := range g.OutEdges(12) {
		*sum += e.To
	}
	for e := range g.InEdges(12) {
		*sum += e.From
	}
}

func eachNeighbour(g *dag.Graph, sum *int32) {
	for v := range int32(g.NodeCount()) {
		for w := range g.Out(v) {
			*sum += w
		}
		for w := range g.In(v) {
			*sum += w
		}
	}
}

func eachInOrder(g *dag.Graph, sum *int32) {
	for v := range g.Order() {
		*sum += v
	}
	for v := range g.Roots() {
		*sum += v
	}
	for v := range g.Leaves() {
		*sum += v
	}
}

func eachCall(g *dag.Graph, sum *int32) {
	for v := range g.Children(0) {
		*sum += v
	}
	for v := range g.Lineage(2) {
		*sum += v
	}
}

func BenchmarkReads(b *testing.B) {
	g := layered(100_000, true)
	var sum int32
	b.Run("neighbours of every node", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			eachNeighbour(g, &sum)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*g.EdgeCount()), "ns/neighbour")
	})
	b.Run("node by key", func(b *testing.B) {
		b.ReportAllocs()
		key := g.Key(54_321)
		for b.Loop() {
			if _, ok := g.Node(key); !ok {
				b.Fatal("lost a key")
			}
		}
	})
	b.Run("reaches", func(b *testing.B) {
		b.ReportAllocs()
		order := slices.Collect(g.Order())
		first, last := order[0], order[len(order)-1]
		want := slices.Contains(slices.Collect(g.Descendants(first)), last)
		for b.Loop() {
			if g.Reaches(first, last) != want {
				b.Fatal("wrong answer")
			}
		}
	})
}
