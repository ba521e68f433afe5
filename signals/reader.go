package signals

// Reader tracks the reads of a callback: its node depends on every value that the callback reads with it. A Reader is valid
// for one run, on the goroutine of that run, and while no other callback runs inside. Any other use panics instead of tracking
// for the wrong node. The zero Reader tracks nothing and is valid anywhere.
type Reader struct {
	graph  *Graph
	serial uint64
}

// untracked is the bit of a serial that turns tracking off.
const untracked = 1 << 63

// Untracked returns a Reader of the same run whose reads make no dependencies. Objects that the run creates still belong to it.
func (r Reader) Untracked() Reader {
	if r.graph != nil {
		r.serial |= untracked
	}
	return r
}

// Scope returns the scope of the running node. Effects, scopes and cleanups created in it last until the node runs again or
// ends: an effect is disposed, a computed is no longer observed. A computed that is read without being observed disposes the
// scope when its run ends.
func (r Reader) Scope() *Scope {
	if r.graph == nil || r.serial&^untracked != r.graph.run.serial {
		panic(staleReader)
	}
	own := r.graph.run.node.ownScope()
	own.used = true
	return own
}

// OnCleanup is short for r.Scope().OnCleanup(fn).
func (r Reader) OnCleanup(fn func()) { _ = r.Scope().OnCleanup(fn) } // the scope of a running node is open

const staleReader = "signals: Reader used outside its run"

// tracks reports whether to track a read in g. It panics if r is not valid for g.
func (r Reader) tracks(g *Graph) bool {
	if r.graph == g && r.serial == g.run.serial {
		return true
	}
	r.untrackedIn(g)
	return false
}

// untrackedIn panics unless r is a Reader for untracked reads in g.
func (r Reader) untrackedIn(g *Graph) {
	switch {
	case r.graph == nil:
	case r.graph != g:
		panic("signals: Reader of another graph")
	case r.serial != g.run.serial|untracked:
		panic(staleReader)
	}
}
