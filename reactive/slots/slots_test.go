package slots_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/slots"
)

// office is a plain model of Slots, which searches all waiting nodes each time.
type office struct {
	parent, limit, used []int32
	waiting             []waiter
	gone                map[int32]bool // no longer candidates
	rank                []int          // by node: its place in template order
}

type waiter struct{ group, node int32 }

// room reports whether a group and its surrounding groups, up to root, have room; false if root does not contain it.
func (o *office) room(g, root int32) bool {
	for ; g >= 0; g = o.parent[g] {
		if o.limit[g] > 0 && o.used[g] >= o.limit[g] {
			return false
		}
		if g == root {
			return true
		}
	}
	return false
}

// next returns the first waiter within a group that may start, or -1.
func (o *office) next(root int32) int {
	first := -1
	for i, w := range o.waiting {
		if !o.gone[w.node] && o.room(w.group, root) && (first < 0 || o.rank[w.node] < o.rank[o.waiting[first].node]) {
			first = i
		}
	}
	return first
}

func (o *office) count(g, n int32) {
	for ; g >= 0; g = o.parent[g] {
		o.used[g] += n
	}
}

// For any operations on groups of any shape, the first candidate in template order with room in all its groups is granted, and no
// other.
func TestTheFirstWithRoomIsGranted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const nodes = 60
		o := &office{gone: map[int32]bool{}, rank: rapid.Permutation(slices.Collect(numbers(nodes))).Draw(t, "order")}
		s := slots.New(
			func(a, b int32) bool { return o.rank[a] < o.rank[b] },
			func(node int32) bool { return !o.gone[node] })
		groups := rapid.IntRange(1, 6).Draw(t, "groups")
		for g := range groups {
			parent := int32(-1)
			if g > 0 {
				parent = rapid.Int32Range(0, int32(g)-1).Draw(t, "parent")
			}
			limit := rapid.Int32Range(0, 3).Draw(t, "limit")
			o.parent, o.limit, o.used = append(o.parent, parent), append(o.limit, limit), append(o.used, 0)
			require.EqualValues(t, g, s.Add(parent, limit))
		}
		require.Equal(t, groups, s.Size())
		group := rapid.Int32Range(0, int32(groups)-1)
		var holding []int32 // groups of the holders of slots
		newcomer := int32(0)
		take := func(g int32) {
			s.Take(g)
			o.count(g, 1)
			holding = append(holding, g)
		}
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) {
				g := group.Draw(t, "group")
				for range min(rapid.IntRange(1, 4).Draw(t, "newcomers"), nodes-int(newcomer)) {
					s.Wait(g, newcomer)
					o.waiting = append(o.waiting, waiter{g, newcomer})
					newcomer++
				}
			},
			"next": func(t *rapid.T) {
				root := group.Draw(t, "root")
				for range rapid.IntRange(1, 4).Draw(t, "times") {
					i := o.next(root)
					if i < 0 {
						require.EqualValues(t, -1, s.Next(root))
						return
					}
					w := o.waiting[i]
					require.Equal(t, w.node, s.Next(root))
					o.waiting = slices.Delete(o.waiting, i, i+1)
					take(w.group)
				}
			},
			"take": func(t *rapid.T) { take(group.Draw(t, "group")) }, // a fact, which may exceed a limit
			"release": func(t *rapid.T) {
				if len(holding) == 0 {
					t.Skip("nothing is held")
				}
				i := rapid.IntRange(0, len(holding)-1).Draw(t, "holder")
				s.Release(holding[i])
				o.count(holding[i], -1)
				holding = slices.Delete(holding, i, i+1)
			},
			"leave": func(t *rapid.T) {
				if i := o.next(0); i >= 0 && rapid.Bool().Draw(t, "first") {
					o.gone[o.waiting[i].node] = true
				} else if len(o.waiting) > 0 {
					o.gone[rapid.SampledFrom(o.waiting).Draw(t, "waiter").node] = true
				}
			},
			"": func(t *rapid.T) {
				for g := range int32(groups) {
					limit, used := s.Limit(g)
					require.Equal(t, []int32{o.parent[g], o.limit[g], o.used[g]}, []int32{s.Parent(g), limit, used})
				}
			},
		})
	})
}

func numbers(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// A full group does not delay candidates behind its first, and returns to its old place when it has room again.
func TestAFullGroupHoldsUpNoOther(t *testing.T) {
	s := slots.New(func(a, b int32) bool { return a < b }, func(int32) bool { return true })
	run := s.Add(-1, 0)
	inner := s.Add(run, 1)
	s.Wait(inner, 1)
	s.Wait(inner, 2)
	s.Wait(run, 3)
	s.Wait(run, 4)
	require.EqualValues(t, 1, s.Next(run))
	s.Take(inner)
	require.EqualValues(t, 3, s.Next(run))
	s.Take(run)
	s.Release(inner)
	require.EqualValues(t, 2, s.Next(run))
	s.Take(inner)
	require.EqualValues(t, 4, s.Next(run))
	require.EqualValues(t, -1, s.Next(run))
}

// Nodes outside maps are in the order of their numbers; nodes of items, which have higher numbers, are anywhere between them.
func TestTheQueueHasTheFirstOfBothKinds(t *testing.T) {
	const spread = 10_000 // number of items that fit between nodes outside maps
	sizes := []int{0, 1, 63, 64, 65, 4095, 4096, 4097, 300_000}
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SampledFrom(sizes).Draw(t, "nodes")
		items := map[int32]int{} // rank by node
		rank := func(v int32) int {
			if int(v) < nodes {
				return int(v) * spread
			}
			return items[v]
		}
		q := slots.NewQueue(nodes, func(a, b int32) bool { return rank(a) < rank(b) })
		outside, inside := map[int32]bool{}, []int32{}
		any := rapid.OneOf(rapid.Int32Range(0, int32(max(nodes, 1)-1)), rapid.Int32Range(int32(max(nodes-70, 0)), int32(max(nodes, 1)-1)))
		first := func(t *rapid.T) int32 {
			v := int32(-1)
			for u := range outside {
				if v < 0 || u < v {
					v = u
				}
			}
			for _, u := range inside {
				if v < 0 || rank(u) < rank(v) {
					v = u
				}
			}
			return v
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				if nodes == 0 {
					t.Skip("there are no nodes outside maps")
				}
				v := any.Draw(t, "node")
				q.Add(v)
				outside[v] = true
			},
			"remove": func(t *rapid.T) {
				if nodes == 0 {
					t.Skip("there are no nodes outside maps")
				}
				v := any.Draw(t, "node")
				q.Remove(v)
				delete(outside, v)
			},
			"remove the first": func(t *rapid.T) {
				v := q.First()
				if v < 0 || int(v) >= nodes {
					t.Skip("it is not outside maps")
				}
				q.Remove(v)
				delete(outside, v)
			},
			"push": func(t *rapid.T) {
				v := int32(nodes + len(items))
				items[v] = rapid.IntRange(0, nodes).Draw(t, "place")*spread + len(items) + 1
				q.Push(v)
				inside = append(inside, v)
			},
			"pop": func(t *rapid.T) {
				if len(inside) == 0 {
					t.Skip("it is empty")
				}
				least := slices.MinFunc(inside, func(a, b int32) int { return rank(a) - rank(b) })
				q.Pop()
				inside = slices.DeleteFunc(inside, func(v int32) bool { return v == least })
			},
			"": func(t *rapid.T) { require.Equal(t, first(t), q.First()) },
		})
	})
}
