package progress

import "slices"

// fold selects the nodes of a tree that are shown in a number of lines. A container summarizes its other nodes in one or two lines: so
// the first and the last line in a container are reserved when the container is opened.
//
//	container                 ─┐ opened with its first line
//	├─ ✓ more    4,210 …       │ summary of completed nodes
//	├─ ● something             │ chosen
//	└─ · more    95 …         ─┘ summary of all others
type fold struct {
	t     *Tree
	items int            // lines for the failed items of a map
	room  int            // lines left
	shown map[int32]bool // chosen nodes and their ancestors
}

const (
	// itemLinesMax bounds the lines of a map for its failed items.
	itemLinesMax = 4

	// failureRoomMin is the room for failures in a small frame: half of such a frame would not hold a failure with its ancestors.
	failureRoomMin = 8

	// summaryLines is the number of lines that a container needs for its summaries.
	summaryLines = 2
)

// choose selects nodes for room lines: all if they fit; else failed ones, in about half of the room, running ones, and those around
// the place of the last change.
func (t *Tree) choose(room int) *fold {
	f := &fold{t: t, items: min(itemLinesMax, room/6), shown: map[int32]bool{}}
	if f.items < 2 {
		f.items = 0 // a single line would repeat the line of the map
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

// grow shows more nodes in reserved lines that are not needed. It reports whether it showed any.
func (f *fold) grow(spare int) bool {
	n := len(f.shown)
	if spare > 0 && n < len(f.t.nodes) {
		f.room = spare
		f.around(f.t.cursor)
	}
	return len(f.shown) > n
}

// fits reports whether the whole tree fits into room lines.
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

// itemLines returns the number of a node's lines for failed items.
func (f *fold) itemLines(i int32) int { return min(len(f.t.nodes[i].items), f.items) }

// closed returns the node shown in place of i: a container is one line if all nodes in it were skipped, or all were aborted.
func (t *Tree) closed(i int32) int32 {
	i = t.nodes[i].line
	for j := i; j > 0; j = t.nodes[j].parent {
		if t.nodes[j].unused() {
			i = j
		}
	}
	return i
}

// unused reports whether all nodes in a container were skipped, or all were aborted.
func (n *node) unused() bool {
	total := n.counts.total()
	return n.kind <= branch && total > 0 && (n.counts[Skipped] == total || n.counts[Aborted] == total)
}

// take shows a step or map with its ancestors. It reports false if there is no room.
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

// all shows every step and map. It is for a tree that fits, and reserves no lines.
func (f *fold) all() {
	for i := range int32(len(f.t.nodes)) {
		if f.t.leaf(i) {
			for j := f.t.closed(i); j > 0 && !f.shown[j]; j = f.t.nodes[j].parent {
				f.shown[j] = true
			}
		}
	}
}

// around shows steps and maps, alternately after and before a place, until there is no room for another.
func (f *fold) around(place int32) {
	after, before := max(place, 1), place-1 // without the root
	for ahead, back := true, true; ahead || back; {
		if ahead {
			after, ahead = f.next(after, 1)
		}
		if back {
			before, back = f.next(before, -1)
		}
	}
}

// next shows the first step or map at or beyond i that is not yet shown, and returns the node at which to continue. It reports false if
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

// list returns the shown nodes, in the order of the document.
func (f *fold) list() []int32 {
	list := make([]int32, 0, len(f.shown))
	for i := range f.shown {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}
