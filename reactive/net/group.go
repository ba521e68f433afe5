package net

import (
	"cmp"
	"slices"
)

// group is a fan-out in progress: the branches that one step-run with an inclusive router opened. It counts the members from
// which a token may still reach a join, and leaves its parent only when none is left, so the cost of an event does not grow
// with the rest of the run.
//
//	router ──▶ b ──▶ d (join)         live: tokens and step-runs of the group, and groups opened by one of them
//	       ──▶ c ──▶ d                joins: the tokens at d
type group struct {
	parent *group // the fan-out that its router's run belongs to; nil: none
	router int    // the step that opened it
	run    string // key of the step-run that opened it
	arc    int    // arc by which the branch of that run left the parent's router
	id     uint64 // id at its opening: earlier tokens have smaller ids
	alone  bool   // its router has emitted only one token: only joins that belong to the group count it
	live   int
	failed int        // branches that ended failed
	joins  []*tracker // joins that belong to it, in the order of their first tokens
	known  []known    // trackers of its tokens, by join
}

// known is the tracker of a group's tokens at a join.
type known struct {
	join    int
	tracker *tracker // nil: the group's own, created for its first token
}

// fanOuts are the fan-outs in progress that joins need.
type fanOuts struct {
	net     *Net
	joining bool              // the playbook has joins; otherwise fan-outs are not needed
	joins   map[*tracker]bool // with held tokens
}

// openGroup opens a fan-out with a number of branches.
func (f *fanOuts) openGroup(run *stepRun, branches int) *group {
	return &group{
		parent: run.group, router: run.step.Index, run: run.key, arc: run.arc, id: f.net.token + 1, live: branches, alone: branches == 1,
	}
}

// alone reports whether a router that emits only one token opens a fan-out: it does if joins belong to it. Otherwise these
// joins would count its token for the surrounding fan-out, to which they do not belong, and would end that. A router that
// already opened a fan-out on the path, without another one since, opens none, because a loop would nest without end.
func (f *fanOuts) alone(run *stepRun) bool {
	if !run.step.Next.Inclusive || !f.net.book.HasJoin(run.step.Index) {
		return false
	}
	for g := run.group; g != nil && g.alone; g = g.parent {
		if g.router == run.step.Index {
			return false
		}
	}
	return true
}

// tracker returns the tracker of a group's tokens at a join: the tracker of the outermost surrounding fan-out to which the join
// belongs or, if there is none, of the innermost one; nil if that has only one token. Each group searches once for each join.
func (f *fanOuts) tracker(g *group, join int) *tracker {
	if j := f.belonging(g, join); j != nil {
		return j
	}
	for g != nil && g.alone {
		g = g.parent
	}
	if g == nil {
		return nil
	}
	if i, ok := g.find(join); ok && g.known[i].tracker != nil {
		return g.known[i].tracker
	}
	j := g.newTracker(join)
	g.setTracker(join, j)
	return j
}

// belonging returns the tracker of the outermost fan-out around a group to which a join belongs, or nil.
func (f *fanOuts) belonging(g *group, join int) *tracker {
	var found *tracker
	var few [4]*group
	asking := few[:0] // innermost first
	for h := g; h != nil; h = h.parent {
		if i, ok := h.find(join); ok {
			if j := h.known[i].tracker; j != nil && f.net.book.AnswersTo(join, j.group.router) {
				found = j
			}
			break
		}
		asking = append(asking, h)
	}
	for _, h := range slices.Backward(asking) {
		if found == nil && f.net.book.AnswersTo(join, h.router) {
			found = h.newTracker(join)
		}
		h.setTracker(join, found)
	}
	return found
}

func (g *group) find(join int) (int, bool) {
	return slices.BinarySearchFunc(g.known, join, func(k known, join int) int { return cmp.Compare(k.join, join) })
}

func (g *group) setTracker(join int, j *tracker) {
	i, ok := g.find(join)
	if !ok {
		g.known = slices.Insert(g.known, i, known{join: join})
	}
	g.known[i].tracker = j
}

func (g *group) newTracker(join int) *tracker {
	j := &tracker{group: g, step: join}
	g.joins = append(g.joins, j)
	return j
}

// leave removes one live member from a group. The group ends with its last member, and then leaves its parent.
func (f *fanOuts) leave(g *group) {
	for ; g != nil && f.net.halted == nil && !f.net.stopped; g = g.parent {
		if g.live--; g.live > 0 {
			return
		}
		f.closeGroup(g)
	}
}

// closeGroup makes the joins of a group decide when no more of its tokens can arrive. If branches of the group failed and none
// of its joins fired, the group counts as a failed branch of its parent.
func (f *fanOuts) closeGroup(g *group) {
	fired := false
	for _, j := range g.joins {
		if !j.fired {
			f.decide(j)
		}
		if f.net.halted != nil {
			return // nothing new starts
		}
		fired = fired || j.fired
	}
	if g.failed > 0 && !fired && g.parent != nil {
		g.parent.failed++
	}
}

// branch is a token that one arc of a group's router led to a join, or a group opened behind that arc.
type branch struct {
	arc   int
	id    uint64
	token *token // nil: it is a group
	group *group
}

// compare compares the branches of a group by arc, then by creation.
func (b branch) compare(c branch) int {
	return cmp.Or(cmp.Compare(b.arc, c.arc), cmp.Compare(b.id, c.id))
}

// ordered returns tokens of a group and its nested groups in the order of the arcs by which they left the group's router;
// within one arc, in the order of the arcs of the next router, and so on; then in the order of creation.
func (g *group) ordered(list []*token) []*token {
	if !slices.ContainsFunc(list, func(t *token) bool { return t.group != g }) { // the usual case
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b *token) int { return cmp.Or(cmp.Compare(a.arc, b.arc), cmp.Compare(a.id, b.id)) })
		return list
	}
	branches := map[*group][]branch{}
	for _, t := range list {
		next := branch{arc: t.arc, id: t.id, token: t}
		for h := t.group; ; h = h.parent {
			if h.alone && h != g {
				next.arc = h.arc // as if the group had not been opened
				continue
			}
			seen := len(branches[h]) > 0
			branches[h] = append(branches[h], next)
			if seen || h == g {
				break
			}
			next = branch{arc: h.arc, id: h.id, group: h}
		}
	}
	var path []branch
	enter := func(h *group) {
		slices.SortFunc(branches[h], func(a, b branch) int { return b.compare(a) })
		path = append(path, branches[h]...) // the last is taken first
	}
	out := make([]*token, 0, len(list))
	for enter(g); len(path) > 0; {
		next := path[len(path)-1]
		path = path[:len(path)-1]
		if next.token == nil {
			enter(next.group)
			continue
		}
		out = append(out, next.token)
	}
	return out
}
