package layout

import (
	"fmt"
	"strings"
)

// refuseCycles returns an error that names the nodes of a cycle, if there is one.
func (b *building) refuseCycles() error {
	pairs := make([][2]int32, len(b.g.Edges))
	for i, e := range b.g.Edges {
		pairs[i] = [2]int32{b.number[e.From], b.number[e.To]}
	}
	out := rowsOf(len(b.nodes), pairs)
	var names []string
	walk(len(b.nodes), make([]int32, len(b.nodes)), out, pairs, func(path []int32, edge int32) bool {
		start := len(path) - 1
		for path[start] != pairs[edge][1] {
			start--
		}
		for _, n := range path[start:] {
			names = append(names, fmt.Sprintf("%q", b.g.Nodes[b.nodes[n]].ID))
		}
		return false
	})
	if len(names) == 0 {
		return nil
	}
	const most = 20
	if rest := len(names) - most; rest > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", rest))
	}
	return fmt.Errorf("layout: the edges lead in a cycle: %s, and back", strings.Join(names, ", "))
}

// rows holds lists of numbers by number.
type rows struct{ at, list []int32 }

func (r rows) of(i int32) []int32 { return r.list[r.at[i]:r.at[i+1]] }

// rowsOf returns, for each number below n, the pairs that begin with it.
func rowsOf(n int, pairs [][2]int32) rows {
	r := rows{make([]int32, n+2), make([]int32, len(pairs))}
	for _, p := range pairs {
		r.at[p[0]+2]++
	}
	for i := 1; i < len(r.at); i++ {
		r.at[i] += r.at[i-1]
	}
	for i, p := range pairs {
		r.list[r.at[p[0]+1]] = int32(i)
		r.at[p[0]+1]++
	}
	return r
}

// walk traverses a graph depth first, from the vertices without predecessors and then from the others, by number, and calls
// found for each edge that leads back to the current path. It ends when found returns false. degree is scratch space.
func walk(n int, degree []int32, out rows, pairs [][2]int32, found func(path []int32, edge int32) bool) {
	for _, p := range pairs {
		degree[p[1]]++
	}
	const onPath, left = 1, 2
	state := make([]uint8, n)
	next := make([]int32, n)
	var path []int32
	from := func(root int32) bool {
		path = append(path[:0], root)
		state[root] = onPath
		for len(path) > 0 {
			v := path[len(path)-1]
			row := out.of(v)
			if int(next[v]) == len(row) {
				state[v] = left
				path = path[:len(path)-1]
				continue
			}
			edge := row[next[v]]
			next[v]++
			switch to := pairs[edge][1]; state[to] {
			case onPath:
				if !found(path, edge) {
					return false
				}
			case 0:
				state[to] = onPath
				path = append(path, to)
			}
		}
		return true
	}
	for _, roots := range [...]bool{true, false} {
		for v := range int32(n) {
			if state[v] == 0 && (!roots || degree[v] == 0) && !from(v) {
				return
			}
		}
	}
}

// markBack marks the links that close cycles.
func (l *level) markBack(byKey []int32) {
	number := make([]int32, len(l.items))
	for n, i := range byKey {
		number[i] = int32(n)
	}
	pairs := make([][2]int32, len(l.links))
	for i, k := range l.links {
		pairs[i] = [2]int32{number[k.from], number[k.to]}
	}
	walk(len(l.items), make([]int32, len(l.items)), rowsOf(len(l.items), pairs), pairs, func(_ []int32, edge int32) bool {
		l.links[edge].back = true
		return true
	})
}
