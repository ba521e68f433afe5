package signals

import (
	"errors"
	"slices"
)

// RerunsMax bounds the re-runs of one effect within one flush. An effect beyond it fails with a [*CycleError] and does not run
// until an input changes again. The bound is per effect: a cascade through any number of effects is not a cycle.
const RerunsMax = 100

// flush runs the queued effects until the queue is empty, and returns their errors, joined. Effects queued meanwhile are
// appended to the same queue, so a cascade of any length needs no stack.
func (g *Graph) flush() error {
	if len(g.queue) == 0 && !g.uncommitted && len(g.orphans) == 0 && len(g.errs) == 0 && len(g.log) == 0 {
		return nil
	}
	if g.uncommitted {
		g.commit()
	}
	if g.head == 0 { // else runtime.Goexit ended the last flush, and this one takes over
		g.early = len(g.queue)
	}
	for !g.drain() {
	}
	g.queuePeak = max(g.queuePeak, len(g.queue))
	for i := g.early; i < len(g.queue); i++ {
		g.queue[i].flags &^= rerunMask
		g.queue[i] = nil
	}
	g.queue, g.head = g.queue[:0], 0
	if cap(g.queue) > retainMax {
		g.queue = nil
	}
	g.turn = nil
	if len(g.errs) == 0 {
		return nil
	}
	return g.takeErrors(0)
}

// drain runs the queued effects under a single recover: when a callback panics, drain returns false and must be called again.
func (g *Graph) drain() (done bool) {
	g.hold++
	g.draining = true
	defer func() {
		g.hold--
		g.draining = false
		if !done {
			v := recover()
			g.rescue(run{}, 0, v)
			g.requeue(v != nil)
		}
	}()
	for {
		if g.uncommitted {
			g.commit()
		}
		if len(g.log) > 0 {
			g.forget()
		}
		if len(g.orphans) > 0 {
			g.sweep()
			continue
		}
		if g.head == len(g.queue) {
			return true
		}
		e := g.queue[g.head]
		if g.head < g.early {
			g.queue[g.head] = nil // the later entries stay until the end, because they count re-runs
		}
		g.head++
		e.flags &^= queued
		g.turn = e
		g.step(e)
	}
}

// requeue queues the current effect again if the panic or runtime.Goexit of a computed ended its turn before it ran. After a
// panic the effect keeps its place; after Goexit, which ends this flush, it runs last in the next one.
func (g *Graph) requeue(keepPlace bool) {
	e := g.turn
	if e.flags&(dirty|pending) == 0 || e.flags&(queued|disposed) != 0 {
		return
	}
	if keepPlace {
		e.flags |= queued
		g.head--
		g.queue[g.head] = e
		return
	}
	g.enqueue(e)
}

// step runs a queued effect if necessary. Its owners run first, from the outside in: if an owner runs again, e is disposed.
func (g *Graph) step(e *node) {
	if e.flags&disposed != 0 {
		return
	}
	if parent := e.parentScope(); parent.nested {
		g.settleOwners(parent)
	}
	if e.flags&(dirty|pending) == 0 || e.flags&disposed != 0 {
		return
	}
	if e.flags&rerunMask > RerunsMax*rerun {
		g.errs = append(g.errs, g.ring(e))
		e.flags &^= dirty | pending
		e.verifiedAt = g.epoch
		return
	}
	g.refresh(e)
}

// settleOwners refreshes the nodes that own s, outermost first.
func (g *Graph) settleOwners(s *Scope) {
	if s.parent != nil && s.parent.nested {
		g.settleOwners(s.parent)
	}
	if n := s.owner; n.flags&(dirty|pending) != 0 && n.flags&(running|disposed) == 0 {
		g.refresh(n)
	}
}

// ring returns a [*CycleError] with the names of the effects that keep running: those with about as many re-runs as e, each
// after the computeds that notify it.
func (g *Graph) ring(e *node) error {
	names := describeInputs(nil, e)
	for _, other := range g.queue[max(g.early, len(g.queue)-RerunsMax):] {
		if other.flags&rerunMask >= RerunsMax/2*rerun && other.flags&disposed == 0 {
			names = describeInputs(names, other)
		}
	}
	return &CycleError{Nodes: names}
}

// describeInputs appends the name of n, preceded by its first input that is pending or has changed recently and by the inputs
// of that input, without duplicates.
func describeInputs(names []string, n *node) []string {
	if name := n.body.describe(); !slices.Contains(names, name) {
		for l := n.deps; l != nil; l = l.nextDep {
			if dep := l.dep.node; dep != nil && (dep.flags&(dirty|pending) != 0 || dep.changedAt+RerunsMax > n.graph.epoch) {
				names = describeInputs(names, dep)
				break
			}
		}
		names = append(names, name)
	}
	return names
}

// settle updates n within a read, in its own frame on Go's stack with a recover, because the reader's callback is below it.
func (g *Graph) settle(n *node) error {
	if g.uncommitted {
		g.commit()
	}
	if !n.stale() {
		return nil
	}
	if g.depth >= DepthMax {
		g.epoch++ // so that no node further up the stack counts as verified: the next read continues from here
		return ErrDepth
	}
	for !g.trySettle(n) {
	}
	return nil
}

func (g *Graph) trySettle(n *node) (done bool) {
	outer, base, depth := g.run, len(g.stack), g.depth
	g.hold++
	g.depth++
	defer func() {
		g.hold--
		g.depth = depth
		if !done {
			g.rescue(outer, base, recover())
		}
	}()
	g.refresh(n)
	return true
}

// rescue stores the panic of a callback as the outcome of its node. outer is the run, and base the height of the stack, at the
// beginning of the frame that recovered. v is nil if runtime.Goexit ends the frame: an effect then counts as run, a computed
// does not.
func (g *Graph) rescue(outer run, base int, v any) {
	for len(g.stack) > base {
		g.pop().sub.flags &^= running
	}
	n := g.run.node
	if g.run.serial == outer.serial {
		if v != nil {
			panic(v) // not from a callback: a bug of this package, or a fatal error
		}
		return
	}
	if v == nil {
		g.run = outer
		if n.flags&effect == 0 {
			n.flags |= dirty
		}
		g.finish(n)
		return
	}
	n.body.fail(g, newPanicError(v))
	g.purge(g.run.rest())
	g.run = outer
	n.changedAt = g.epoch
	g.finish(n)
}

// takeErrors removes the errors from index from on and returns them, joined. It returns a single error unchanged.
func (g *Graph) takeErrors(from int) error {
	errs := g.errs[from:]
	if len(errs) == 0 {
		return nil
	}
	err := errs[0]
	if len(errs) > 1 {
		err = errors.Join(errs...)
	}
	clear(errs)
	g.errs = g.errs[:from]
	return err
}
