package signals

import "sync"

// Graph is a set of signals and the nodes derived from them. Everything in it is owned by one goroutine at a time: its owner, or the holder of the
// lock that its user put around it. Only [Graph.Post] and [Graph.Wake] may be called from elsewhere. Graphs share nothing.
type Graph struct {
	run      run     // the evaluation under way
	epoch    uint64  // one tick per commit that changed something
	serial   uint64  // of the last run
	stack    []*link // way of the walks: spread, refresh, subscribe
	queue    []*node // effects to run, oldest first
	head     int     // first entry of queue that has not had its turn
	early    int     // entries of queue that were there before the flush: their turn is no re-run
	turn     *node   // the effect whose turn it is
	draining bool
	hold     int // batches, flushes and evaluations that are open: writes wait for the end of the outermost
	depth    int // evaluations on Go's stack

	log         []change // writes of the open batch, in order
	committed   int      // entries of log that have become visible to computeds and effects
	uncommitted bool     // there are further ones

	errs    []error  // of the flush under way
	orphans []*Scope // scopes of computeds that have lost their last observer, to be emptied
	root    Scope

	free     *link // emptied links
	slab     []link
	slabSize int

	edges     int
	queuePeak int

	posted struct {
		sync.Mutex
		fns  []func()
		wake chan struct{}
	}
}

// New returns an empty graph.
func New() *Graph {
	g := &Graph{epoch: 1}
	g.root = Scope{graph: g, owner: &node{source: source{graph: g, flags: owns}, scope: &g.root}}
	g.posted.wake = make(chan struct{}, 1)
	return g
}

// Root returns the outermost scope. Disposing it ends every effect of the graph.
func (g *Graph) Root() *Scope { return &g.root }

// Effect creates an effect in the root scope, see [Scope.Effect].
func (g *Graph) Effect(fn func(r Reader) error) (*Effect, error) { return g.root.Effect(fn) }

// Scope creates a scope in the root scope, see [Scope.Scope].
func (g *Graph) Scope(body func(s *Scope) error) (*Scope, error) { return g.root.Scope(body) }

// Stats holds the size of a graph and the work done in it.
type Stats struct {
	Edges     int    // subscriptions: one per input of every observed node
	Runs      uint64 // callbacks of computeds and effects since the start
	QueuePeak int    // most effects that had their turn in one flush
}

// Stats returns the figures of this moment, in constant time.
func (g *Graph) Stats() Stats {
	return Stats{Edges: g.edges, Runs: g.serial, QueuePeak: g.queuePeak}
}

// Batch runs fn and then, if it is the outermost batch, makes what fn wrote visible as one change: effects run once, after the end, and a value that
// is back where it was counts as not written. Reads inside see the new values, computeds too. Nested batches only count.
//
// If the outermost fn returns an error or panics, all its writes are taken back first; the error is returned, a panic passes on. Batch
// also returns the errors of the effects that ran, joined.
func (g *Graph) Batch(fn func() error) (err error) {
	g.hold++
	done := false
	defer func() {
		if !done { // a panic or runtime.Goexit passes through
			g.close(false)
		}
	}()
	err = fn()
	done = true
	return join(err, g.close(err == nil))
}

// close ends a batch; the outermost one keeps or reverts what it wrote and flushes.
func (g *Graph) close(keep bool) error {
	if g.hold == 1 && !keep {
		for i := len(g.log) - 1; i >= 0; i-- {
			g.log[i].revert()
		}
	}
	return g.leave()
}

// leave ends a hold, and with the outermost one everything that waited for it.
func (g *Graph) leave() error {
	g.hold--
	return g.release()
}

// release flushes unless something is held.
func (g *Graph) release() error {
	if g.hold > 0 {
		return nil
	}
	return g.flush()
}

// change is an entry of the log: a signal and its value before.
type change interface {
	commit() // makes the change visible, if it is one
	revert() // writes the old value
	clear()  // forgets the signal and the value
}

// commit makes the writes so far visible: changed signals get the new epoch and mark what depends on them. It precedes every evaluation.
func (g *Graph) commit() {
	g.uncommitted = false
	g.epoch++
	for g.committed < len(g.log) {
		c := g.log[g.committed]
		g.committed++
		c.commit()
	}
}

// forget empties the log once there is no way back.
func (g *Graph) forget() {
	for _, c := range g.log {
		c.clear()
	}
	g.log, g.committed = g.log[:0], 0
	if cap(g.log) > retainMax {
		g.log = nil
	}
}

// retainMax bounds the entries of emptied lists that are kept for the next flush.
const retainMax = 1 << 18
