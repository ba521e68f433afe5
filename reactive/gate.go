package reactive

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// blame is what a gate has seen fail among the nodes it needs. Whether its test catches such a failure is judged when it
// happens, and again when a node upstream gets a new attempt.
type blame struct {
	nodes  []int32
	judged int // nodes[:judged] were found to be caught
}

func (r *Root) blameOf(g int32) *blame {
	b := r.blame[g]
	if b == nil {
		b = &blame{}
		r.blame[g] = b
		r.blamed = append(r.blamed, g)
	}
	return b
}

// tellGates tells the gates after v that what source shows, or its result, has changed. source is v, or stands before the
// join v.
func (r *Root) tellGates(v, source int32) {
	row := r.bank.Row(v)
	for _, e := range r.plan.Outgoing(row) {
		to := v + e.To - row
		switch next := &r.plan.Nodes[e.To]; {
		case next.Kind == plan.Join && next.Feeds:
			r.tellGates(to, source)
		case next.Kind == plan.Gate && !e.Guard:
			r.nodes[to].flags |= unread
			if e.Class == plan.Needs && r.bank.Output(source)&plan.ShowsBlocked != 0 {
				b := r.blameOf(to)
				b.nodes = append(b.nodes, source)
			}
			r.bank.Mark(to)
		}
	}
}

// deriveGate: a frozen decision stands; then what blocks the gate, the branch around it, and, when everything it needs
// to know is settled, its test.
func (r *Root) deriveGate(v int32) {
	n := &r.nodes[v]
	status, choice := n.status, n.fact
	if !n.has(frozen) {
		status = r.look(v)
	}
	if n.status == status && n.fact == choice {
		return
	}
	r.setStatus(v, status)
	for _, row := range r.node(v).Inside {
		r.bank.Mark(r.beside(v, row))
	}
}

// look derives an open gate's status, and its decision with it.
func (r *Root) look(v int32) Status {
	n := &r.nodes[v]
	switch {
	case n.has(aborted):
		n.fact = none
		return Aborted
	case n.has(stuck) || r.branch(v) == broken || r.uncaught(v):
		n.fact = none
		n.flags |= stuck
		r.blameOf(v)
		n.failure = r.dependency(v)
		return Aborted
	case r.branch(v) == notTaken:
		n.fact, n.failure = none, nil
		return Skipped
	case r.bank.Count(v, plan.Unsettled) == 0 && r.branch(v) == open:
		if n.has(unread) || n.fact == none && !n.has(asked) {
			r.decide(v)
		}
	default:
		n.fact, n.failure = none, nil
		n.flags &^= asked
	}
	switch n.fact {
	case decidedThen, decidedElse:
		return Completed
	case decidedError:
		return Failed
	}
	return r.moved(v)
}

// decide runs a gate's test, or asks for the Go function to be run.
func (r *Root) decide(v int32) {
	n := &r.nodes[v]
	n.flags &^= unread
	if r.row(v).Func {
		n.fact = none
		n.flags |= asked
		r.asks = append(r.asks, v)
		return
	}
	yes, err := r.test(v)
	r.choose(v, yes, err)
}

// choose records a decision. Once something inside has been requested, it stands for good.
func (r *Root) choose(v int32, yes bool, err *journal.Failure) {
	n := &r.nodes[v]
	n.failure = err
	switch {
	case err != nil:
		n.fact = decidedError
		r.fails = append(r.fails, v)
	case yes:
		n.fact = decidedThen
	default:
		n.fact = decidedElse
	}
	if n.has(started) {
		n.flags |= frozen
	}
}

// foldAnswer takes what a Go function gave for a gate's test or a map's list.
func (r *Root) foldAnswer(v int32, e *journal.Event) Outcome {
	n := &r.nodes[v]
	if !n.has(asked) {
		return Late
	}
	n.flags &^= asked
	var failure *journal.Failure
	if e.Detail != nil {
		failure = e.Detail.Failure
	}
	if e.Type == journal.BranchDecided {
		yes, _ := e.Value.(bool)
		r.choose(v, yes, failure)
		r.bank.Mark(v)
		return Applied
	}
	r.expand(v, e.Value, failure)
	r.bank.Mark(v)
	return Applied
}

// uncaught reports whether something the gate needs has failed without its test catching that.
func (r *Root) uncaught(v int32) bool {
	b := r.blame[v]
	if b == nil || r.passed(v) {
		return false
	}
	for ; b.judged < len(b.nodes); b.judged++ {
		p := b.nodes[b.judged]
		if r.bank.Output(p)&plan.ShowsBlocked != 0 && !r.catches(v, p) {
			return true
		}
	}
	return false
}

// catches reports whether gate g tests a node of p's failure chain: p itself; and, as long as a node of the chain was
// aborted only by what happened around it, those of its predecessors that are failed or aborted now, and the
// conditional around it if that is.
func (r *Root) catches(g, p int32) bool {
	seen := map[int32]bool{p: true}
	for queue := []int32{p}; len(queue) > 0; {
		x := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if r.tests(g, x) {
			return true
		}
		for _, cause := range r.causes(x) {
			if !seen[cause] {
				seen[cause] = true
				queue = append(queue, cause)
			}
		}
	}
	return false
}

// tests reports whether gate g tests node x.
func (r *Root) tests(g, x int32) bool {
	class, ok := r.edge(x, g)
	return ok && class == plan.Settles
}

// settles reports whether an edge leads from one node to another that is satisfied by any end of it.
func (r *Root) settles(from, to int32) bool {
	class, ok := r.edge(from, to)
	return ok && class != plan.Needs
}

// edge gives the class of the edge that leads from one node to another; false: there is none.
func (r *Root) edge(from, to int32) (plan.Class, bool) {
	if r.nodes[from].block != r.nodes[to].block {
		return plan.Needs, false
	}
	row := r.bank.Row(to)
	out := r.plan.Outgoing(r.bank.Row(from))
	i, ok := slices.BinarySearchFunc(out, row, func(e plan.Edge, row int32) int { return int(e.To) - int(row) })
	if !ok {
		return plan.Needs, false
	}
	return out[i].Class, true
}

// causes are the nodes that made x fail, when it did not do so itself.
func (r *Root) causes(x int32) []int32 {
	row := r.row(x)
	if row.Kind != plan.Join && !r.cascaded(x) {
		return nil
	}
	var causes []int32
	for _, p := range r.plan.Predecessors(r.bank.Row(x)) {
		v := r.beside(x, p)
		if r.bank.Output(v)&plan.ShowsBlocked == 0 {
			continue
		}
		if class, _ := r.edge(v, x); class != plan.Sees {
			causes = append(causes, v)
		}
	}
	if row.Gate >= 0 && r.branch(x) == broken {
		causes = append(causes, r.beside(x, row.Gate))
	}
	return causes
}

// cascaded reports whether x is aborted only because of what happened around it.
func (r *Root) cascaded(x int32) bool {
	n := &r.nodes[x]
	return n.status == Aborted && (n.has(cascade) || n.fact == none && !n.has(aborted))
}

// wake has gates that saw failures looked at again when v, which they can be reached from, gets a new attempt.
func (r *Root) wake(v int32) {
	if r.nodes[v].status < Running {
		return
	}
	for _, g := range r.blamed {
		if b := r.blame[g]; b != nil && r.reaches(v, g) {
			b.judged = 0
			r.nodes[g].flags = r.nodes[g].flags&^stuck | unread
			r.bank.Mark(g)
		}
	}
}

// reaches reports whether gate g comes after v, or after the map of its own body that holds v.
func (r *Root) reaches(v, g int32) bool {
	home := r.nodes[g].block
	for r.nodes[v].block != home {
		if r.nodes[v].block == 0 {
			return false
		}
		v = r.blocks[r.nodes[v].block].owner
	}
	row := r.bank.Row(g)
	set, ok := r.upstream[row]
	if !ok {
		set = r.ancestors(row)
		r.upstream[row] = set
	}
	from := r.bank.Row(v)
	return set[from/64]&(1<<(from%64)) != 0
}

// ancestors is the set of rows that lead to row.
func (r *Root) ancestors(row int32) []uint64 {
	set := make([]uint64, len(r.plan.Nodes)/64+1)
	for stack := []int32{row}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, p := range r.plan.Predecessors(v) {
			if set[p/64]&(1<<(p%64)) == 0 {
				set[p/64] |= 1 << (p % 64)
				stack = append(stack, p)
			}
		}
	}
	return set
}
