package progress

import "slices"

// itemLinesMax is how many lines a map has for its failed items.
const itemLinesMax = 4

// fold chooses what of a tree is shown in so many lines. What it leaves out, its container says in a line or two: so the
// first and the last line in a container are set aside when the container is opened.
//
//	container                 ─┐ opened with its first line
//	├─ ✓ 4,210 more …          │ what is left out and done
//	├─ ● something             │ chosen
//	└─ · 95 more …            ─┘ what is left out and is not done
type fold struct {
	t     *Tree
	room  int            // lines left
	shown map[int32]bool // chosen nodes and all that is around them
}

// choose gives the nodes to show in room lines, in the order of the document: all of them if they fit; else what has
// failed, in at most half of the room, what is under way, and what is around the place where something happened last.
func (t *Tree) choose(room int) []int32 {
	f := &fold{t: t, room: room - summaryLines, shown: map[int32]bool{}}
	if t.fits(room) {
		f.room = room
		f.window(0, len(t.nodes))
		return f.list()
	}
	f.room /= 2
	rest := room - summaryLines - f.room
	for i := range t.bad.all {
		if !f.take(i) {
			break
		}
	}
	f.room += rest
	for i := range t.busy.all {
		if !f.take(i) {
			break
		}
	}
	f.around(t.cursor)
	return f.list()
}

// summaryLines is what a container needs for what it leaves out.
const summaryLines = 2

// fits reports whether the whole tree takes no more lines than there are.
func (t *Tree) fits(room int) bool {
	lines := t.lines
	if lines > room {
		return false
	}
	for i := range t.bad.all {
		lines += t.itemLines(i)
	}
	return lines <= room
}

// itemLines is how many lines a node has for failed items.
func (t *Tree) itemLines(i int32) int { return min(len(t.nodes[i].items), itemLinesMax) }

// closed is the node that stands for i: a branch that was not taken is one line, whatever is in it.
func (t *Tree) closed(i int32) int32 {
	i = t.nodes[i].line
	for j := i; j > 0; j = t.nodes[j].parent {
		if n := &t.nodes[j]; n.kind == branch && n.counts[Skipped] > 0 && n.counts[Skipped] == n.counts.total() {
			i = j
		}
	}
	return i
}

// take shows a step or map, with all that is around it. It reports false when there is no room.
func (f *fold) take(i int32) bool {
	i = f.t.closed(i)
	lines := 0
	for j := i; j > 0 && !f.shown[j]; j = f.t.nodes[j].parent {
		lines += 1 + f.t.itemLines(j)
		if j != i && f.t.nodes[j].kind <= branch {
			lines += summaryLines
		}
	}
	if lines > f.room {
		return false
	}
	f.room -= lines
	for j := i; j > 0 && !f.shown[j]; j = f.t.nodes[j].parent {
		f.shown[j] = true
	}
	return true
}

// window shows all steps and maps in [from, to). It is for a tree that fits, and so sets nothing aside.
func (f *fold) window(from, to int) {
	for i := int32(from); i < int32(to); i++ {
		if f.t.leaf(i) {
			for j := f.t.closed(i); j > 0 && !f.shown[j]; j = f.t.nodes[j].parent {
				f.shown[j] = true
			}
		}
	}
}

// around shows as many steps and maps as there is room for, after and before a place by turns.
func (f *fold) around(place int32) {
	after, before := place, place-1
	for ahead, back := true, true; ahead || back; {
		if ahead {
			after, ahead = f.next(after, 1)
		}
		if back {
			before, back = f.next(before, -1)
		}
	}
}

// next shows the first step or map at or beyond i that is not yet shown, and gives where to go on. It reports false when
// there is none, or no room for it.
func (f *fold) next(i, way int32) (int32, bool) {
	for ; i > 0 && int(i) < len(f.t.nodes); i += way {
		if !f.t.leaf(i) {
			continue
		}
		c := f.t.closed(i)
		if f.shown[c] {
			if way > 0 && c != i {
				i = f.t.nodes[c].end - 1
			}
			continue
		}
		return i + way, f.take(i)
	}
	return i, i == 0 && way > 0
}

func (f *fold) list() []int32 {
	list := make([]int32, 0, len(f.shown))
	for i := range f.shown {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}
