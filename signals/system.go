package signals

// This file has the algorithm, without type parameters and callbacks of users: sources, nodes, their links, and the propagation
// of changes.
//
//	signal ──▶ computed ──▶ effect        a link per arrow: sub has read dep in its last run
//
//	push:  a changed signal marks its direct subscribers dirty ("run") and all their dependents pending ("perhaps"), and
//	       queues the effects among them; nothing runs yet                                                 (notify, spread)
//	pull:  a queued effect checks its inputs, in the order it read them, for a change; a pending input checks its own
//	       first. So nodes run inputs first, at most once, and not at all if no input changed               (refresh)
//
// Time is the graph's epoch, one tick per commit of changes. changedAt is the epoch of the last change of a value, verifiedAt
// the epoch of the last check of a node's inputs: an input with changedAt > verifiedAt makes the node run. Both only grow; a
// reverted value has a new epoch, never its old one.
//
// Invariants, besides those of the fields:
//
//	(1) every subscriber of a dirty or pending node is dirty or pending itself, or on the stack (running);
//	(2) a dirty or pending effect is queued, or on the stack, or disposed;
//	(3) a node is subscribed if it is an effect or has subscribers; only then are its links in the subs of its inputs, so
//	    that nothing but its user holds a computed without observers;
//	(4) no callback of a user runs inside the functions of this file other than evaluate.

// source is a readable object: a signal, or the readable half of a node.
type source struct {
	graph     *Graph
	node      *node  // the node that this is part of; nil for a signal
	subs      *link  // first subscriber, oldest first; subs.prevSub is the last one
	changedAt uint64 // epoch of the last change of the value
	flags     flags
	mark      uint32 // low half of the serial of the last run that linked to it. For an effect: its place in its scope
}

// node is a runnable object: a computed, an effect or a counting node.
type node struct {
	source
	body       body
	deps       *link  // inputs of the last run, in the order of reads; during a run, the inputs up to run.cursor are of this run
	verifiedAt uint64 // epoch at which the node was last known to agree with deps
	scope      *Scope // scope of its run; of an effect without flag owns, the scope that contains it
}

// body is the typed half of a node.
type body interface {
	update(r Reader) (changed bool) // runs the callback and stores its outcome
	fail(g *Graph, err error)       // stores err as the outcome: the callback panicked
	describe() string               // name, file and line of the callback, for errors
}

// tallier is the body of a counting node, which is notified of changed inputs one by one instead of reading all of them.
type tallier interface {
	touch(l *link)                 // the input of l may have changed
	next() *link                   // removes and returns a touched link; nil if there is none
	computeResult() (changed bool) // computes the result, once all touched inputs are up to date
}

type flags uint32

const (
	dirty      flags = 1 << iota // an input changed
	pending                      // a direct or indirect input may have changed
	running                      // its callback, or the check of its inputs, is on the stack
	subscribed                   // see invariant 3
	disposed                     // effect, scope: never runs again
	queued                       // effect: in graph.queue
	effect                       // kind of node
	counting                     // kind of node: the body is a tallier
	counted                      // counting node: is notified of every change of an input, and need not read the inputs
	feeds                        // source: has had counting subscribers
	written                      // signal: has an entry in graph.log that is not committed
	owns                         // effect, bare scope: scope is its own

	rerun     flags = 1 << 24 // effect: unit of the count of re-runs in one flush, in the top byte
	rerunMask flags = 0xff << 24
)

// run is the current evaluation. Outer ones wait on the Go stack.
type run struct {
	node   *node
	cursor *link  // last link read in this run; nil before the first read
	marked *link  // last link whose source carries this run's mark
	serial uint64 // identifies the run and its Reader; 0 when nothing runs
	pure   bool   // a computed is on the stack: no writes
}

// notify marks the dependents of a changed signal. It passes the old and the new value to counting subscribers instead (see
// feed).
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

// spread marks the subscriber of l, those after it, and all their dependents pending, depth first. It visits each node once,
// because it skips marked nodes. It skips a running computed, which is about to read the change.
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

// stale reports whether n must be refreshed before it is read, or is on the stack and cannot be refreshed.
func (n *node) stale() bool {
	if n.flags&subscribed != 0 {
		return n.flags&(dirty|pending|running) != 0
	}
	return n.flags&(dirty|running) != 0 || n.verifiedAt != n.graph.epoch
}

// refresh updates n. It descends to the first input that changed and ascends again, running the nodes that must run; the
// path is on graph.stack, not on Go's, so a chain may have any length:
//
//	effect ─▶ c3 ─▶ c2 ─▶ c1 ─▶ signal, changed          stack: [effect-c3  c3-c2  c2-c1], at c1: run, pop, changed? run, pop …
//
// It checks inputs in the order in which they were read, up to the first that changed, so nodes that a changed input makes
// unreachable do not run.
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
			g.settleCounting(n)
		case f&dirty != 0:
			g.evaluate(n)
		default:
			for ; l != nil; l = l.nextDep {
				dep := l.dep
				if in := dep.node; in != nil && in.stale() {
					if in.flags&running != 0 { // a cycle: n must run to get the error
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

// nextTouched returns the link to an input that a counting node must refresh before it computes its result; nil for a disposed
// node.
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

// settleCounting ends the check of a counting node with current inputs, or of a disposed node.
func (g *Graph) settleCounting(n *node) {
	g.clean(n, n.flags&disposed == 0 && n.body.(tallier).computeResult())
}

// clean ends the check of a node without running it.
func (g *Graph) clean(n *node, changed bool) {
	n.flags &^= dirty | pending
	n.verifiedAt = g.epoch
	if changed {
		n.changedAt = g.epoch
	}
	g.finish(n)
}

// evaluate runs n. It first disposes the objects that the last run created, which may dispose n.
func (g *Graph) evaluate(n *node) {
	outer := g.run
	g.serial++
	g.run = run{node: n, serial: g.serial, pure: outer.pure || n.flags&effect == 0}
	if own := n.runScope(); own != nil && own.used {
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

// rest returns the start of the links that the ending run has not read again.
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

// catchUp does the work that could not be done while n was on the stack.
func (g *Graph) catchUp(n *node) {
	switch f := n.flags; {
	case f&disposed != 0:
		g.dismantle(n)
	case f&effect != 0:
		if f&(dirty|pending) == 0 {
			n.verifiedAt = g.epoch // it has read everything committed while it ran
		}
	case f&subscribed != 0:
		g.unlink(g.unsubscribe(n, nil))
	case n.scope != nil && n.scope.used:
		g.empty(n.scope) // n has no observers, so nothing else would dispose its effects
	}
}

// enqueue queues an effect, unless it is queued. In a flush, it counts a re-run (see step).
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

// pop removes and returns the last link of the stack, and clears its entry.
func (g *Graph) pop() *link {
	last := len(g.stack) - 1
	l := g.stack[last]
	g.stack[last] = nil
	g.stack = g.stack[:last]
	return l
}
