package layout

import (
	"cmp"
	"fmt"
	"slices"
)

// tracksMax bounds the tracks in one gap. A line without a free track overlaps others.
const tracksMax = 64

// net is the lines of one chain in the gap above a layer: a horizontal line, lines up from it and lines down from it.
type net struct {
	track         *int   // its number, later its position
	others        []*int // tracks of the nets that it replaces
	tops, bottoms []int
	low, high     int
}

// addNet adds a net to a gap, unless it is a straight line.
func (l *level) addNet(gap int32, n net) {
	l.work += len(n.tops) + len(n.bottoms)
	n.low, n.high = n.bounds()
	if n.low < n.high {
		l.nets[gap] = append(l.nets[gap], n)
	}
}

// mergeNets merges the nets that lead to the same places: each of their tops is connected to each of their bottoms, so one line is
// enough, and the gap stays low between steps that all wait for all.
func mergeNets(nets []net) []net {
	first := make(map[string]int, len(nets))
	kept := nets[:0]
	for _, n := range nets {
		if len(n.tops) == 0 || len(n.bottoms) == 0 {
			kept = append(kept, n)
			continue
		}
		to := slices.Sorted(slices.Values(n.bottoms))
		key := fmt.Sprint(slices.Compact(to))
		i, ok := first[key]
		if !ok {
			first[key] = len(kept)
			kept = append(kept, n)
			continue
		}
		all := &kept[i]
		all.others = append(all.others, n.track)
		all.tops = append(all.tops, n.tops...)
		all.low, all.high = min(all.low, n.low), max(all.high, n.high)
	}
	return kept
}

func (n *net) bounds() (low, high int) {
	all := n.tops
	if len(all) == 0 {
		all = n.bottoms
	}
	low, high = all[0], all[0]
	for _, row := range [...][]int{n.tops, n.bottoms} {
		for _, x := range row {
			low, high = min(low, x), max(high, x)
		}
	}
	return low, high
}

// setTracks sets the track of each net of a gap, and returns the number of tracks. If a line of one net comes down at the x at which
// a line of another continues down, the first must be above the second, or they would overlap.
func setTracks(nets []net) int {
	// This order minimises crossings of lines that lead to one side.
	slices.SortStableFunc(nets, func(a, b net) int {
		x, y := a.side(), b.side()
		if x != y || x < 0 {
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
		}
		return cmp.Or(cmp.Compare(b.low, a.low), cmp.Compare(b.high, a.high))
	})
	t := tracker{nets: nets, above: netsAbove(nets), state: make([]uint8, len(nets))}
	for i := range nets {
		t.set(int32(i))
	}
	return len(t.tracks)
}

// side returns -1 for a net that leads to the left, 1 to the right, and 0 both ways.
func (n *net) side() int {
	if len(n.tops) == 0 {
		return 0
	}
	low, high := slices.Min(n.tops), slices.Max(n.tops)
	switch {
	case low <= n.low && high < n.high:
		return 1
	case low > n.low && high >= n.high:
		return -1
	}
	return 0
}

// netsAbove returns, for each net, the nets that must be above it.
func netsAbove(nets []net) [][]int32 {
	type place struct {
		x   int
		net int32
	}
	var tops, bottoms []place
	for i := range nets {
		for _, x := range nets[i].tops {
			tops = append(tops, place{x, int32(i)})
		}
		for _, x := range nets[i].bottoms {
			bottoms = append(bottoms, place{x, int32(i)})
		}
	}
	byX := func(a, b place) int { return cmp.Compare(a.x, b.x) }
	slices.SortStableFunc(tops, byX)
	slices.SortStableFunc(bottoms, byX)
	const near = 3
	above := make([][]int32, len(nets))
	first := 0
	for _, p := range bottoms {
		for first < len(tops) && tops[first].x < p.x-near {
			first++
		}
		for k := first; k < len(tops) && tops[k].x <= p.x+near; k++ {
			if tops[k].net != p.net {
				above[p.net] = append(above[p.net], tops[k].net)
			}
		}
	}
	return above
}

// tracker sets the tracks of the nets of one gap.
type tracker struct {
	nets   []net
	above  [][]int32
	state  []uint8
	tracks [][][2]int // taken parts, from left to right
}

// set sets the track of a net, after the nets that must be above it. In a cycle of such nets, the first one ignores the rule.
func (t *tracker) set(i int32) {
	if t.state[i] != 0 {
		return
	}
	t.state[i] = 1
	least := 0
	for _, other := range t.above[i] {
		t.set(other)
		if t.state[other] == 2 {
			least = max(least, *t.nets[other].track+1)
		}
	}
	n := &t.nets[i]
	*n.track = t.take(least, n.low, n.high)
	t.state[i] = 2
}

// take takes and returns the first track from least on that has room.
func (t *tracker) take(least, low, high int) int {
	for at := min(least, tracksMax-1); ; at++ {
		if at == len(t.tracks) {
			t.tracks = append(t.tracks, nil)
		}
		row := t.tracks[at]
		k, _ := slices.BinarySearchFunc(row, low, func(r [2]int, x int) int { return cmp.Compare(r[1], x) })
		if k < len(row) && row[k][0] <= high+4 {
			if at+1 < tracksMax {
				continue
			}
			return at
		}
		t.tracks[at] = slices.Insert(row, k, [2]int{low, high + 4})
		return at
	}
}
