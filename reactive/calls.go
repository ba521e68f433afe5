package reactive

import (
	"github.com/sluiceflow/sluice/reactive/cells"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// NewRouted returns the root of a run of routed steps without events. The rows of its plan are call sites.
func NewRouted(p *plan.Plan, body func(*Calls) Body) *Root {
	r := New(p)
	r.routed = &Calls{root: r, nodes: map[string]int32{}, numbered: map[int32]int32{}, free: make([][]int32, len(p.Nodes))}
	r.body = body(r.routed)
	r.cells, _ = r.body.(cells.Cells)
	return r
}

// Body returns the body of a routed run; nil for any other.
func (r *Root) Body() Body { return r.body }

// Steps returns the routed steps of a run; nil for a run without any.
func (r *Root) Steps() Steps {
	s, _ := r.body.(Steps)
	return s
}

// Cells returns the cells of a run. For a run without cells, it returns cells that do nothing and never fail.
func (r *Root) Cells() cells.Cells {
	if r.cells == nil {
		return noCells{}
	}
	return r.cells
}

// noCells are the cells of a run without any. Messages of such a run are kept for its steps.
type noCells struct{}

func (noCells) Check(*journal.Event) error                     { return nil }
func (noCells) Receive(*journal.Event) (*journal.Event, error) { return nil, nil }
func (noCells) Settle(int32, *journal.Event)                   {}
func (noCells) Asked(int32) string                             { return "" }
func (noCells) Command(*journal.Event)                         {}
func (noCells) RefusePause(string, bool) error                 { return cells.ErrNone }
func (noCells) RefuseKey() error                               { return nil }
func (noCells) Snapshot(bool) (uint64, bool)                   { return 0, false }
func (noCells) Serve(any)                                      {}
func (noCells) Err() error                                     { return nil }

// Next returns the event of the body's next move at an instant. It reports false if there is none or the run is closed.
func (r *Root) Next(now int64) (journal.Event, bool) {
	if !r.moving() {
		return journal.Event{}, false
	}
	r.tree.meter.Bound(EvaluationMax)
	defer r.tree.meter.Free()
	return r.body.Next(now)
}

// moving reports whether the body has a move to make.
func (r *Root) moving() bool { return r.body != nil && !r.Closed() && r.body.Ready() }

// Calls are the calls of a routed run: nodes that a Body opens for a call and closes after it. The node of a closed call is
// reused for the same call site, so the number of nodes is bounded by the calls that are open at once. Calls start, and receive
// slots, in the order in which they were opened.
//
// The journal alone determines the node of a call. The queues of starts and slots drop entries only when they are read, so
// they hold the numbers of calls, not nodes: the number of a closed call leads to no node.
type Calls struct {
	root     *Root
	all      []use
	nodes    map[string]int32 // of open calls, by key
	numbered map[int32]int32  // the same, by number
	free     [][]int32        // nodes for reuse, by row
	opened   int32
	touched  []int32 // since the last Touched
	taken    []int32 // returned by Touched, for reuse
}

// use is one use of a node by a call, from Open to Close.
type use struct {
	key    string
	number int32  // in the order of opening, from 1
	asked  uint64 // sequence of its newest request; 0: none
	noted  bool   // its node is in touched
	open   bool
}

func (c *Calls) of(v int32) *use { return &c.all[int(v)-len(c.root.places.plan.Nodes)] }

func (c *Calls) find(key string) (int32, bool) {
	v, ok := c.nodes[key]
	return v, ok
}

// Open opens a call at a call site. The key names the call in the journal and is used once in a run.
func (c *Calls) Open(site int32, key string) int32 {
	r := c.root
	var v int32
	if free := c.free[site]; len(free) > 0 {
		v = free[len(free)-1]
		c.free[site] = free[:len(free)-1]
	} else {
		v = r.places.bank.Add(site, site+1)
		r.keeper.Add(ledger.Node{})
		c.all = append(c.all, use{})
	}
	c.opened++
	*c.of(v) = use{key: key, number: c.opened, noted: c.of(v).noted, open: true}
	c.nodes[key], c.numbered[c.opened] = v, v
	r.setStatus(v, ledger.Idle)
	r.places.bank.Mark(v)
	return v
}

// Close closes a call and stops it if it is in progress.
func (c *Calls) Close(v int32) {
	r := c.root
	n := r.keeper.Node(v)
	r.keeper.Drop(v)
	r.stopWaiting(v)
	r.setStatus(v, ledger.Absent)
	*n = ledger.Node{}
	r.places.bank.Reset(v, 1)
	delete(c.nodes, c.of(v).key)
	delete(c.numbered, c.of(v).number)
	c.of(v).open = false
	site := r.places.bank.Row(v)
	c.free[site] = append(c.free[site], v)
}

func (c *Calls) touch(v int32) {
	if x := c.of(v); !x.noted {
		x.noted = true
		c.touched = append(c.touched, v)
	}
}

// Touched returns the calls that events may have changed since the last Touched, in the order of the changes, including closed
// calls. The slice is valid until the next Touched.
func (c *Calls) Touched() []int32 {
	c.touched, c.taken = c.taken[:0], c.touched
	for _, v := range c.taken {
		c.of(v).noted = false
	}
	return c.taken
}

// Derive sets the statuses of new calls and grants slots to them.
func (c *Calls) Derive() {
	c.root.places.bank.Drain()
	c.root.tree.grant()
}

// Root returns the root of the calls.
func (c *Calls) Root() *Root { return c.root }

// Again schedules another attempt, at an instant, of a call that has ended.
func (c *Calls) Again(v int32, due int64) { c.root.keeper.Again(v, due) }

// Restore applies an event of a call from a snapshot to the root, but not to the body. It grants no slots, because calls that
// have ended since may have had them: see Grant.
func (c *Calls) Restore(e *journal.Event) {
	c.root.keeper.Advance(e)
	c.root.fold(e)
	c.root.places.bank.Drain()
	c.root.tidy()
}

// Granted reports whether a call has the slots for its start or its next attempt.
func (c *Calls) Granted(v int32) bool { return c.root.keeper.Node(v).Has(ledger.Granted) }

// Grant grants a restored call the slots that it had.
func (c *Calls) Grant(v int32) { c.root.tree.grantTo(v) }

// Resume ends a restoration. seq and at are the sequence and the instant of the newest event.
func (c *Calls) Resume(seq uint64, at int64) {
	c.Touched()
	c.root.keeper.Resume(seq, at)
}

// Rebase makes the limits of the run count only the events after a sequence, because a snapshot has the effects of the earlier
// ones.
func (c *Calls) Rebase(seq uint64) { c.root.keeper.Rebase(seq) }

// callChange returns the state of a call whose status changes, or nil if the run is not routed.
func (t *tree) callChange(v int32) *ledger.CallChange {
	if t.routed == nil {
		return nil
	}
	n := t.l.Node(v)
	return &ledger.CallChange{Key: t.routed.of(v).key, Attempt: n.Attempt, Pending: n.Has(ledger.Pending), Failure: t.faults.Failure(v), Output: t.Output(v)}
}
