package plan

// The gates of every row, which count the predecessors that are not yet satisfied, not yet settled, block it, or have moved
// at all.
const (
	Unsatisfied = iota
	Unsettled
	Blocked
	Moved
)

// The outputs of a row for the rows that wait for it.
const (
	ShowsSatisfied uint8 = 1 << Unsatisfied // completed (and not waiting for a decision) or skipped
	ShowsSettled   uint8 = 1 << Unsettled   // will not change without a new attempt
	ShowsBlocked   uint8 = 1 << Blocked     // failed for good or aborted
	ShowsMoved     uint8 = 1 << Moved       // has left idle, waiting and ready
)

// table holds the gates of a target that count an edge, by the edge's class and the output of its source.
var table = makeTable()

func makeTable() [][16]uint8 {
	t := make([][16]uint8, 3)
	for out := range uint8(16) {
		missing := (ShowsSatisfied | ShowsSettled) &^ out
		present := (ShowsBlocked | ShowsMoved) & out
		t[Needs][out] = missing | present
		// A target that reads the source's status is satisfied by any end and blocked by none.
		t[Settles][out] = present &^ ShowsBlocked
		if out&ShowsSettled == 0 {
			t[Settles][out] |= ShowsSatisfied | ShowsSettled
		}
		t[Sees][out] = t[Settles][out]
	}
	return t
}

// rankRows returns for every row its longest distance from a root; a map's body ranks between its predecessors and the map.
// It reports false if the edges have a cycle.
func rankRows(nodes []Node, edges []Edge) ([]int32, bool) {
	g := rankGraph(nodes, edges)
	rank := make([]int32, g.n)
	queue := make([]int32, 0, g.n)
	for v := range g.n {
		if g.in[v] == 0 {
			queue = append(queue, v)
		}
	}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		for _, t := range g.to[g.first[v]:g.first[v+1]] {
			rank[t] = max(rank[t], rank[v]+1)
			if g.in[t]--; g.in[t] == 0 {
				queue = append(queue, t)
			}
		}
	}
	return rank[:len(nodes)], len(queue) == int(g.n)
}

// ranking is the graph on which ranks are computed: the rows, and for each map an entry before its body.
type ranking struct {
	n     int32
	first []int32
	to    []int32
	in    []int32
}

func rankGraph(nodes []Node, edges []Edge) *ranking {
	n := int32(len(nodes))
	entry := make(map[int32]int32)
	for row := range nodes {
		if nodes[row].Kind == Map {
			entry[int32(row)] = n
			n++
		}
	}
	each := func(yield func(from, to int32)) {
		for _, e := range edges {
			to := e.To
			if in, ok := entry[to]; ok {
				to = in
			}
			yield(e.From, to)
		}
		for row := range nodes {
			r := int32(row)
			in, isMap := entry[r]
			if isMap {
				yield(in, r)
			} else {
				in = r
			}
			if m := nodes[row].Map; m >= 0 {
				yield(entry[m], in)
				yield(r, m)
			}
		}
	}
	g := &ranking{n: n, first: make([]int32, n+1), in: make([]int32, n)}
	each(func(from, _ int32) { g.first[from+1]++ })
	for v := range n {
		g.first[v+1] += g.first[v]
	}
	g.to = make([]int32, g.first[n])
	at := make([]int32, n)
	copy(at, g.first)
	each(func(from, to int32) {
		g.to[at[from]] = to
		at[from]++
		g.in[to]++
	})
	return g
}
