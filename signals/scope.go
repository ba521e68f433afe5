package signals

// Scope is a set of effects, cleanups and further scopes that are disposed together. Every effect has its own scope for the
// objects that its runs create, see [Reader.Scope].
//
//	root ─▶ scope ─▶ effect A ─▶ (A's scope) ─▶ effect B, made by A's run: gone when A runs again
//
// Disposal goes bottom-up: first the children, the youngest first, each with its content, then the scope's own cleanups, the
// last registered first.
type Scope struct {
	graph    *Graph
	parent   *Scope  // scope of owner; nil for the root and for the scope of a computed
	owner    *node   // the effect, computed or bare scope that this belongs to
	children []*node // effects and bare scopes, oldest first; nil in place of a removed one
	gaps     int     // nil entries of children
	cleanups []func()
	err      error // of a computed: the error of its last run
	used     bool  // possibly not empty
	nested   bool  // an effect or a computed is among the owners
	closed   bool  // disposed, or being emptied: accepts nothing
}

// Scope creates a scope in s and calls body, if it is not nil, to fill it. If body returns an error or panics, Scope disposes
// the new scope and returns the error, or the panic as [*PanicError]. It returns [ErrDisposed] if s is disposed.
func (s *Scope) Scope(body func(s *Scope) error) (*Scope, error) {
	if s.closed {
		return nil, ErrDisposed
	}
	n := &node{source: source{graph: s.graph, flags: owns}}
	own := &Scope{graph: s.graph, parent: s, owner: n, nested: s.nested}
	n.scope = own
	s.add(n)
	if body == nil {
		return own, nil
	}
	s.graph.hold++
	if err := own.fill(body); err != nil {
		s.graph.dispose(n)
		return nil, join(err, s.graph.leave())
	}
	return own, s.graph.leave()
}

// fill calls body and turns its panic into an error.
func (s *Scope) fill(body func(s *Scope) error) (err error) {
	done := false
	defer func() {
		if done {
			return
		}
		if v := recover(); v != nil {
			err = newPanicError(v)
			return
		}
		s.graph.dispose(s.owner) // runtime.Goexit
		_ = s.graph.leave()
	}()
	err = body(s)
	done = true
	return err
}

// OnCleanup registers fn to be called once: when the scope is disposed, or before the next run of its effect or computed. fn
// tracks nothing and may write; the disposal or flush that calls it reports its panic. OnCleanup returns [ErrDisposed], and
// does not register fn, if s is disposed.
func (s *Scope) OnCleanup(fn func()) error {
	if s.closed {
		return ErrDisposed
	}
	s.used = true
	s.cleanups = append(s.cleanups, fn)
	return nil
}

// Dispose ends everything in the scope and closes it. Disposing again does nothing. It returns, joined, the panics of
// cleanups and, if no batch is open, the errors of effects that run because of the cleanups' writes.
func (s *Scope) Dispose() error {
	return s.graph.end(s.owner)
}

// add makes n a child.
func (s *Scope) add(n *node) {
	s.used = true
	n.mark = uint32(len(s.children))
	s.children = append(s.children, n)
}

// remove makes n's place a gap, and removes the gaps when they are most of the list.
func (s *Scope) remove(n *node) {
	s.children[n.mark] = nil
	s.gaps++
	if s.gaps < 16 || 2*s.gaps < len(s.children) {
		return
	}
	kept := s.children[:0]
	for _, c := range s.children {
		if c != nil {
			c.mark = uint32(len(kept))
			kept = append(kept, c)
		}
	}
	clear(s.children[len(kept):])
	s.children, s.gaps = kept, 0
}

// takeLast removes and returns the youngest child, or nil.
func (s *Scope) takeLast() *node {
	for last := len(s.children) - 1; last >= 0; last-- {
		c := s.children[last]
		s.children[last] = nil
		s.children = s.children[:last]
		if c != nil {
			return c
		}
		s.gaps--
	}
	return nil
}

// runScope returns the scope of the objects that n's run created, or nil.
func (n *node) runScope() *Scope {
	if n.flags&(effect|owns) == effect {
		return nil
	}
	return n.scope
}

// parentScope returns the scope that contains an effect or a bare scope.
func (n *node) parentScope() *Scope {
	if n.flags&owns != 0 {
		return n.scope.parent
	}
	return n.scope
}

// ownScope returns n's own scope, creating it if necessary.
func (n *node) ownScope() *Scope {
	own := n.runScope()
	if own == nil {
		own = &Scope{graph: n.graph, owner: n, parent: n.scope, nested: true}
		n.scope = own
		if n.flags&effect != 0 {
			n.flags |= owns
		}
	}
	return own
}

// end disposes an effect or a bare scope at the user's request.
func (g *Graph) end(n *node) error {
	if n.flags&disposed != 0 {
		return nil
	}
	g.hold++
	done := false
	defer func() {
		if !done { // runtime.Goexit in a cleanup
			g.hold--
		}
	}()
	g.dispose(n)
	done = true
	return g.leave()
}

// dispose removes n from its parent and dismantles it.
func (g *Graph) dispose(n *node) {
	if n.flags&disposed != 0 {
		return
	}
	if parent := n.parentScope(); parent != nil { // the root has none
		parent.remove(n)
	}
	n.flags |= disposed
	if n.flags&running == 0 {
		g.dismantle(n)
	}
}

// dismantle disposes the children of a disposed node and removes its links. For a node on the stack, this waits until its run ends
// (see finish).
func (g *Graph) dismantle(n *node) {
	if own := n.runScope(); own != nil {
		g.empty(own)
		own.closed = true
	}
	g.cut(n)
}

// cut unlinks a disposed node and drops its callback.
func (g *Graph) cut(n *node) {
	l := n.deps
	n.deps, n.body = nil, nil
	g.unlink(l)
}

// renew empties the scope of a node that is about to run.
func (g *Graph) renew(s *Scope) {
	g.empty(s)
	s.used = false
	if g.uncommitted {
		g.commit() // so that the run sees the writes of the cleanups
	}
}

// empty disposes the content of root, bottom-up, at any depth, without recursion: it repeatedly descends to the youngest child,
// and ascends through parent.
func (g *Graph) empty(root *Scope) {
	if root.closed {
		return
	}
	root.closed = true
	for s := root; ; {
		if c := s.takeLast(); c != nil {
			c.flags |= disposed
			switch own := c.runScope(); {
			case c.flags&running != 0: // finish dismantles it
			case own != nil:
				own.closed = true
				s = own
			default:
				g.cut(c)
			}
			continue
		}
		for len(s.cleanups) > 0 {
			g.cleanUp(s)
		}
		if s == root {
			break
		}
		n := s.owner
		s = s.parent
		g.cut(n)
	}
	root.closed = false
}

// cleanUp calls the cleanups of s, the last one first, until one panics.
func (g *Graph) cleanUp(s *Scope) {
	outer := g.run
	g.run = run{pure: outer.pure}
	defer func() {
		g.run = outer
		if v := recover(); v != nil {
			g.errs = append(g.errs, newPanicError(v))
		}
	}()
	for last := len(s.cleanups) - 1; last >= 0; last = len(s.cleanups) - 1 {
		fn := s.cleanups[last]
		s.cleanups[last] = nil
		s.cleanups = s.cleanups[:last]
		fn()
	}
}

// sweep empties the scopes of computeds that are no longer observed.
func (g *Graph) sweep() {
	for len(g.orphans) > 0 {
		last := len(g.orphans) - 1
		s := g.orphans[last]
		g.orphans[last] = nil
		g.orphans = g.orphans[:last]
		if s.owner.flags&(subscribed|running) == 0 {
			g.empty(s)
		}
	}
}
