package slots

// Slots grants the right to run under limits. Groups form a tree; a node takes one slot in its group and in every group
// around it. Free slots go to candidates in template order; a candidate without room does not delay later ones.
//
//	run (max 3) ── queue: [ b, ▸inner ]      a group with room is in its parent's queue, at the place
//	  └─ inner (max 1) ── queue: [ a, c ]    of its first candidate; a full or empty group is not
//
// So the next grant is found by following first entries down: O(depth), plus O(depth·log n) for a change. Invalid candidates
// are dropped when they are first.
type Slots struct {
	groups []group
	less   func(a, b int32) bool // template order of nodes
	valid  func(node int32) bool // reports whether a node is still a candidate
}

type group struct {
	queue  []int32 // binary heap by order: a node as itself, a group g as ^g
	first  int32   // node that determines the order of this group in its parent's queue
	at     int32   // its index in that queue; -1: not in it
	parent int32   // -1: none
	used   int32
	max    int32 // 0: no limit
}

// Add adds a group with a limit (0: none) to a parent group (-1: none), and returns its number.
func (s *Slots) Add(parent, limit int32) int32 {
	s.groups = append(s.groups, group{parent: parent, max: limit, at: -1})
	return int32(len(s.groups) - 1)
}

// Size returns the number of groups.
func (s *Slots) Size() int { return len(s.groups) }

// Parent returns the group around a group, or -1.
func (s *Slots) Parent(g int32) int32 { return s.groups[g].parent }

// Limit returns the number of slots of a group, 0 if it has no limit, and the number in use.
func (s *Slots) Limit(g int32) (most, used int32) { return s.groups[g].max, s.groups[g].used }

// New returns slots for nodes in the order of less. valid reports whether a node is still a candidate.
func New(less func(a, b int32) bool, valid func(node int32) bool) Slots {
	return Slots{less: less, valid: valid}
}

func (g *group) room() bool { return g.max == 0 || g.used < g.max }

// Take counts a node in its groups. The count may exceed a limit, because journaled facts may.
func (s *Slots) Take(g int32) {
	for ; g >= 0; g = s.groups[g].parent {
		s.groups[g].used++
	}
}

// Release frees a node's slots. Groups that have room again become eligible.
func (s *Slots) Release(g int32) {
	for ; g >= 0; g = s.groups[g].parent {
		s.groups[g].used--
		s.enlist(g)
	}
}

// Wait makes a node of group g a candidate.
func (s *Slots) Wait(g, node int32) {
	s.push(g, node)
	for ; g >= 0; g = s.groups[g].parent {
		s.enlist(g)
	}
}

// enlist puts group g at its place in its parent's queue.
func (s *Slots) enlist(g int32) {
	c := &s.groups[g]
	if c.parent < 0 || len(c.queue) == 0 || !c.room() {
		return
	}
	first := s.node(c.queue[0])
	switch {
	case c.at < 0:
		c.first = first
		s.push(c.parent, ^g)
	case c.first != first:
		c.first = first
		s.fix(c.parent, c.at)
	}
}

// Next removes and returns the first candidate within a group for which all groups have room, or -1.
func (s *Slots) Next(root int32) int32 {
	node := s.first(root)
	if node >= 0 {
		s.remove(root)
	}
	return node
}

// first returns the result of Next without removing it, and drops invalid entries.
func (s *Slots) first(g int32) int32 {
	for s.groups[g].room() && len(s.groups[g].queue) > 0 {
		e := s.groups[g].queue[0]
		if e >= 0 {
			if s.valid(e) {
				return e
			}
			s.pop(g)
			continue
		}
		node := s.first(^e)
		switch {
		case node < 0:
			s.pop(g)
		case node != s.groups[^e].first:
			s.groups[^e].first = node
			s.fix(g, 0)
		default:
			return node
		}
	}
	return -1
}

// remove removes the entry that first has just found from the queues on its path.
func (s *Slots) remove(g int32) {
	e := s.groups[g].queue[0]
	s.pop(g)
	if e < 0 {
		s.remove(^e)
		s.enlist(^e)
	}
}

// node returns the node that determines the order of an entry of a queue.
func (s *Slots) node(e int32) int32 {
	if e >= 0 {
		return e
	}
	return s.groups[^e].first
}

func (s *Slots) push(g, e int32) {
	q := append(s.groups[g].queue, e)
	s.groups[g].queue = q
	s.place(g, int32(len(q)-1))
	s.up(g, int32(len(q)-1))
}

func (s *Slots) pop(g int32) {
	q := s.groups[g].queue
	if q[0] < 0 {
		s.groups[^q[0]].at = -1
	}
	last := len(q) - 1
	q[0] = q[last]
	s.groups[g].queue = q[:last]
	if last > 0 {
		s.place(g, 0)
		s.down(g, 0)
	}
}

func (s *Slots) fix(g, i int32) {
	s.up(g, i)
	s.down(g, i)
}

// place records the position of a group's entry.
func (s *Slots) place(g, i int32) {
	if e := s.groups[g].queue[i]; e < 0 {
		s.groups[^e].at = i
	}
}

func (s *Slots) swap(g, i, j int32) {
	q := s.groups[g].queue
	q[i], q[j] = q[j], q[i]
	s.place(g, i)
	s.place(g, j)
}

func (s *Slots) before(g, i, j int32) bool {
	q := s.groups[g].queue
	return s.less(s.node(q[i]), s.node(q[j]))
}

func (s *Slots) up(g, i int32) {
	for i > 0 {
		parent := (i - 1) / 2
		if !s.before(g, i, parent) {
			return
		}
		s.swap(g, i, parent)
		i = parent
	}
}

func (s *Slots) down(g, i int32) {
	n := int32(len(s.groups[g].queue))
	for {
		child := 2*i + 1
		if child >= n {
			return
		}
		if child+1 < n && s.before(g, child+1, child) {
			child++
		}
		if !s.before(g, child, i) {
			return
		}
		s.swap(g, i, child)
		i = child
	}
}
