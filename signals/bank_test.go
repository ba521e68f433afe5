package signals_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/signals"
)

// wire builds a wiring from a list of edges (from, to, class); the rank of a row is the length of the longest path to it.
func wire(t testing.TB, rows int, edges [][3]int32, table [][signals.Outputs]uint8) *signals.Wiring {
	t.Helper()
	slices.SortStableFunc(edges, func(a, b [3]int32) int { return int(a[0] - b[0]) })
	first, rank := make([]int32, rows+1), make([]int32, rows)
	to, class := make([]int32, 0, len(edges)), make([]uint8, 0, len(edges))
	for _, e := range edges {
		first[e[0]+1]++
		to, class = append(to, e[1]), append(class, uint8(e[2]))
		rank[e[1]] = max(rank[e[1]], rank[e[0]]+1) // edges ascend in row, so rank[e[0]] is final
	}
	for i := range rows {
		first[i+1] += first[i]
	}
	w, err := signals.NewWiring(first, to, class, rank, table)
	require.NoError(t, err)
	return w
}

// gateTable counts class 0 at gate g while bit g of the output is set, and class 1 at gate 0 while the output is 0.
func gateTable() [][signals.Outputs]uint8 {
	table := make([][signals.Outputs]uint8, 2)
	for output := range signals.Outputs {
		table[0][output] = uint8(output)
	}
	table[1][0] = 1
	return table
}

func TestNewWiringRefuses(t *testing.T) {
	table := gateTable()
	badTable := make([][signals.Outputs]uint8, 1)
	badTable[0][3] = 1 << signals.Gates
	tests := []struct {
		name      string
		first, to []int32
		class     []uint8
		rank      []int32
		table     [][signals.Outputs]uint8
		want      string
	}{
		{"too few entries in First", []int32{0, 0}, nil, nil, []int32{0, 0}, table, "2 entries in First"},
		{"no First at all", nil, nil, nil, nil, table, "0 entries in First"},
		{"an edge without a class", []int32{0, 1, 1}, []int32{1}, nil, []int32{0, 1}, table, "0 classes for 1 edges"},
		{"edges that belong to no row", []int32{0, 0, 0}, []int32{1}, []uint8{0}, []int32{0, 1}, table, "span [0, 0), want [0, 1)"},
		{"First that falls", []int32{0, 2, 1, 2}, []int32{1, 2}, []uint8{0, 0}, []int32{0, 1, 2}, table, "First fall at row 1"},
		{"a target that is no row", []int32{0, 1, 1}, []int32{2}, []uint8{0}, []int32{0, 1}, table, "edge to 2: there are 2 rows"},
		{"a negative target", []int32{0, 1, 1}, []int32{-1}, []uint8{0}, []int32{0, 1}, table, "edge to -1"},
		{"an edge to its own row", []int32{0, 1}, []int32{0}, []uint8{0}, []int32{0}, table, "does not ascend: rank 0 to 0"},
		{"an edge that descends", []int32{0, 1, 1}, []int32{1}, []uint8{0}, []int32{1, 0}, table, "does not ascend: rank 1 to 0"},
		{"a negative rank", []int32{0, 0}, nil, nil, []int32{-1}, table, "negative rank -1"},
		{"an unknown class", []int32{0, 1, 1}, []int32{1}, []uint8{2}, []int32{0, 1}, table, "class 2: there are 2"},
		{"a gate that does not exist", []int32{0, 0}, nil, nil, []int32{0}, badTable, "there are only 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := signals.NewWiring(tt.first, tt.to, tt.class, tt.rank, tt.table)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestBankQueuesATargetOnlyWhenAGateFlips(t *testing.T) {
	w := wire(t, 4, [][3]int32{{0, 3, 0}, {1, 3, 0}, {2, 3, 0}}, gateTable())
	var derived []int32
	b := signals.NewBank(w, func(node int32) { derived = append(derived, node) })
	turns := func() []int32 {
		derived = nil
		b.Drain()
		return derived
	}
	require.Empty(t, turns(), "nothing is queued at the start")

	b.Show(0, 1)
	require.Equal(t, []int32{3}, turns(), "0 to 1 flips gate 0")
	b.Show(1, 1)
	require.Empty(t, turns(), "1 to 2 does not")
	b.Show(1, 1)
	require.EqualValues(t, 2, b.Count(3, 0), "an equal output changes nothing")
	b.Show(1, 0)
	b.Show(0, 0)
	require.Equal(t, []int32{3}, turns(), "back to 0 flips it again")
	b.Show(0, 1)
	b.Show(0, 2)
	require.Equal(t, []int32{3}, turns(), "several flips before a Drain are one turn")
	require.EqualValues(t, []int32{0, 1}, []int32{b.Count(3, 0), b.Count(3, 1)})
	require.EqualValues(t, 2, b.Output(0))
}

func TestBankStartsWithWhatOutputZeroCounts(t *testing.T) {
	b := signals.NewBank(wire(t, 3, [][3]int32{{0, 2, 1}, {1, 2, 1}, {0, 1, 0}}, gateTable()), func(int32) {})
	require.EqualValues(t, 2, b.Count(2, 0))
	require.EqualValues(t, 0, b.Count(1, 0))
	b.Show(0, 4)
	require.EqualValues(t, 1, b.Count(2, 0))
	require.EqualValues(t, 1, b.Count(1, 2))
}

func TestBankCountsParallelEdgesEach(t *testing.T) {
	b := signals.NewBank(wire(t, 2, [][3]int32{{0, 1, 0}, {0, 1, 0}}, gateTable()), func(int32) {})
	b.Show(0, 1)
	require.EqualValues(t, 2, b.Count(1, 0))
	b.Show(0, 0)
	require.EqualValues(t, 0, b.Count(1, 0))
}

func TestBankDrainsByRankThenNode(t *testing.T) {
	// Rows are numbered against their ranks: 3 -> 1 -> 0 and 2 alone.
	w, err := signals.NewWiring([]int32{0, 0, 1, 1, 2}, []int32{0, 1}, []uint8{0, 0}, []int32{2, 1, 0, 0}, gateTable())
	require.NoError(t, err)
	var derived []int32
	b := signals.NewBank(w, func(node int32) { derived = append(derived, node) })
	for _, node := range []int32{0, 3, 1, 2, 3, 0} {
		b.Mark(node)
	}
	b.Drain()
	require.Equal(t, []int32{2, 3, 1, 0}, derived)
}

func TestBankTakesWhatDeriveMarksInTheSameDrain(t *testing.T) {
	w := wire(t, 4, [][3]int32{{0, 1, 0}, {1, 2, 0}, {2, 3, 0}}, gateTable())
	var derived []int32
	var b *signals.Bank
	b = signals.NewBank(w, func(node int32) {
		derived = append(derived, node)
		if node == 2 && len(derived) < 6 {
			b.Mark(0) // lower
			b.Mark(2) // itself
			b.Drain() // does nothing: the outer Drain continues
		}
	})
	b.Mark(2)
	b.Mark(3)
	b.Drain()
	require.Equal(t, []int32{2, 0, 2, 0, 2, 0, 2, 3}, derived)
}

func TestBankKeepsTheQueueWhenDerivePanics(t *testing.T) {
	var derived []int32
	b := signals.NewBank(wire(t, 3, nil, gateTable()), func(node int32) {
		derived = append(derived, node)
		if node == 1 {
			panic("boom")
		}
	})
	for node := range int32(3) {
		b.Mark(node)
	}
	require.PanicsWithValue(t, "boom", b.Drain)
	require.Equal(t, []int32{0, 1}, derived)
	b.Drain()
	require.Equal(t, []int32{0, 1, 2}, derived)
}

func TestBankBlocksAreInstancesThatDoNotTouchEachOther(t *testing.T) {
	// 0 -> 1 -> 2 -> 3, and rows 1 and 2 are instantiated twice more.
	w := wire(t, 4, [][3]int32{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}}, gateTable())
	b := signals.NewBank(w, func(int32) {})
	x, y := b.Add(1, 3), b.Add(1, 3)
	require.EqualValues(t, []int32{4, 6}, []int32{x, y})
	require.Equal(t, 8, b.Len())
	require.EqualValues(t, []int32{1, 2, 1, 2}, []int32{b.Row(x), b.Row(x + 1), b.Row(y), b.Row(y + 1)})
	require.EqualValues(t, 0, b.Count(x, 0), "the edge from row 0 does not exist for the block")
	require.EqualValues(t, 1, b.Count(x+1, 0))

	b.Show(x, 1)
	require.EqualValues(t, []int32{0, 1, 1}, []int32{b.Count(x+1, 0), b.Count(y+1, 0), b.Count(2, 0)})
	b.Show(x+1, 1)
	require.EqualValues(t, 1, b.Count(3, 0), "the edge to row 3 does not exist for the block")
	b.Show(0, 1)
	require.EqualValues(t, 0, b.Count(1, 0), "the rows of the first block are wired as ever")
}

func TestBankResetTakesABlockBackToItsStart(t *testing.T) {
	w := wire(t, 3, [][3]int32{{0, 1, 1}, {1, 2, 0}}, gateTable())
	var derived []int32
	b := signals.NewBank(w, func(node int32) { derived = append(derived, node) })
	x := b.Add(0, 3)
	b.Show(x, 5)
	b.Show(x+1, 1)
	b.Mark(0)
	b.Reset(x, 3)
	require.EqualValues(t, []uint8{0, 0}, []uint8{b.Output(x), b.Output(x + 1)})
	require.EqualValues(t, []int32{1, 0}, []int32{b.Count(x+1, 0), b.Count(x+2, 0)})
	b.Mark(x + 2) // still has an entry in the queue: derived once all the same
	b.Mark(x + 2)
	b.Drain()
	require.Equal(t, []int32{0, x + 2}, derived)

	require.Panics(t, func() { b.Reset(x, 2) })
	require.Panics(t, func() { b.Reset(x+1, 2) })
	require.Panics(t, func() { b.Add(2, 4) })
	require.Panics(t, func() { b.Add(2, 1) })
	require.Panics(t, func() { b.Add(-1, 1) })
}

func TestBankWorksOnNoRowsAtAll(t *testing.T) {
	b := signals.NewBank(wire(t, 0, nil, nil), func(int32) {})
	b.Drain()
	require.EqualValues(t, 0, b.Add(0, 0))
	b.Reset(0, 0)
	require.Zero(t, b.Len())
}

func TestBankAllocatesNothingOnceWarm(t *testing.T) {
	const nodes = 100
	w := layered(t, nodes, 3)
	var b *signals.Bank
	b = signals.NewBank(w, func(node int32) {
		if b.Count(node, 0) == 0 {
			b.Show(node, 1)
		}
	})
	round := func() {
		for node := range int32(nodes) {
			b.Mark(node)
		}
		b.Drain()
		b.Reset(0, nodes)
	}
	round()
	require.Zero(t, testing.AllocsPerRun(10, round))
}

func TestBankLooksAtEachEdgeOncePerChange(t *testing.T) {
	const n = 10_000
	edges := make([][3]int32, n)
	for i := range edges {
		edges[i] = [3]int32{int32(i), n, 1}
	}
	b := signals.NewBank(wire(t, n+1, edges, gateTable()), func(int32) {})
	for node := range int32(n) {
		b.Show(node, 1)
		b.Drain()
	}
	looked, derived := b.Work()
	require.EqualValues(t, n, looked, "a join of n costs n edges, not n*n")
	require.EqualValues(t, 1, derived)
}

// bankOracle is a trivial bank: it stores only outputs, and each method recounts everything.
type bankOracle struct {
	w       *signals.Wiring
	outputs []uint8
	row     []int32
	block   [][2]int32 // base and length of each node's block
}

func (o *bankOracle) add(lo, hi int32) {
	base := int32(len(o.outputs))
	for row := lo; row < hi; row++ {
		o.outputs, o.row, o.block = append(o.outputs, 0), append(o.row, row), append(o.block, [2]int32{base, hi - lo})
	}
}

func (o *bankOracle) counts() [][signals.Gates]int32 {
	counts := make([][signals.Gates]int32, len(o.outputs))
	for node := range o.outputs {
		for e := o.w.First[o.row[node]]; e < o.w.First[o.row[node]+1]; e++ {
			target := int32(node) + o.w.To[e] - o.row[node]
			block := o.block[node]
			if target < block[0] || target >= block[0]+block[1] {
				continue
			}
			for g := range signals.Gates {
				if o.w.Table[o.w.Class[e]][o.outputs[node]]>>g&1 == 1 {
					counts[target][g]++
				}
			}
		}
	}
	return counts
}

// flipped returns the nodes with a gate that is zero in either before or after, but not in both.
func flipped(before, after [][signals.Gates]int32) []int32 {
	var nodes []int32
	for node := range before {
		for g := range signals.Gates {
			if (before[node][g] == 0) != (after[node][g] == 0) {
				nodes = append(nodes, int32(node))
				break
			}
		}
	}
	return nodes
}

func drawWiring(t *rapid.T) *signals.Wiring {
	rows := rapid.IntRange(1, 12).Draw(t, "rows")
	table := make([][signals.Outputs]uint8, rapid.IntRange(1, 3).Draw(t, "classes"))
	for class := range table {
		for output := range table[class] {
			table[class][output] = rapid.Uint8Range(0, 15).Draw(t, "set")
		}
	}
	first, rank := []int32{0}, make([]int32, rows)
	var to []int32
	var class []uint8
	for row := range rows {
		rank[row] = rapid.Int32Range(0, 5).Draw(t, "rank")
	}
	for row := range rows {
		for range rapid.IntRange(0, 4).Draw(t, "degree") {
			target := rapid.IntRange(0, rows-1).Draw(t, "target")
			if rank[target] > rank[row] {
				// Parallel edges are of one class here: with several, a gate may flip and flip back within one Show, which the oracle does not see.
				to = append(to, int32(target))
				class = append(class, uint8((row+target)%len(table)))
			}
		}
		first = append(first, int32(len(to)))
	}
	w, err := signals.NewWiring(first, to, class, rank, table)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestBankAgreesWithRecountingEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWiring(t)
		var turns []int32
		b := signals.NewBank(w, func(node int32) { turns = append(turns, node) })
		oracle := &bankOracle{w: w}
		oracle.add(0, int32(w.Rows()))
		queued := map[int32]bool{}
		show := func(node int32, out uint8) {
			before := oracle.counts()
			oracle.outputs[node] = out
			for _, target := range flipped(before, oracle.counts()) {
				queued[target] = true
			}
			b.Show(node, out)
		}
		drain := func() {
			turns = nil
			b.Drain()
			want := make([]int32, 0, len(queued))
			for node := range queued {
				want = append(want, node)
			}
			slices.SortFunc(want, func(x, y int32) int {
				if d := w.Rank[oracle.row[x]] - w.Rank[oracle.row[y]]; d != 0 {
					return int(d)
				}
				return int(x - y)
			})
			if !slices.Equal(turns, want) {
				t.Fatalf("Drain took %v, want %v", turns, want)
			}
			clear(queued)
		}
		node := func() int32 { return rapid.Int32Range(0, int32(b.Len()-1)).Draw(t, "node") }
		t.Repeat(map[string]func(*rapid.T){
			"show": func(t *rapid.T) { show(node(), rapid.Uint8Range(0, 15).Draw(t, "output")) },
			"mark": func(t *rapid.T) {
				n := node()
				b.Mark(n)
				queued[n] = true
			},
			"add": func(t *rapid.T) {
				lo := rapid.Int32Range(0, int32(w.Rows()-1)).Draw(t, "lo")
				hi := rapid.Int32Range(lo+1, int32(w.Rows())).Draw(t, "hi")
				if base := b.Add(lo, hi); int(base) != len(oracle.outputs) {
					t.Fatalf("Add returned base %d, want %d", base, len(oracle.outputs))
				}
				oracle.add(lo, hi)
			},
			"reset": func(*rapid.T) {
				block := oracle.block[node()]
				b.Reset(block[0], block[1])
				for i := block[0]; i < block[0]+block[1]; i++ {
					oracle.outputs[i] = 0
					delete(queued, i)
				}
			},
			"drain": func(*rapid.T) { drain() },
			"": func(t *rapid.T) {
				for node, want := range oracle.counts() {
					var got [signals.Gates]int32
					for g := range signals.Gates {
						got[g] = b.Count(int32(node), g)
					}
					if got != want || b.Output(int32(node)) != oracle.outputs[node] || b.Row(int32(node)) != oracle.row[node] {
						t.Fatalf("node %d: counts %v output %d row %d, want %v %d %d", node, got, b.Output(int32(node)), b.Row(int32(node)),
							want, oracle.outputs[node], oracle.row[node])
					}
				}
			},
		})
		drain()
	})
}

func TestBankDerivesEachNodeAtMostOnceAndInRankOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWiring(t)
		var b *signals.Bank
		turns := map[int32]int{}
		rank := int32(-1)
		b = signals.NewBank(w, func(node int32) {
			turns[node]++
			if r := w.Rank[b.Row(node)]; r < rank {
				t.Fatalf("node %d of rank %d came after rank %d", node, r, rank)
			}
			rank = w.Rank[b.Row(node)]
			b.Show(node, uint8(b.Count(node, 0)+b.Count(node, 1)+3)&15)
		})
		for range 3 {
			rank = -1
			clear(turns)
			for range rapid.IntRange(1, 4).Draw(t, "marks") {
				b.Mark(rapid.Int32Range(0, int32(b.Len()-1)).Draw(t, "node"))
			}
			b.Drain()
			for node, n := range turns {
				if n > 1 {
					t.Fatalf("node %d was derived %d times", node, n)
				}
			}
			b.Add(0, int32(w.Rows()))
		}
	})
}

// Outputs and gates of the layered graph: gate 0 counts inputs that are not done, gate 1 inputs that have begun.
const (
	idle, running, done = 0, 1, 2
)

func layered(t testing.TB, nodes, inputs int) *signals.Wiring {
	const width = 100
	table := make([][signals.Outputs]uint8, 1)
	table[0][idle], table[0][running], table[0][done] = 0b01, 0b11, 0b10
	var edges [][3]int32
	for from := range nodes - min(width, nodes) {
		layer := (from/width + 1) * width
		for i := range inputs {
			edges = append(edges, [3]int32{int32(from), int32(min(nodes-1, layer+(from+i*7)%width)), 0})
		}
	}
	return wire(t, nodes, edges, table)
}

// BenchmarkBank runs a layered graph of n nodes with 3 inputs each from the first layer to the last; every node shows "running", then "done".
func BenchmarkBank(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			w := layered(b, n, 3)
			completed := 0
			var bank *signals.Bank
			bank = signals.NewBank(w, func(node int32) {
				if bank.Count(node, 0) == 0 && bank.Output(node) == idle {
					completed++
					bank.Show(node, running)
					bank.Show(node, done)
				}
			})
			run := func() {
				completed = 0
				bank.Reset(0, int32(n))
				for node := range int32(min(100, n)) {
					bank.Mark(node)
				}
				bank.Drain()
			}
			run()
			require.Equal(b, n, completed)
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}
