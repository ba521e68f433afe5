package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// graphs draws graphs of up to 30 nodes with any edges, in groups in groups.
func graphs(t *rapid.T) *Graph {
	g := &Graph{Direction: Direction(rapid.IntRange(0, 1).Draw(t, "direction"))}
	for i := range rapid.IntRange(0, 4).Draw(t, "groups") {
		g.Groups = append(g.Groups, Group{Parent: rapid.IntRange(-1, i-1).Draw(t, "parent"), Collapsed: rapid.IntRange(0, 4).Draw(t, "collapsed") == 0,
			Width: rapid.IntRange(0, 90).Draw(t, "least width"), Height: rapid.IntRange(0, 90).Draw(t, "least height"), Inset: Inset{8, 20, 8, 8}})
	}
	nodes := rapid.IntRange(0, 30).Draw(t, "nodes")
	for i := range nodes {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint("n", i), Rank: rapid.IntRange(0, 3).Draw(t, "rank"), Width: rapid.IntRange(0, 200).Draw(t, "width"),
			Height: rapid.IntRange(0, 60).Draw(t, "height"), Group: rapid.IntRange(-1, len(g.Groups)-1).Draw(t, "group")})
	}
	if nodes > 0 {
		for range rapid.IntRange(0, 50).Draw(t, "edges") {
			g.Edges = append(g.Edges, Edge{rapid.IntRange(0, nodes-1).Draw(t, "from"), rapid.IntRange(0, nodes-1).Draw(t, "to"), rapid.Bool().Draw(t, "light")})
		}
	}
	return g
}

type failer interface {
	require.TestingT
	Helper()
}

// requireSound checks the properties of every picture.
func requireSound(t failer, g *Graph, p *Picture) {
	t.Helper()
	boxes, of := leaves(g, p)
	for i, a := range boxes {
		require.True(t, a.X >= 0 && a.Y >= 0 && a.X+a.Width <= p.Width && a.Y+a.Height <= p.Height, "%v is in the picture of %d × %d", a, p.Width, p.Height)
		for k, b := range boxes[:i] {
			require.False(t, overlap(a, b), "%v and %v: %v overlaps %v", of[i], of[k], a, b)
		}
	}
	for i, n := range g.Nodes {
		for at := n.Group; at >= 0; at = g.Groups[at].Parent {
			require.True(t, contains(p.Groups[at], p.Nodes[i]), "node %d, group %d", i, at)
		}
	}
	for i, e := range g.Edges {
		line := p.Route(i)
		if len(line) == 0 {
			require.Equal(t, p.Nodes[e.From], p.Nodes[e.To], "only edges within a box have no line")
			continue
		}
		requireEnds(t, g, p, e, line)
		for k := 1; k < len(line); k++ {
			a, b := line[k-1], line[k]
			require.True(t, a.X == b.X || a.Y == b.Y, "edge %d turns by right angles: %v", i, line)
			if g.Direction == Right {
				require.True(t, b.X >= a.X || p.Reversed[i], "edge %d leads to the right: %v", i, line)
			} else {
				require.True(t, b.Y >= a.Y || p.Reversed[i], "edge %d leads down: %v", i, line)
			}
			for n, box := range boxes {
				require.False(t, passes(a, b, box), "edge %d %v passes through %v %v", i, line, of[n], box)
			}
		}
	}
}

// requireEnds checks that a line begins at one side of its first node and ends at the other side of its second.
func requireEnds(t failer, g *Graph, p *Picture, e Edge, line []Point) {
	t.Helper()
	first, last, from, to := line[0], line[len(line)-1], p.Nodes[e.From], p.Nodes[e.To]
	if g.Direction == Right {
		first, last = Point{first.Y, first.X}, Point{last.Y, last.X}
		from, to = Right.turned(from), Right.turned(to)
	}
	require.Equal(t, Point{from.X + from.Width/2, from.Y + from.Height}, first)
	require.Equal(t, Point{to.X + to.Width/2, to.Y}, last)
}

// leaves returns the boxes that must not overlap: nodes and collapsed groups that are shown, and groups beside each other.
func leaves(g *Graph, p *Picture) (boxes []Box, of []string) {
	collapsed := func(group int) int {
		found := -1
		for at := group; at >= 0; at = g.Groups[at].Parent {
			if g.Groups[at].Collapsed {
				found = at
			}
		}
		return found
	}
	for i, n := range g.Nodes {
		if collapsed(n.Group) < 0 {
			boxes, of = append(boxes, p.Nodes[i]), append(of, n.ID)
		}
	}
	for i := range g.Groups {
		if collapsed(i) == i {
			boxes, of = append(boxes, p.Groups[i]), append(of, fmt.Sprint("group ", i))
		}
	}
	return boxes, of
}

func overlap(a, b Box) bool {
	return a.X < b.X+b.Width && b.X < a.X+a.Width && a.Y < b.Y+b.Height && b.Y < a.Y+a.Height
}

func contains(a, b Box) bool {
	return a.X <= b.X && a.Y <= b.Y && b.X+b.Width <= a.X+a.Width && b.Y+b.Height <= a.Y+a.Height
}

// passes reports whether a line along an axis leads through the inside of a box.
func passes(a, b Point, box Box) bool {
	return min(a.X, b.X) < box.X+box.Width && max(a.X, b.X) > box.X && min(a.Y, b.Y) < box.Y+box.Height && max(a.Y, b.Y) > box.Y
}

func TestPicturesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphs(t)
		p, err := Lay(g)
		require.NoError(t, err)
		requireSound(t, g, p)
	})
}

func TestGroupsBesideEachOtherDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphs(t)
		p, err := Lay(g)
		require.NoError(t, err)
		around := func(inner, outer int) bool {
			for at := inner; at >= 0; at = g.Groups[at].Parent {
				if at == outer {
					return true
				}
			}
			return false
		}
		for i := range g.Groups {
			for k := range i {
				if !around(i, k) && !around(k, i) && p.Groups[i] != p.Groups[k] {
					require.False(t, overlap(p.Groups[i], p.Groups[k]), "groups %d and %d", i, k)
				}
			}
			for v, n := range g.Nodes {
				if !around(n.Group, i) && p.Groups[i] != p.Nodes[v] {
					require.False(t, overlap(p.Groups[i], p.Nodes[v]), "group %d and node %d", i, v)
				}
			}
		}
	})
}

func TestTheOrderOfNodesAndEdgesDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphs(t)
		p, err := Lay(g)
		require.NoError(t, err)
		nodes := rapid.Permutation(numbers(len(g.Nodes))).Draw(t, "nodes")
		edges := rapid.Permutation(numbers(len(g.Edges))).Draw(t, "edges")
		other := *g
		other.Nodes, other.Edges = nil, nil
		place := make([]int, len(nodes))
		for to, v := range nodes {
			other.Nodes = append(other.Nodes, g.Nodes[v])
			place[v] = to
		}
		for _, e := range edges {
			other.Edges = append(other.Edges, Edge{place[g.Edges[e].From], place[g.Edges[e].To], g.Edges[e].Light})
		}
		q, err := Lay(&other)
		require.NoError(t, err)
		require.Equal(t, p.Groups, q.Groups)
		for v := range nodes {
			require.Equal(t, p.Nodes[v], q.Nodes[place[v]], "node %d", v)
		}
		for to, e := range edges {
			require.Equal(t, p.Route(e), q.Route(to), "edge %d", e)
		}
	})
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestCrossingsAreThoseThatPairsTell(t *testing.T) {
	some := 0
	rapid.Check(t, func(t *rapid.T) {
		p, err := Lay(graphs(t))
		require.NoError(t, err)
		count := 0
		for _, l := range p.levels {
			for i, a := range l.segs {
				for _, b := range l.segs[:i] {
					upper := l.items[a.upper].x - l.items[b.upper].x
					lower := l.items[a.lower].x - l.items[b.lower].x
					if l.items[a.upper].layer == l.items[b.upper].layer && (upper < 0 && lower > 0 || upper > 0 && lower < 0) {
						count++
					}
				}
			}
		}
		require.Equal(t, count, p.Crossings)
		some += count
	})
	require.Positive(t, some)
}

func TestEdgesOnACycleAreReversed(t *testing.T) {
	g := &Graph{Nodes: boxes(3), Edges: edges(0, 1, 1, 2, 2, 0, 1, 1)}
	p, err := Lay(g)
	require.NoError(t, err)
	require.Equal(t, []bool{false, false, true, true}, p.Reversed)
	requireSound(t, g, p)
	require.Less(t, p.Nodes[0].Y, p.Nodes[2].Y)

	g.RefuseCycles = true
	g.Edges = g.Edges[3:]
	_, err = Lay(g)
	require.EqualError(t, err, `layout: the edges lead in a cycle: "00001", and back`)
	g.Edges = edges(0, 1, 1, 2, 2, 0)
	_, err = Lay(g)
	require.EqualError(t, err, `layout: the edges lead in a cycle: "00000", "00001", "00002", and back`)
	g.Edges = g.Edges[:2]
	_, err = Lay(g)
	require.NoError(t, err)
}

func TestWhatIsNotSoundIsRefused(t *testing.T) {
	for want, g := range map[string]*Graph{
		`layout: two nodes have the id "a"`:                                      {Nodes: []Node{{ID: "a", Group: -1}, {ID: "a", Group: -1}}},
		`layout: node "a": the size -1 × 0 is not in 0..1048576`:                 {Nodes: []Node{{ID: "a", Width: -1, Group: -1}}},
		`layout: node "a": there is no group 0`:                                  {Nodes: []Node{{ID: "a"}}},
		`layout: edge 0: there is no node 0 or no node 1`:                        {Nodes: boxes(1), Edges: edges(0, 1)},
		`layout: group 0 is in itself, or in more than 64 groups`:                {Groups: []Group{{Parent: 0}}},
		`layout: group 0: there is no group 7`:                                   {Groups: []Group{{Parent: 7}}},
		`layout: group 0: a size or inset of -3 is not in 0..1048576`:            {Groups: []Group{{Parent: -1, Inset: Inset{Top: -3}}}},
		`layout: a distance in {Nodes:-1 Layers:0 Lines:0} is not in 0..1048576`: {Spacing: Spacing{Nodes: -1}},
	} {
		_, err := Lay(g)
		require.EqualError(t, err, want)
	}
}

// edges returns edges between pairs of nodes.
func edges(ends ...int) (list []Edge) {
	for i := 0; i < len(ends); i += 2 {
		list = append(list, Edge{From: ends[i], To: ends[i+1]})
	}
	return list
}

func boxes(n int) []Node {
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{ID: fmt.Sprintf("%05d", i), Rank: i, Width: 160, Height: 40, Group: -1}
	}
	return nodes
}

// workflow returns a graph as workflows are: n steps, each after one to four of the 60 before it.
func workflow(n int) *Graph {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	g := &Graph{Nodes: boxes(n)}
	for v := 1; v < n; v++ {
		before := map[int]bool{}
		for range 1 + r.IntN(4) {
			u := max(0, v-1-r.IntN(60))
			if !before[u] {
				g.Edges = append(g.Edges, Edge{From: u, To: v})
			}
			before[u] = true
		}
	}
	return g
}

func TestWorkGrowsWithTheGraph(t *testing.T) {
	work := func(n int) int {
		p, err := Lay(workflow(n))
		require.NoError(t, err)
		return p.Work
	}
	small, large := work(1_000), work(10_000)
	require.LessOrEqual(t, large, 16*small, "ten times the steps are about ten times the work")
	require.LessOrEqual(t, large, 600*10_000)
}

// Every node of a long chain reads one far above it, which would need 25 million bends.
func TestBendsAreBounded(t *testing.T) {
	const n = 10_000
	g := &Graph{Nodes: boxes(n)}
	for v := range n - 1 {
		g.Edges = append(g.Edges, Edge{From: v, To: v + 1})
		if v+n/2 < n {
			g.Edges = append(g.Edges, Edge{From: v, To: v + n/2})
		}
	}
	p, err := Lay(g)
	require.NoError(t, err)
	require.LessOrEqual(t, p.Bends, 20*(len(g.Nodes)+len(g.Edges)))
	for i := range g.Edges {
		line := p.Route(i)
		for k := 1; k < len(line); k++ {
			require.GreaterOrEqual(t, line[k].Y, line[k-1].Y)
			require.True(t, line[k].X == line[k-1].X || line[k].Y == line[k-1].Y)
			require.Less(t, line[k].X, p.Width)
		}
	}
}

// A step that all others of a chain read has one line past them.
func TestLongEdgesOfOneNodeShareTheirBends(t *testing.T) {
	const n = 50
	g := &Graph{Nodes: boxes(n)}
	for v := 1; v < n; v++ {
		g.Edges = append(g.Edges, Edge{From: v - 1, To: v})
		if v > 1 {
			g.Edges = append(g.Edges, Edge{From: 0, To: v})
		}
	}
	p, err := Lay(g)
	require.NoError(t, err)
	require.Equal(t, n-2, p.Bends)
	requireSound(t, g, p)
}

// A step is put between two others. The test counts rows, not points: the distance of two rows depends on the lines between
// them.
func TestNodesThatLeadToTheSameOnesShareALine(t *testing.T) {
	pair, err := Lay(&Graph{Nodes: boxes(2), Edges: edges(0, 1)})
	require.NoError(t, err)
	g := &Graph{Nodes: boxes(40)}
	for from := range 20 {
		for to := range 20 {
			g.Edges = append(g.Edges, Edge{From: from, To: 20 + to})
		}
	}
	p, err := Lay(g)
	require.NoError(t, err)
	require.Equal(t, pair.Height, p.Height, "400 edges need no more room than one")
	requireSound(t, g, p)
}

func TestAnotherStepMovesFewOfTheOthers(t *testing.T) {
	const n = 10_000
	g := workflow(n)
	before := rowsIn(t, g)
	for _, at := range []int{10, len(g.Edges) / 2, len(g.Edges) - 10} {
		e := g.Edges[at]
		more := &Graph{Nodes: append(slices.Clone(g.Nodes), Node{ID: "new", Rank: e.From, Width: 160, Height: 40, Group: -1}),
			Edges: append(slices.Clone(g.Edges), Edge{From: e.From, To: n}, Edge{From: n, To: e.To})}
		moved, after := 0, rowsIn(t, more)
		for v := range n {
			if d := after[v] - before[v]; d < -1 || d > 1 {
				moved++
			}
		}
		require.LessOrEqual(t, moved, n/100, "a step on edge %d", at)
	}
}

// rowsIn returns the row of each node, from above.
func rowsIn(t *testing.T, g *Graph) []int {
	p, err := Lay(g)
	require.NoError(t, err)
	var heights []int
	for _, box := range p.Nodes {
		heights = append(heights, box.Y)
	}
	slices.Sort(heights)
	heights = slices.Compact(heights)
	rows := make([]int, len(p.Nodes))
	for v, box := range p.Nodes {
		rows[v], _ = slices.BinarySearch(heights, box.Y)
	}
	return rows
}

func BenchmarkLay(b *testing.B) {
	for _, n := range []int{2_000, 10_000, 100_000} {
		g := workflow(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				p, err := Lay(g)
				require.NoError(b, err)
				b.ReportMetric(float64(p.Work), "work")
				b.ReportMetric(float64(p.Bends), "bends")
				b.ReportMetric(float64(p.Crossings), "crossings")
			}
		})
	}
}

func FuzzLay(f *testing.F) {
	f.Add([]byte{5, 1, 0, 1, 1, 2, 2, 0, 3, 4})
	f.Add([]byte{40, 3, 0, 1, 1, 2, 2, 3, 0, 30, 7, 7, 39, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 2 {
			return
		}
		g := &Graph{Nodes: boxes(int(data[0]%64) + 1), Direction: Direction(data[1] % 2)}
		for i := range int(data[1] / 2 % 8) {
			g.Groups = append(g.Groups, Group{Parent: i/2 - 1, Collapsed: i == 5, Inset: Inset{Top: i}})
		}
		for i := range g.Nodes {
			g.Nodes[i].Group = i%(len(g.Groups)+2) - 2
			g.Nodes[i].Group = max(-1, g.Nodes[i].Group)
		}
		for i := 2; i+1 < len(data) && i < 400; i += 2 {
			g.Edges = append(g.Edges, Edge{int(data[i]) % len(g.Nodes), int(data[i+1]) % len(g.Nodes), i%3 == 0})
		}
		p, err := Lay(g)
		require.NoError(t, err)
		requireSound(t, g, p)
	})
}
