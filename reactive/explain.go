package reactive

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// CauseKind says why a node stands where it does.
type CauseKind string

// The kinds of causes.
const (
	ByPredecessor CauseKind = "predecessor" // Node has not come as far as is needed
	ByBranch      CauseKind = "gate"        // the conditional Node around it is undecided, or chose the other branch
	ByFailure     CauseKind = "failure"     // Node, which it needs, has failed or was aborted
	BySlot        CauseKind = "slot"        // a limit is reached: Limit, by Holders
	ByTimer       CauseKind = "timer"       // something happens at Due, of which Timer says what
	ByPerson      CauseKind = "person"      // somebody has to decide
	ByParticipant CauseKind = "participant" // those named in Participants have not answered
	BySource      CauseKind = "decision"    // its decision source has not answered
	ByTest        CauseKind = "test"        // its own test, with the values it has read
	ByItems       CauseKind = "items"       // Nodes inside it are not settled, or have failed
	ByEnd         CauseKind = "end"         // the run was closed before its task was decided
)

// Cause is one reason why a node stands where it does. Only the fields that its kind has use for are set.
type Cause struct {
	Kind         CauseKind
	Node         int32
	Limit        int32
	Holders      []int32
	Timer        string
	Due          int64 // Unix nanoseconds
	Participants []string
	Test         string      // as written
	Read         []ReadValue // what a test has read
}

// ReadValue is what an expression has read: as written, and what it was, or why it could not be read.
type ReadValue struct {
	Text  string
	Value value.Value
	Err   error
}

// Causes gives the reasons why a node stands where it does: what it waits for, or what has brought it there. It looks at the
// node's neighbours and costs as much as there are; a failure chain is followed by asking for the causes of a ByFailure's
// node in turn.
func (r *Root) Causes(v int32) []Cause {
	n := r.keeper.Node(v)
	switch {
	case n.Has(ledger.Pending):
		return append(causes{r}.timersOf(v), causes{r}.slotOf(v)...)
	case n.Status == ledger.Running && r.Ledger.Row(v).Kind == plan.Map:
		return causes{r}.itemsOf(v, func(u int32) bool { return !r.Final(u) })
	case n.Status == ledger.Running:
		return causes{r}.underWay(v)
	case n.Status == ledger.Completed && n.Has(ledger.Held):
		return causes{r}.decisionOf(v)
	case r.Ledger.Row(v).Kind == plan.Gate && n.Fact != ledger.NoFact:
		return []Cause{causes{r}.testOf(v)}
	case n.Status == ledger.Failed && r.Ledger.Row(v).Kind == plan.Map && n.Failure == nil:
		return causes{r}.itemsOf(v, func(u int32) bool { return r.keeper.Node(u).Status == ledger.Failed })
	case n.Status == ledger.Aborted && n.Failure != nil && n.Failure.Code == CodeDependency, n.Has(ledger.Cascade):
		return causes{r}.blockersOf(v)
	case n.Status == ledger.Skipped && n.Fact != ledger.Dropped:
		return causes{r}.aroundOf(v)
	case n.Status == ledger.Idle, n.Status == ledger.Waiting:
		return append(causes{r}.missing(v), causes{r}.slotOf(v)...)
	}
	return nil
}

type causes struct{ r *Root }

// missing is what a node that has not begun waits for.
func (cs causes) missing(v int32) []Cause {
	list := eachOnce(cs.lacking(v, plan.ShowsSatisfied, ByPredecessor))
	if cs.r.tree.branch(v) == closed {
		list = append(list, cs.aroundOf(v)...)
	}
	return list
}

// lacking gives the predecessors of a node that do not show what it waits for, those behind meeting points included.
func (cs causes) lacking(v int32, wanted uint8, kind CauseKind) []Cause {
	var list []Cause
	row := cs.r.places.bank.Row(v)
	for _, p := range cs.r.places.plan.Predecessors(row) {
		u := cs.r.places.beside(v, p)
		need := wanted
		if cs.r.Ledger.Row(v).Kind == plan.Gate || cs.r.tree.faults.settles(u, v) {
			need = plan.ShowsSettled
		}
		switch {
		case cs.r.places.plan.Nodes[p].Kind == plan.Join:
			list = append(list, cs.lacking(u, need, kind)...)
		case cs.r.Ledger.Row(v).Gate == p, cs.r.places.bank.Output(u)&need != 0:
		default:
			list = append(list, Cause{Kind: kind, Node: u})
		}
	}
	return list
}

// aroundOf is the conditional around a node.
func (cs causes) aroundOf(v int32) []Cause {
	if g := cs.r.Ledger.Row(v).Gate; g >= 0 {
		return []Cause{{Kind: ByBranch, Node: cs.r.places.beside(v, g)}}
	}
	return nil
}

// blockersOf are the nodes whose failure has taken this one with it.
func (cs causes) blockersOf(v int32) []Cause {
	var list []Cause
	for _, u := range cs.r.tree.faults.behindOf(v) {
		if cs.r.Ledger.Row(u).Kind == plan.Join {
			list = append(list, cs.blockersOf(u)...)
			continue
		}
		list = append(list, Cause{Kind: ByFailure, Node: u})
	}
	return eachOnce(list)
}

// eachOnce leaves out the causes that name a node again: a conditional that has failed is a predecessor of what is inside
// it and stands around it, and several meeting points may have one node behind them.
func eachOnce(list []Cause) []Cause {
	seen := map[int32]bool{}
	return slices.DeleteFunc(list, func(c Cause) bool {
		known := seen[c.Node]
		seen[c.Node] = true
		return known
	})
}

func (cs causes) itemsOf(v int32, is func(u int32) bool) []Cause {
	var list []Cause
	x := cs.r.places.maps[v]
	if x == nil {
		return nil
	}
	for i := range x.items {
		b := &cs.r.places.blocks[x.blocks[i]]
		size := cs.r.places.plan.Nodes[b.row].End - b.row - 1
		for u := b.base; u < b.base+size; u++ {
			if cs.r.keeper.Node(u).Status != ledger.Absent && cs.r.Ledger.Row(u).Kind != plan.Join && is(u) {
				list = append(list, Cause{Kind: ByItems, Node: u})
			}
		}
	}
	return list
}

// underWay is what a running node waits for.
func (cs causes) underWay(v int32) []Cause {
	var list []Cause
	if asked, waiting := cs.r.WaitsFor(v); asked {
		list = append(list, Cause{Kind: ByParticipant, Node: v, Participants: waiting})
	}
	return append(list, cs.timersOf(v)...)
}

// undecided is whom a completed node waits for whose task is not decided.
func (cs causes) decisionOf(v int32) []Cause {
	if cs.r.Ledger.Closed() {
		return []Cause{{Kind: ByEnd, Node: v}}
	}
	if cs.r.Decidable(v) {
		return append([]Cause{{Kind: ByPerson, Node: v}}, cs.timersOf(v)...)
	}
	if cs.r.Fulfillment(v) == call.Undecided {
		return append([]Cause{{Kind: BySource, Node: v}}, cs.timersOf(v)...)
	}
	return nil
}

// timersOf are the timers of a node that mean something.
func (cs causes) timersOf(v int32) []Cause {
	var list []Cause
	for _, t := range cs.r.TimersOf(v) {
		list = append(list, Cause{Kind: ByTimer, Node: v, Timer: t.Means, Due: t.At})
	}
	return list
}

// slotOf says which limit keeps a node that could start otherwise, and who holds its slots.
func (cs causes) slotOf(v int32) []Cause {
	if !cs.r.keeper.Node(v).Has(ledger.Candidate) {
		return nil
	}
	for g := cs.r.room.groupOf(v); g >= 0; g = cs.r.room.slots.Parent(g) {
		limit, used := cs.r.room.slots.Limit(g)
		if limit == 0 || used < limit {
			continue
		}
		c := Cause{Kind: BySlot, Node: v, Limit: limit}
		for u := int32(0); u < cs.r.Ledger.Len() && len(c.Holders) < int(used); u++ { // thousands may wait for what the first few hold
			if cs.r.keeper.Node(u).Has(ledger.Holding) && cs.within(u, g) {
				c.Holders = append(c.Holders, u)
			}
		}
		return []Cause{c}
	}
	return nil
}

// within reports whether a node's slots count in a group.
func (cs causes) within(v, group int32) bool {
	for g := cs.r.room.groupOf(v); g >= 0; g = cs.r.room.slots.Parent(g) {
		if g == group {
			return true
		}
	}
	return false
}

// testOf is a conditional's test with what it has read.
func (cs causes) testOf(v int32) Cause {
	c := Cause{Kind: ByTest, Node: v, Test: cs.r.Ledger.Place(v).Cond.Test}
	item := cs.r.Ledger.Place(v).Item
	e := env{cs.r.tree, v}
	switch {
	case item.TestID != "":
		s, err := e.Step(item.TestID, expr.Status)
		c.Read = []ReadValue{{item.TestID + ".status", s, err}}
	case item.Test != nil:
		for _, read := range item.Test.Reads() {
			x, err := e.Step(read.Step, read.Field)
			if missing, ok := errors.AsType[noOutput](err); ok {
				err = fmt.Errorf("no output (%s)", missing.status)
			}
			c.Read = append(c.Read, ReadValue{read.Text, x, err})
		}
		for _, name := range item.Test.Names() {
			x, err := e.Name(name)
			c.Read = append(c.Read, ReadValue{name, x, err})
		}
	}
	return c
}

// Chose gives the branch that a conditional has decided for; Undecided when it has not.
func (t *tree) Chose(v int32) plan.Branch {
	switch t.l.Node(v).Fact {
	case ledger.DecidedThen:
		return plan.Then
	case ledger.DecidedElse:
		return plan.Else
	}
	return plan.Undecided
}

// Inside gives the branch of the conditional around it that a node stands in.
func (t *tree) Inside(v int32) plan.Branch { return t.l.Row(v).Branch }
