package signals

// This file maintains the two lists of links. sub.deps is in the order of reads, dep.subs in the order of subscription.

// link records that sub has read dep. It is in two lists:
//
//	dep.subs ─▶ link ◀─▶ link ◀─▶ link        by nextSub, ended by nil; prevSub of the first is the last link
//	sub.deps ─▶ link ──▶ link ──▶ link        by nextDep
//
// An unsubscribed node has only the second list; its links have no prevSub.
type link struct {
	dep              *source
	sub              *node
	prevSub, nextSub *link
	nextDep          *link
}

// track records that the running node reads dep. Reading in the order of the last run only moves the cursor:
//
//	deps ─▶ a ─▶ b ─▶ c ─▶ d        read c: the cursor moves on        read x: x is inserted after the cursor
//	             ▲cursor                         ▲                              b ─▶ x ─▶ c ─▶ d
//
// Links after the cursor at the end of the run were not read again. When the order changes, a source may have a second link,
// because track compares only one link. A second link is harmless, and the first run that does not need it removes it.
func (g *Graph) track(dep *source) {
	next := g.run.node.deps
	if g.run.cursor != nil {
		next = g.run.cursor.nextDep
	}
	if next != nil && next.dep == dep {
		g.run.cursor = next
		return
	}
	g.insert(dep, next)
}

// insert links the running node to dep after the cursor, before next, unless this run has read dep already.
func (g *Graph) insert(dep *source, next *link) {
	r := &g.run
	stamp := uint32(r.serial)
	for r.marked != r.cursor { // links that the cursor has passed since then are not marked yet
		if r.marked == nil {
			r.marked = r.node.deps
		} else {
			r.marked = r.marked.nextDep
		}
		r.marked.dep.mark = stamp
	}
	if dep == &r.node.source {
		return // it gets an error, and needs no link to recover
	}
	if dep.mark == stamp && r.node.flags&counting == 0 && (r.serial>>32 == 0 || r.hasRead(dep)) {
		return // a counting node has a link for each time it counts an input
	}
	if dep.flags&written != 0 {
		g.commit() // the run has read the new value, so the change must precede it
	}
	l := g.newLink(r.node.flags&subscribed != 0)
	l.dep, l.sub, l.nextDep = dep, r.node, next
	if r.cursor == nil {
		r.node.deps = l
	} else {
		r.cursor.nextDep = l
	}
	dep.mark, r.cursor, r.marked = stamp, l, l
	if r.node.flags&subscribed != 0 {
		g.attach(l)
	}
}

// hasRead reports whether the run has read dep. It searches the links, since serials may exceed the 32 bits of a mark.
func (r *run) hasRead(dep *source) bool {
	for l := r.node.deps; r.cursor != nil; l = l.nextDep {
		if l.dep == dep || l == r.cursor {
			return l.dep == dep
		}
	}
	return false
}

// attach makes a link a subscription. It subscribes the source's node if this is its first subscription.
func (g *Graph) attach(l *link) {
	l.join()
	g.edges++
	if n := l.dep.node; n != nil && n.flags&subscribed == 0 {
		g.subscribe(n)
	}
}

// join appends l to the subscribers of its source.
func (l *link) join() {
	dep := l.dep
	if l.sub.flags&counting != 0 {
		dep.flags |= feeds
	}
	first := dep.subs
	if first == nil {
		dep.subs, l.prevSub = l, l
		return
	}
	last := first.prevSub
	last.nextSub, l.prevSub, first.prevSub = l, last, l
}

// leave removes l from the subscribers of its source.
func (l *link) leave() {
	dep := l.dep
	switch {
	case l.nextSub != nil:
		l.nextSub.prevSub = l.prevSub
	case dep.subs != l:
		dep.subs.prevSub = l.prevSub
	}
	if dep.subs == l {
		dep.subs = l.nextSub
	} else {
		l.prevSub.nextSub = l.nextSub
	}
}

// subscribe attaches all links below n, which was not observed before. Its value may be stale, so it becomes pending. Some
// nodes must run: a counting node to count, a node that owns effects to make them, and a node that has dropped its links after
// an earlier observation. These are marked here, since the nodes above have not recorded that.
func (g *Graph) subscribe(n *node) {
	base, top := len(g.stack), n
	n.flags |= subscribed
	for {
		if n.verifiedAt != g.epoch {
			n.flags |= pending
		}
		if n.flags&counting != 0 || n.scope != nil && n.scope.used {
			n.flags |= dirty
		}
		for l := n.deps; l != nil; l = l.nextDep {
			l.join()
			g.edges++
			dep := l.dep.node
			switch {
			case dep == nil:
			case dep.flags&subscribed == 0:
				dep.flags |= subscribed
				g.stack = append(g.stack, l)
			case dep.flags&(dirty|pending) != 0:
				n.flags |= pending
			}
		}
		if n != top && n.flags&(dirty|pending) != 0 { // top will be refreshed by its reader
			g.spread(n.subs)
		}
		if len(g.stack) == base {
			return
		}
		n = g.pop().dep.node
	}
}

// unlink frees a list of links that is already detached from its node. It unsubscribes a computed that loses its last
// subscriber: it frees the links of that computed too, which then runs again at the next read.
func (g *Graph) unlink(l *link) {
	for l != nil {
		next, dep := l.nextDep, l.dep
		if l.prevSub != nil {
			l.leave()
			g.edges--
			if n := dep.node; n != nil && dep.subs == nil && n.flags&running == 0 {
				next = g.unsubscribe(n, next)
			}
		}
		g.freeLink(l)
		l = next
	}
}

// unsubscribe detaches the links of n and returns them in front of rest.
func (g *Graph) unsubscribe(n *node, rest *link) *link {
	n.flags = n.flags&^(subscribed|pending|counted) | dirty
	if n.scope != nil && n.scope.used {
		g.orphans = append(g.orphans, n.scope)
	}
	first := n.deps
	if first == nil {
		return rest
	}
	last := first
	for last.nextDep != nil {
		last = last.nextDep
	}
	n.deps, last.nextDep = nil, rest
	return first
}

// newLink returns an empty link, from the graph's slabs if it will be subscribed. The link of an unsubscribed node is a
// separate object: it is not freed when its node becomes garbage, and in a slab it would keep the node alive.
func (g *Graph) newLink(subscribed bool) *link {
	if !subscribed {
		return new(link)
	}
	if l := g.free; l != nil {
		g.free, l.nextDep = l.nextDep, nil
		return l
	}
	if len(g.slab) == 0 {
		g.slabSize = min(2*g.slabSize+8, slabMax)
		g.slab = make([]link, g.slabSize)
	}
	l := &g.slab[0]
	g.slab = g.slab[1:]
	return l
}

// slabMax is the number of links, of 40 bytes each, that fill a size class of the allocator.
const slabMax = 204

// freeLink clears l, so that it references only free links, and keeps it for newLink.
func (g *Graph) freeLink(l *link) {
	*l = link{nextDep: g.free}
	g.free = l
}
