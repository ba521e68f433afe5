package reactive

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// gates decides the conditionals of a tree.
type gates struct {
	*places
	l        ledger.Keeper
	tree     *tree
	blame    map[int32]*gateFailures // by gate with a failed node that it needs
	blamed   []int32                 // the keys of blame, oldest first
	upstream map[int32][]uint64      // by row of a gate: the rows that lead to it
	asks     []int32                 // gates and maps whose Go functions must be called
}

// gateFailures holds the failed nodes that a gate needs. Whether the gate's test catches the failure is determined when the node
// fails, and again when a node upstream gets a new attempt.
type gateFailures struct {
	nodes  []int32
	judged int // nodes[:judged] were found to be caught
}

func (gs *gates) blameOf(g int32) *gateFailures {
	b := gs.blame[g]
	if b == nil {
		b = &gateFailures{}
		gs.blame[g] = b
		gs.blamed = append(gs.blamed, g)
	}
	return b
}

// markGates marks the gates after v, because the result of source, or its visible state, has changed. source is v, or a
// predecessor of the join v.
func (gs *gates) markGates(v, source int32) {
	row := gs.bank.Row(v)
	for _, e := range gs.plan.Outgoing(row) {
		to := v + e.To - row
		switch next := &gs.plan.Nodes[e.To]; {
		case next.Kind == plan.Join && next.Feeds:
			gs.markGates(to, source)
		case next.Kind == plan.Gate && !e.Guard:
			gs.l.Node(to).Flags |= ledger.Unread
			if e.Class == plan.Needs && gs.bank.Output(source)&plan.ShowsBlocked != 0 {
				b := gs.blameOf(to)
				b.nodes = append(b.nodes, source)
			}
			gs.bank.Mark(to)
		}
	}
}

// deriveGate keeps a final decision. Otherwise it considers, in this order: the failures that block the gate; the branch around
// it; and its test, if all nodes that the gate needs have settled.
func (gs *gates) deriveGate(v int32) {
	n := gs.l.Node(v)
	status, choice := n.Status, n.Fact
	if !n.Has(ledger.Frozen) {
		status = gs.deriveOpenGate(v)
	}
	if n.Status == status && n.Fact == choice {
		return
	}
	gs.tree.setStatus(v, status)
	for _, row := range gs.l.Place(v).Inside {
		gs.bank.Mark(gs.inSameBody(v, row))
	}
}

// deriveOpenGate derives the status and the decision of an open gate.
func (gs *gates) deriveOpenGate(v int32) ledger.Status {
	n := gs.l.Node(v)
	switch {
	case n.Has(ledger.ByHand):
		n.Fact = ledger.NoFact
		return ledger.Aborted
	case n.Has(ledger.Stuck) || gs.tree.branch(v) == broken || gs.uncaught(v):
		n.Fact = ledger.NoFact
		n.Flags |= ledger.Stuck
		gs.blameOf(v)
		n.Failure = gs.tree.faults.dependency(v)
		return ledger.Aborted
	case gs.tree.branch(v) == notTaken:
		n.Fact, n.Failure = ledger.NoFact, nil
		return ledger.Skipped
	case gs.bank.Count(v, plan.Unsettled) == 0 && gs.tree.branch(v) == open:
		if n.Has(ledger.Unread) || n.Fact == ledger.NoFact && !n.Has(ledger.Asked) {
			gs.decide(v)
		}
	default:
		n.Fact, n.Failure = ledger.NoFact, nil
		n.Flags &^= ledger.Asked
	}
	switch n.Fact {
	case ledger.DecidedThen, ledger.DecidedElse:
		return ledger.Completed
	case ledger.DecidedError:
		return ledger.Failed
	}
	return gs.tree.moved(v)
}

// decide evaluates a gate's test, or requests a run of its Go function.
func (gs *gates) decide(v int32) {
	n := gs.l.Node(v)
	n.Flags &^= ledger.Unread
	if gs.l.Row(v).Func {
		n.Fact = ledger.NoFact
		n.Flags |= ledger.Asked
		gs.asks = append(gs.asks, v)
		return
	}
	yes, err := gs.tree.test(v)
	gs.choose(v, yes, err)
}

// choose records a decision. It is final once a node inside has been requested.
func (gs *gates) choose(v int32, yes bool, err *journal.Failure) {
	n := gs.l.Node(v)
	n.Failure = err
	switch {
	case err != nil:
		n.Fact = ledger.DecidedError
		gs.l.Failed(v)
	case yes:
		n.Fact = ledger.DecidedThen
	default:
		n.Fact = ledger.DecidedElse
	}
	if n.Has(ledger.Begun) {
		n.Flags |= ledger.Frozen
	}
}

// foldAnswer applies the result of a Go function for a gate's test or a map's list.
func (gs *gates) foldAnswer(v int32, e *journal.Event) ledger.Effect {
	n := gs.l.Node(v)
	if !n.Has(ledger.Asked) {
		return ledger.Late
	}
	n.Flags &^= ledger.Asked
	var failure *journal.Failure
	if e.Detail != nil {
		failure = e.Detail.Failure
	}
	if e.Type == journal.BranchDecided {
		yes, _ := e.Value.(bool)
		gs.choose(v, yes, failure)
		gs.bank.Mark(v)
		return ledger.Applied
	}
	gs.tree.expand(v, e.Value, failure)
	gs.bank.Mark(v)
	return ledger.Applied
}

// uncaught reports whether a node that the gate needs has failed and the gate's test does not catch the failure.
func (gs *gates) uncaught(v int32) bool {
	b := gs.blame[v]
	if b == nil || gs.tree.skippedWithBranch(v) {
		return false
	}
	for ; b.judged < len(b.nodes); b.judged++ {
		p := b.nodes[b.judged]
		if gs.bank.Output(p)&plan.ShowsBlocked != 0 && !gs.catches(v, p) {
			return true
		}
	}
	return false
}

// catches reports whether gate g tests a node of p's failure chain. The chain contains p and, for each of its nodes that was
// aborted only because of other nodes, the predecessors of that node and the conditional around it that are failed or aborted
// now.
func (gs *gates) catches(g, p int32) bool {
	seen := map[int32]bool{p: true}
	for queue := []int32{p}; len(queue) > 0; {
		x := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if gs.tests(g, x) {
			return true
		}
		for _, cause := range gs.tree.faults.causes(x) {
			if !seen[cause] {
				seen[cause] = true
				queue = append(queue, cause)
			}
		}
	}
	return false
}

// tests reports whether gate g tests node x.
func (gs *gates) tests(g, x int32) bool {
	class, ok := gs.tree.faults.edge(x, g)
	return ok && class == plan.Settles
}

// wake makes the gates after v judge failures again, because v gets a new attempt.
func (gs *gates) wake(v int32) {
	if gs.l.Node(v).Status < ledger.Running {
		return
	}
	for _, g := range gs.blamed {
		if b := gs.blame[g]; b != nil && gs.reaches(v, g) {
			b.judged = 0
			gs.l.Node(g).Flags = gs.l.Node(g).Flags&^ledger.Stuck | ledger.Unread
			gs.bank.Mark(g)
		}
	}
}

// reaches reports whether gate g comes after v, or after the map of its own body that holds v.
func (gs *gates) reaches(v, g int32) bool {
	around := gs.l.Node(g).Block
	for gs.l.Node(v).Block != around {
		if gs.l.Node(v).Block == 0 {
			return false
		}
		v = gs.blocks[gs.l.Node(v).Block].owner
	}
	row := gs.bank.Row(g)
	set, ok := gs.upstream[row]
	if !ok {
		set = gs.ancestors(row)
		gs.upstream[row] = set
	}
	from := gs.bank.Row(v)
	return set[from/64]&(1<<(from%64)) != 0
}

// ancestors returns the set of rows from which a path leads to row.
func (gs *gates) ancestors(row int32) []uint64 {
	set := make([]uint64, len(gs.plan.Nodes)/64+1)
	for stack := []int32{row}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, p := range gs.plan.Predecessors(v) {
			if set[p/64]&(1<<(p%64)) == 0 {
				set[p/64] |= 1 << (p % 64)
				stack = append(stack, p)
			}
		}
	}
	return set
}
