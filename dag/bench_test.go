package dag_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/sluiceflow/sluice/dag"
)

var sequential = dag.Attributes{Type: dag.Sequential}

// layered builds n nodes with three edges into each, except the first ones. With shuffle, insertion order is not a topological
// order, so ordering does its full work.
func layered(n int, shuffle bool) *dag.Graph {
	place := make([]int, n)
	for i := range place {
		place[i] = i
	}
	random := rand.New(rand.NewPCG(1, 2))
	if shuffle {
		random.Shuffle(n, func(i, j int) { place[i], place[j] = place[j], place[i] })
	}
	b := dag.NewBuilder(dag.TemplateGraph)
	key := []byte("step-")
	for i := range n {
		b.AddNode(string(fmt.Appendf(key[:5], "%06d", i)))
	}
	for i := 1; i < n; i++ {
		for k := range 3 {
			// Three different predecessors from a window, as wide as a layer of such a workflow.
			if from := i - 1 - k*331 - random.IntN(300); from >= 0 {
				b.AddEdge(int32(place[from]), int32(place[i]), sequential)
			}
		}
	}
	g, err := b.Build()
	if err != nil {
		panic(err)
	}
	return g
}

func BenchmarkBuild(b *testing.B) {
	for _, shuffle := range []bool{false, true} {
		for _, n := range []int{1_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("shuffled=%t/nodes=%d", shuffle, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if g := layered(n, shuffle); g.CheckAcyclic() != nil || g.NodeCount() != n {
						b.Fatal("wrong graph")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
				b.ReportMetric(heldBytes(func() any { return layered(n, shuffle) })/float64(n), "held-B/node")
			})
		}
	}
}

// heldBytes returns how many bytes of the heap the result of build keeps alive.
func heldBytes(build func() any) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	value := build()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(value)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}
