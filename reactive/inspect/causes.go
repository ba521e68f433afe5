package inspect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// CauseKind is the kind of a Cause.
type CauseKind string

// The kinds of causes.
const (
	ByPredecessor CauseKind = "predecessor" // Node does not have the needed status
	ByBranch      CauseKind = "gate"        // the conditional Node around it is undecided, or chose the other branch
	ByFailure     CauseKind = "failure"     // Node, which it needs, has failed or was aborted
	BySlot        CauseKind = "slot"        // a limit is reached: Limit, by Holders
	ByTimer       CauseKind = "timer"       // Timer describes the effect of a timer at Due
	ByPerson      CauseKind = "person"      // a person has to decide
	ByParticipant CauseKind = "participant" // Participants have not answered
	BySource      CauseKind = "decision"    // its decision source has not answered
	ByTest        CauseKind = "test"        // its own test, with the values that it has read
	ByItems       CauseKind = "items"       // Nodes inside it are not settled, or have failed
	ByEnd         CauseKind = "end"         // the run was closed before its task was decided
)

// Cause is a reason for the status of a node. Only the fields that its kind uses are set.
type Cause struct {
	Kind         CauseKind   // its kind
	Node         int32       // the node that it is about
	Limit        int32       // number of slots
	Holders      []int32     // nodes that hold the slots
	Timer        string      // the effect of the timer, for people
	Due          int64       // Unix nanoseconds
	Participants []string    // ids
	Test         string      // as written
	Read         []ReadValue // the values that a test has read
}

// ReadValue is a value that an expression has read, or the error of reading it.
type ReadValue struct {
	Text  string      // as written
	Value value.Value // nil when Err is set
	Err   error       // why it could not be read
}

// Causes returns the reasons for the status of a node. It reads the node's neighbours, and its cost is proportional to their
// number. To follow a chain of failures, call it for the node of each ByFailure in turn.
func Causes(r *reactive.Root, v int32) []Cause {
	n := r.Look(v)
	switch {
	case n.Has(ledger.Pending):
		return append(causes{r}.timersOf(v), causes{r}.slotOf(v)...)
	case n.Status == reactive.Running && r.Row(v).Kind == plan.Map:
		return causes{r}.itemsOf(v, func(u int32) bool { return !r.Final(u) })
	case n.Status == reactive.Running:
		return causes{r}.running(v)
	case n.Status == reactive.Completed && n.Has(ledger.Held):
		return causes{r}.decisionOf(v)
	case r.Row(v).Kind == plan.Gate && n.Fact != ledger.NoFact:
		return []Cause{causes{r}.testOf(v)}
	case n.Status == reactive.Failed && r.Row(v).Kind == plan.Map && n.Failure == nil:
		return causes{r}.itemsOf(v, func(u int32) bool { return r.Status(u) == reactive.Failed })
	case n.Status == reactive.Aborted && n.Failure != nil && n.Failure.Code == reactive.CodeDependency, n.Has(ledger.Cascade):
		return each(ByFailure, r.Causes(v))
	case n.Status == reactive.Skipped && n.Fact != ledger.Dropped:
		return causes{r}.aroundOf(v)
	case n.Status == reactive.Idle, n.Status == reactive.Waiting:
		return append(causes{r}.missing(v), causes{r}.slotOf(v)...)
	case n.Status == reactive.Ready:
		return causes{r}.timersOf(v)
	}
	return nil
}

// causes finds the causes of the statuses of a root's nodes.
type causes struct{ r *reactive.Root }

// missing returns the causes for which a node has not begun.
func (cs causes) missing(v int32) []Cause {
	list := each(ByPredecessor, cs.r.Unmet(v))
	if g, ok := cs.r.Around(v); ok && !cs.r.Status(g).Terminal() {
		list = append(list, cs.aroundOf(v)...)
	}
	return list
}

// each returns one cause for each node. A node may be listed several times: a failed conditional precedes and encloses the nodes
// inside it, and several joins may lead to one node.
func each(kind CauseKind, nodes []int32) []Cause {
	var list []Cause
	seen := map[int32]bool{}
	for _, u := range nodes {
		if !seen[u] {
			seen[u] = true
			list = append(list, Cause{Kind: kind, Node: u})
		}
	}
	return list
}

// aroundOf returns the conditional around a node, or nil.
func (cs causes) aroundOf(v int32) []Cause {
	if g, ok := cs.r.Around(v); ok {
		return []Cause{{Kind: ByBranch, Node: g}}
	}
	return nil
}

// itemsOf returns the nodes of a map's items that satisfy a condition.
func (cs causes) itemsOf(v int32, is func(u int32) bool) []Cause {
	return each(ByItems, slices.DeleteFunc(cs.r.Items(v), func(u int32) bool { return !is(u) }))
}

// running returns the causes for which a node is still running.
func (cs causes) running(v int32) []Cause {
	var list []Cause
	if asked, waiting := cs.r.WaitsFor(v); asked {
		list = append(list, Cause{Kind: ByParticipant, Node: v, Participants: waiting})
	}
	return append(list, cs.timersOf(v)...)
}

// decisionOf returns the causes for which the task of a completed node is not decided.
func (cs causes) decisionOf(v int32) []Cause {
	if cs.r.Closed() {
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

// timersOf returns the timers of a node that have an effect.
func (cs causes) timersOf(v int32) []Cause {
	var list []Cause
	for _, t := range cs.r.TimersOf(v) {
		list = append(list, Cause{Kind: ByTimer, Node: v, Timer: t.Means, Due: t.At})
	}
	return list
}

// slotOf returns the limit that keeps a node from starting, and the holders of its slots.
func (cs causes) slotOf(v int32) []Cause {
	if limit, holders, ok := cs.r.Full(v); ok {
		return []Cause{{Kind: BySlot, Node: v, Limit: limit, Holders: holders}}
	}
	return nil
}

// testOf returns the test of a conditional with the values that it has read.
func (cs causes) testOf(v int32) Cause {
	c := Cause{Kind: ByTest, Node: v, Test: cs.r.Place(v).Cond.Test}
	item := cs.r.Place(v).Item
	e := cs.r.Env(v)
	switch {
	case item.TestID != "":
		s, err := e.Step(item.TestID, expr.Status)
		c.Read = []ReadValue{{item.TestID + ".status", s, err}}
	case item.Test != nil:
		for _, read := range item.Test.Reads() {
			x, err := e.Step(read.Step, read.Field)
			if missing, ok := errors.AsType[reactive.NoOutputError](err); ok {
				err = fmt.Errorf("no output (%s)", missing.Status)
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
