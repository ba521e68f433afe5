package reactive

import (
	"cmp"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// Body decides which calls a run makes, and when it is done, where a workflow's tree does not: the routed steps of a
// playbook. The root keeps the calls themselves: attempts, timing, participants, fulfillment, slots. Like the root it is
// a pure function of the journal.
type Body interface {
	// Apply takes an event after the root has. It opens and closes cells and calls Cells.Derive after that, until nothing
	// follows any more.
	Apply(e *journal.Event)

	// Input is what the next attempt of a cell's call is made with.
	Input(v int32) (any, *journal.Failure)

	// NextFiring is the key of the step-run that is to be scheduled next; it stays the next until it was. It reports false
	// when there is none.
	NextFiring() (string, bool)

	// NextDue is when the body's next timer is due, Unix nanoseconds, and whether something is then tried again; 0: it has
	// none.
	NextDue() (due int64, retry bool)

	// Fire returns the event of the timer that NextDue is about.
	Fire(now int64) journal.Event

	// Done reports whether nothing is left to do.
	Done() bool

	// Verdict returns how the run ends when Done.
	Verdict() Verdict
}

// NewRouted makes the root of a run of routed steps that has no events yet. The rows of its plan are the sites of calls.
func NewRouted(p *plan.Plan, body func(*Cells) Body) *Root {
	r := New(p)
	r.cells = &Cells{root: r, nodes: map[string]int32{}, numbered: map[int32]int32{}, free: make([][]int32, len(p.Nodes))}
	r.body = body(r.cells)
	return r
}

// Body is what decides a routed run; nil for any other.
func (r *Root) Body() Body { return r.body }

// NextFiring is the next step-run to be scheduled. It reports false when there is none, or the run is closed.
func (r *Root) NextFiring() (string, bool) {
	if r.body == nil || r.run.closed != nil {
		return "", false
	}
	return r.body.NextFiring()
}

// firing reports whether a step-run is to be scheduled.
func (r *Root) firing() bool {
	_, ok := r.NextFiring()
	return ok
}

// Cells are the calls of a routed run: nodes that a Body opens when a call is to be made and closes when it is over. A
// closed cell's node is used again, so a run holds as many as it ever has calls at once. Cells start, and are given slots,
// in the order in which they were opened.
//
// Which node a cell has follows from the journal alone. So the queues of starts and slots, out of which entries go when
// somebody looks, hold the numbers of cells: an entry of a cell that was closed leads to no node.
type Cells struct {
	root     *Root
	all      []cell
	nodes    map[string]int32 // of open cells, by key
	numbered map[int32]int32  // the same, by number
	free     [][]int32        // nodes to be used again, by row
	opened   int32
	touched  []int32 // since Touched was called
	taken    []int32 // given by Touched, to be filled again
}

// cell is one use of a node.
type cell struct {
	key    string
	number int32  // in the order of opening, from 1
	asked  uint64 // sequence of its newest request; 0: none
	noted  bool   // its node is in touched
	open   bool
}

func (c *Cells) of(v int32) *cell { return &c.all[int(v)-len(c.root.plan.Nodes)] }

func (c *Cells) find(key string) (int32, bool) {
	v, ok := c.nodes[key]
	return v, ok
}

// Open makes a call of a site ready to be made. The key names it in the journal and is never used twice in a run.
func (c *Cells) Open(site int32, key string) int32 {
	r := c.root
	var v int32
	if free := c.free[site]; len(free) > 0 {
		v = free[len(free)-1]
		c.free[site] = free[:len(free)-1]
	} else {
		v = r.bank.Add(site, site+1)
		r.nodes = append(r.nodes, node{})
		c.all = append(c.all, cell{})
	}
	c.opened++
	*c.of(v) = cell{key: key, number: c.opened, noted: c.of(v).noted, open: true}
	c.nodes[key], c.numbered[c.opened] = v, v
	r.setStatus(v, Idle)
	r.bank.Mark(v)
	return v
}

// Close ends a cell. A call that is still under way is stopped.
func (c *Cells) Close(v int32) {
	r := c.root
	n := &r.nodes[v]
	for i := range n.attempt {
		delete(r.older, request{v, i + 1})
	}
	if r.tasks[v] != nil {
		r.stopAsking(v)
		delete(r.tasks, v)
	}
	if n.fact == running {
		r.cancel(v)
	}
	r.stopWaiting(v)
	r.setStatus(v, Absent)
	*n = node{}
	r.bank.Reset(v, 1)
	delete(r.gathers, v)
	delete(r.reports, v)
	delete(r.timers.first, v)
	r.fails = r.fails[:0] // who has failed is the body's to know
	delete(c.nodes, c.of(v).key)
	delete(c.numbered, c.of(v).number)
	c.of(v).open = false
	site := r.bank.Row(v)
	c.free[site] = append(c.free[site], v)
}

// entry is what stands for a node in the queues: in a routed run the number of its cell.
func (r *Root) entry(v int32) int32 {
	if r.cells == nil {
		return v
	}
	return r.cells.of(v).number
}

// entered is the node that an entry of a queue stands for; false: its cell was closed.
func (r *Root) entered(e int32) (int32, bool) {
	if r.cells == nil {
		return e, true
	}
	v, ok := r.cells.numbered[e]
	return v, ok
}

// entryBefore is before, of entries.
func (r *Root) entryBefore(a, b int32) bool {
	if r.cells != nil {
		return a < b
	}
	return r.before(a, b)
}

func (c *Cells) touch(v int32) {
	if x := c.of(v); !x.noted {
		x.noted = true
		c.touched = append(c.touched, v)
	}
}

// Touched gives the cells that something may have happened to since the last call, in the order in which it did; one that
// was closed since is among them. The slice is valid until the next call.
func (c *Cells) Touched() []int32 {
	c.touched, c.taken = c.taken[:0], c.touched
	for _, v := range c.taken {
		c.of(v).noted = false
	}
	return c.taken
}

// Derive gives new cells their statuses and slots.
func (c *Cells) Derive() {
	c.root.bank.Drain()
	c.root.grant()
}

// Root is the root that the cells belong to.
func (c *Cells) Root() *Root { return c.root }

// Again has a call that has ended made once more, at an instant.
func (c *Cells) Again(v int32, due int64) {
	r := c.root
	n := &r.nodes[v]
	n.fact, n.output = errored, nil
	n.flags |= pending
	r.dropTask(v)
	r.addTimer(timer{due: due, kind: retryTimer, node: v, attempt: n.attempt})
	r.bank.Mark(v)
}

// cellChange is what is told of a cell whose status changes; nil where there are no cells.
func (r *Root) cellChange(v int32) *CellChange {
	if r.cells == nil {
		return nil
	}
	n := &r.nodes[v]
	return &CellChange{Key: r.cells.of(v).key, Attempt: n.attempt, Pending: n.has(pending), Failure: r.Failure(v), Output: r.Output(v)}
}

// inOrder gives the nodes in template order, cells as they were opened.
func (r *Root) inOrder() []int32 {
	list := make([]int32, 0, r.Len())
	for v := range r.Len() {
		if r.cells == nil || int(v) >= len(r.plan.Nodes) && r.cells.of(v).open {
			list = append(list, v)
		}
	}
	if r.cells != nil {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(r.cells.of(a).number, r.cells.of(b).number) })
	}
	return list
}
