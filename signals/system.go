package signals

// This file is the algorithm, without types or callbacks of users: sources, nodes, the links between them, and how a change travels.
//
//	signal ──▶ computed ──▶ effect        a link per arrow: sub has read dep in its last run
//
//	push:  a changed signal marks its direct subscribers dirty ("run") and everything behind them pending ("perhaps"), and
//	       queues the effects among them; nothing runs yet                                                 (notify, spread)
//	pull:  a queued effect checks its inputs, in the order it read them, for a change; a pending input checks its own
//	       first. So nodes run inputs first, at most once, and not at all if nothing they read changed      (refresh)
//
// Time is the graph's epoch, one tick per commit of changes. changedAt is when a value last changed, verifiedAt when a node
// last knew its inputs: an input with changedAt > verifiedAt makes the node run. Both only grow; a value that is taken back
// gets a new epoch, never the old one.
//
// Invariants, besides those of the fields:
//
//	(1) every subscriber of a dirty or pending node is dirty or pending itself, or on the stack (running);
//	(2) a dirty or pending effect is queued, or on the stack, or disposed;
//	(3) a node is subscribed if it is an effect or has subscribers; only then are its links in the subs of its inputs, so
//	    that nothing but its user holds a computed without observers;
//	(4) no callback of a user runs inside the functions of this file other than evaluate.

// source is what can be read: a signal, or the readable half of a node.
type source struct {
	graph     *Graph
	node      *node  // the node this is part of; nil for a signal
	subs      *link  // first subscriber, oldest first; subs.prevSub is the last one
	changedAt uint64 // epoch of the last change of the value
	flags     flags
	mark      uint32 // low half of the serial of the last run that linked to it. For an effect: its place in its scope
}

// node is what runs: a computed, an effect or a counting node.
type node struct {
	source
	body       body
	deps       *link  // what the last run read, in that order; during a run, up to run.cursor what this run has read
	verifiedAt uint64 // epoch at which the node was last known to agree with deps
	scope      *Scope // what its run owns. For an effect without flag owns: the scope it lives in itself
}

// body is the typed half of a node.
type body interface {
	update(r Reader) (changed bool) // runs the callback and stores its outcome
	fail(g *Graph, err error)       // stores err as the outcome: the callback panicked
	describe() string               // for messages: where the callback is from
}

// tallier is the body of a counting node, which hears of changed inputs one by one instead of reading all of them.
type tallier interface {
	touch(l *link)         // the input behind l may have changed
	next() *link           // takes a touched link, nil when there is none
	tally() (changed bool) // draws the result, once all touched inputs are up to date
}

type flags uint32

const (
	dirty      flags = 1 << iota // an input changed
	pending                      // an input, near or far, may have changed
	running                      // on the stack: its callback is, or the check of its inputs
	subscribed                   // see invariant 3
	disposed                     // effect, scope: never runs again
	queued                       // effect: in graph.queue
	effect                       // kind of node
	counting                     // kind of node: the body is a tallier
	counted                      // counting node: hears of every input, so there is no need to read them
	feeds                        // source: has had counting subscribers
	written                      // signal: has an entry in graph.log that is not committed
	owns                         // effect, bare scope: scope is its own

	rerun     flags = 1 << 24 // effect: unit of the count of re-runs in one flush, in the top byte
	rerunMask flags = 0xff << 24
)

// run is the evaluation under way. Outer ones wait on the Go stack.
type run struct {
	node   *node
	cursor *link  // last link read in this run; nil before the first read
	marked *link  // last link whose source carries this run's mark
	serial uint64 // identifies the run and its Reader; 0 when nothing runs
	pure   bool   // a computed is on the stack: no writes
}

// notify marks the dependents of a changed signal. Counting subscribers get the old and the new value instead (see feed).
func (g *Graph) notify(s *source) {
	for l := s.subs; l != nil; l = l.nextSub {
		if l.sub.flags&counting == 0 {
			g.markDirty(l.sub)
		}
	}
}

// markDirty marks n dirty and its dependents pending.
func (g *Graph) markDirty(n *node) {
	clean := n.flags&(dirty|pending) == 0
	n.flags |= dirty
	switch {
	case !clean:
	case n.flags&effect != 0:
		g.enqueue(n)
	default:
		g.spread(n.subs)
	}
}

// spread marks l's subscriber, those after it, and everything behind them pending, depth first: each node once, for one that is marked has
// spread already. A computed that is running is left alone: it is about to read what changed.
func (g *Graph) spread(l *link) {
	base := len(g.stack)
	for {
		for l == nil {
			if len(g.stack) == base {
				return
			}
			l = g.pop()
		}
		n, next := l.sub, l.nextSub
		f := n.flags
		if f&counting != 0 {
			n.body.(tallier).touch(l)
		}
		l = next
		switch {
		case f&(dirty|pending) != 0:
		case f&effect != 0:
			n.flags |= pending
			g.enqueue(n)
		case f&running == 0:
			n.flags |= pending
			if next != nil && n.subs != nil {
				g.stack = append(g.stack, next)
			}
			if n.subs != nil {
				l = n.subs
			}
		}
	}
}

// stale reports whether n has to be refreshed before it is read, or cannot be because it is on the stack.
func (n *node) stale() bool {
	if n.flags&subscribed != 0 {
		return n.flags&(dirty|pending|running) != 0
	}
	return n.flags&(dirty|running) != 0 || n.verifiedAt != n.graph.epoch
}

// refresh brings n up to date. It goes down to the first input that changed and comes back up, running the nodes that have to run; the path is on
// graph.stack, not on Go's, so a chain may be of any length:
//
//	effect ─▶ c3 ─▶ c2 ─▶ c1 ─▶ signal, changed          stack: [effect-c3  c3-c2  c2-c1], at c1: run, pop, changed? run, pop …
//
// Inputs are checked in the order in which they were read, and no further than the first one that changed, so what a changed input makes
// unreachable does not run.
func (g *Graph) refresh(n *node) {
	base := len(g.stack)
	l := n.deps
down:
	for {
		f := n.flags
		n.flags = f | running
		switch {
		case f&(disposed|counted) != 0:
			if l = g.nextTouched(n); l != nil {
				g.stack = append(g.stack, l)
				n = l.dep.node
				l = n.deps
				continue down
			}
			g.settleUp(n)
		case f&dirty != 0:
			g.evaluate(n)
		default:
			for ; l != nil; l = l.nextDep {
				dep := l.dep
				if in := dep.node; in != nil && in.stale() {
					if in.flags&running != 0 { // a cycle: n has to run to get the error
						break
					}
					g.stack = append(g.stack, l)
					n, l = in, in.deps
					continue down
				}
				if dep.changedAt > n.verifiedAt {
					break
				}
			}
			if l != nil {
				g.evaluate(n)
			} else {
				g.clean(n, false)
			}
		}
		if len(g.stack) == base {
			return
		}
		l = g.pop()
		n = l.sub
	}
}

// nextTouched returns the link to an input that a counting node, which is not disposed, has to refresh before its result is known.
func (g *Graph) nextTouched(n *node) *link {
	if n.flags&disposed != 0 {
		return nil
	}
	t := n.body.(tallier)
	for l := t.next(); l != nil; l = t.next() {
		if in := l.dep.node; in.stale() && in.flags&running == 0 {
			return l
		}
	}
	return nil
}

// settleUp ends the check of a counting node, whose inputs are up to date, or of a disposed one.
func (g *Graph) settleUp(n *node) {
	g.clean(n, n.flags&disposed == 0 && n.body.(tallier).tally())
}

// clean ends the check of a node that does not run.
func (g *Graph) clean(n *node, changed bool) {
	n.flags &^= dirty | pending
	n.verifiedAt = g.epoch
	if changed {
		n.changedAt = g.epoch
	}
	g.finish(n)
}

// evaluate runs n. It first disposes what the last run created, which may dispose n.
func (g *Graph) evaluate(n *node) {
	outer := g.run
	g.serial++
	g.run = run{node: n, serial: g.serial, pure: outer.pure || n.flags&effect == 0}
	if own := n.own(); own != nil && own.used {
		g.renew(own)
		if n.flags&disposed != 0 {
			g.run = outer
			g.finish(n)
			return
		}
	}
	n.flags &^= dirty | pending
	n.verifiedAt = g.epoch
	changed := n.body.update(Reader{graph: g, serial: g.run.serial})
	if rest := g.run.rest(); *rest != nil {
		g.purge(rest)
	}
	g.run = outer
	if changed {
		n.changedAt = g.epoch
	}
	g.finish(n)
}

// rest returns where the links begin that the run which ends has not read again.
func (r *run) rest() **link {
	if r.cursor != nil {
		return &r.cursor.nextDep
	}
	return &r.node.deps
}

// purge drops the links from rest on.
func (g *Graph) purge(rest **link) {
	l := *rest
	*rest = nil
	g.unlink(l)
}

// finish takes n off the stack.
func (g *Graph) finish(n *node) {
	n.flags &^= running
	if n.flags&(effect|subscribed|disposed) != subscribed || n.subs == nil {
		g.catchUp(n)
	}
}

// catchUp does what had to wait until n was off the stack.
func (g *Graph) catchUp(n *node) {
	switch f := n.flags; {
	case f&disposed != 0:
		g.dismantle(n)
	case f&effect != 0:
		if f&(dirty|pending) == 0 {
			n.verifiedAt = g.epoch // it has read what was written and committed while it ran
		}
	case f&subscribed != 0:
		g.unlink(g.unsubscribe(n, nil))
	case n.scope != nil && n.scope.used:
		g.empty(n.scope) // n has no observers, so nothing else would dispose its effects
	}
}

// enqueue queues an effect, once. Queued again in the same flush, it is a re-run, which is counted (see step).
func (g *Graph) enqueue(n *node) {
	if n.flags&queued != 0 {
		return
	}
	n.flags |= queued
	if g.draining && n.flags&rerunMask != rerunMask {
		n.flags += rerun
	}
	g.queue = append(g.queue, n)
}

// pop takes the last link from the stack, leaving nothing there that would keep it alive.
func (g *Graph) pop() *link {
	last := len(g.stack) - 1
	l := g.stack[last]
	g.stack[last] = nil
	g.stack = g.stack[:last]
	return l
}
