package signals

import "sync"

// Graph is a set of signals and the nodes derived from them. It belongs to one goroutine at a time: its owner, or the holder of
// a lock around it. Other goroutines may call only [Graph.Post] and [Graph.Wake]. Graphs share nothing.
type Graph struct {
	run      run     // the evaluation under way
	epoch    uint64  // one tick per commit that changed something
	serial   uint64  // of the last run
	stack    []*link // path of the walks spread, refresh and subscribe
	queue    []*node // effects to run, oldest first
	head     int     // first entry of queue that has not run
	early    int     // entries queued before the flush, which are not re-runs
	turn     *node   // the effect whose turn it is
	draining bool
	hold     int // open batches, flushes and evaluations: writes wait for the end of the outermost
	depth    int // evaluations on Go's stack

	log         []change // writes of the open batch, in order
	committed   int      // entries of log that are visible to computeds and effects
	uncommitted bool     // log has further entries

	errs    []error  // of the flush under way
	orphans []*Scope // scopes to be emptied, of computeds that have lost their last observer
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
	QueuePeak int    // most effects run in one flush
}

// Stats returns the current figures, in constant time.
func (g *Graph) Stats() Stats {
	return Stats{Edges: g.edges, Runs: g.serial, QueuePeak: g.queuePeak}
}

// Batch runs fn and then, if it is the outermost batch, makes the writes of fn visible as one change: effects run once,
// after the end, and a value that is restored counts as not written. Reads inside fn return the new values, even of computeds.
// A nested batch ends with the outermost one.
//
// If the outermost fn returns an error or panics, all writes are reverted first. Batch returns the error, joined with the
// errors of the effects that ran; a panic propagates.
func (g *Graph) Batch(fn func() error) (err error) {
	g.hold++
	done := false
	defer func() {
		if !done { // a panic or runtime.Goexit propagates
			g.close(false)
		}
	}()
	err = fn()
	done = true
	return join(err, g.close(err == nil))
}

// close ends a batch; the outermost one keeps or reverts its writes and flushes.
func (g *Graph) close(keep bool) error {
	if g.hold == 1 && !keep {
		for i := len(g.log) - 1; i >= 0; i-- {
			g.log[i].revert()
		}
	}
	return g.leave()
}

// leave ends a hold. The end of the outermost hold flushes.
func (g *Graph) leave() error {
	g.hold--
	return g.release()
}

// release flushes unless there is a hold.
func (g *Graph) release() error {
	if g.hold > 0 {
		return nil
	}
	return g.flush()
}

// change is an entry of the log: a signal and its previous value.
type change interface {
	commit() // makes the change visible, if the value differs
	revert() // restores the old value
	clear()  // drops the signal and the value
}

// commit makes the writes so far visible: changed signals get the new epoch and mark their dependents. It precedes every
// evaluation.
func (g *Graph) commit() {
	g.uncommitted = false
	g.epoch++
	for g.committed < len(g.log) {
		c := g.log[g.committed]
		g.committed++
		c.commit()
	}
}

// forget empties the log, whose writes can no longer be reverted.
func (g *Graph) forget() {
	for _, c := range g.log {
		c.clear()
	}
	g.log, g.committed = g.log[:0], 0
	if cap(g.log) > retainMax {
		g.log = nil
	}
}

// retainMax bounds the capacity of an emptied list that is kept for the next flush.
const retainMax = 1 << 18
