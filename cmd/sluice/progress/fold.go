package progress

import "slices"

// fold selects the nodes of a tree that are shown in a number of lines. A container summarizes its others in a line or two: so the
// first and the last line in a container are set aside when the container is opened.
//
//	container                 ─┐ opened with its first line
//	├─ ✓ more    4,210 …       │ what is left out and done
//	├─ ● something             │ chosen
//	└─ · more    95 …         ─┘ what is left out and is not done
type fold struct {
	t     *Tree
	items int            // lines for the failed items of a map
	room  int            // lines left
	shown map[int32]bool // chosen nodes and all that is around them
}

const (
	// itemLinesMax is how many lines a map has for its failed items, in a frame that has room for them.
	itemLinesMax = 4

	// failureRoomMin is how many lines failures may take in a small frame, where half of it would not hold one with what
	// is around it.
	failureRoomMin = 8

	// summaryLines is what a container needs for what it leaves out.
	summaryLines = 2
)

// choose begins with what is shown in room lines: all if it fits; else what has failed, in about half of the room, what
// is under way, and what is around the place where something happened last.
func (t *Tree) choose(room int) *fold {
	f := &fold{t: t, items: min(itemLinesMax, room/6), shown: map[int32]bool{}}
	if f.items < 2 {
		f.items = 0 // one line would only repeat the map's
	}
	if f.fits(room) {
		f.all()
		return f
	}
	room = max(0, room-summaryLines)
	part := max(room/2, min(room, failureRoomMin))
	f.room = part
	for i := range t.bad.all {
		if !f.take(i) {
			break
		}
	}
	f.room += room - part
	for i := range t.busy.all {
		if !f.take(i) {
			break
		}
	}
	f.around(t.cursor)
	return f
}

// grow shows more when lines that were set aside turn out not to be needed. It reports whether it did.
func (f *fold) grow(spare int) bool {
	n := len(f.shown)
	if spare > 0 && n < len(f.t.nodes) {
		f.room = spare
		f.around(f.t.cursor)
	}
	return len(f.shown) > n
}

// fits reports whether the whole tree takes no more lines than there are.
func (f *fold) fits(room int) bool {
	lines := f.t.lines
	if lines > room {
		return false
	}
	for i := range f.t.bad.all {
		lines += f.itemLines(i)
	}
	return lines <= room
}

// itemLines returns how many lines a node has for failed items.
func (f *fold) itemLines(i int32) int { return min(len(f.t.nodes[i].items), f.items) }

// closed returns the node shown in place of i: a container in which everything was skipped, or aborted, is one line.
func (t *Tree) closed(i int32) int32 {
	i = t.nodes[i].line
	for j := i; j > 0; j = t.nodes[j].parent {
		if t.nodes[j].left() {
			i = j
		}
	}
	return i
}

// left reports whether a container was left aside as a whole.
func (n *node) left() bool {
	total := n.counts.total()
	return n.kind <= branch && total > 0 && (n.counts[Skipped] == total || n.counts[Aborted] == total)
}

// take shows a step or map, with all that is around it. It reports false when there is no room.
func (f *fold) take(i int32) bool {
	i = f.t.closed(i)
	lines := 0
	for j := i; j > 0 && !f.shown[j]; j = f.t.nodes[j].parent {
		lines += 1 + f.itemLines(j)
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

// all shows every step and map. It is for a tree that fits, and so sets nothing aside.
func (f *fold) all() {
	for i := range int32(len(f.t.nodes)) {
		if f.t.leaf(i) {
			for j := f.t.closed(i); j > 0 && !f.shown[j]; j = f.t.nodes[j].parent {
				f.shown[j] = true
			}
		}
	}
}

// around shows as many steps and maps as there is room for, after and before a place by turns.
func (f *fold) around(place int32) {
	after, before := max(place, 1), place-1 // the root itself is no place
	for ahead, back := true, true; ahead || back; {
		if ahead {
			after, ahead = f.next(after, 1)
		}
		if back {
			before, back = f.next(before, -1)
		}
	}
}

// next shows the first step or map at or beyond i that is not yet shown, and returns where to go on. It reports false when
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
	return i, false
}

// list returns what is shown, in the order of the document.
func (f *fold) list() []int32 {
	list := make([]int32, 0, len(f.shown))
	for i := range f.shown {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}
