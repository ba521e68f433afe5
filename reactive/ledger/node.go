package ledger

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Node is the state of one instance of a row of the plan: the facts, folded from the journal in its order, and the status
// derived from them. It takes 40 bytes, because a run of 100,000 steps holds as many.
type Node struct {
	Output  any              // of the newest attempt, as in the event; while it runs, its input
	Failure *journal.Failure // of the newest attempt, or of the abort of the node
	Attempt int32            // number of the attempt requested last; 0: none
	count   int32            // attempts made
	Block   int32            // instance of a map's body that it belongs to; 0: the run itself
	Flags   Flags            // see there
	Status  Status           // derived; the zero value is Idle
	Fact    Fact             // folded from the journal
}

// Fact is the state of the newest attempt. For a gate it is the decision.
type Fact uint8

// The facts.
const (
	NoFact    Fact = iota // no attempt was requested
	Requested             // in progress
	Responded             // completed
	Errored               // failed; final unless flagged pending
	Stopped               // aborted, by call.aborted or by closing the attempt
	Dropped               // skipped by its timing or fulfillment

	DecidedThen  Fact = iota + 10 // gate: chose then
	DecidedElse                   // gate: chose else
	DecidedError                  // gate: its test failed
)

// Flags are the properties of a node besides its status and fact. The ledger only stores the flags of slots, gates and maps,
// which the root uses.
type Flags uint16

// The flags.
const (
	ByHand    Flags = 1 << iota // a person aborted it; holds until a new attempt
	Pending                     // ended, and another attempt will follow: a retry, or one that a person requested
	Candidate                   // waits for slots
	Granted                     // has its slots, until it is no longer ready
	Holding                     // counted in its groups
	Queued                      // in the queue of starts
	RetryDue                    // the retry is due
	Begun                       // gate: a node in a branch was requested; map: a node in an item was requested
	Frozen                      // gate: the decision is final
	Stuck                       // gate: aborted until a node upstream gets a new attempt
	Asked                       // gate, map: a Go function was requested and has not answered
	Expanded                    // map: its items exist
	Unread                      // gate: an input has changed since the last decision
	Held                        // completed, but its task is undecided: successors that need it wait
	Cascade                     // its attempt was closed because a node that it needs failed
	Expired                     // failed because of a timer of the engine
)

// Has reports whether any of these flags is set.
func (n *Node) Has(f Flags) bool { return n.Flags&f != 0 }

// final reports whether the newest attempt has ended for good.
func (n *Node) final() bool { return n.Fact >= Responded && !n.Has(Pending|Held) }

// Plan returns the plan that the root follows.
func (l *Ledger) Plan() *plan.Plan { return l.plan }

// Len returns the number of nodes, items of maps included. Nodes are numbered [0, Len), the rows of the plan first.
func (l *Ledger) Len() int32 { return int32(len(l.nodes)) }

// Row returns the parts of a node's row of the plan that every event needs.
func (l *Ledger) Row(v int32) *plan.Row {
	if int(v) < len(l.plan.Rows) { // outside maps, a node is its row
		return &l.plan.Rows[v]
	}
	return &l.plan.Rows[l.bank.Row(v)]
}

// Place returns a node's row of the plan.
func (l *Ledger) Place(v int32) *plan.Node { return &l.plan.Nodes[l.bank.Row(v)] }

// Operation returns the operation of a step.
func (l *Ledger) Operation(v int32) *plan.Operation {
	return &l.plan.Operations[l.Row(v).Op]
}

// Status returns the status of a node.
func (l *Ledger) Status(v int32) Status { return l.nodes[v].Status }

// Pending reports whether another attempt of a node will follow: the retry of a failed one, or one that a person requested,
// whatever the end of the last.
func (l *Ledger) Pending(v int32) bool { return l.nodes[v].Has(Pending) }

// Final reports whether a node is terminal for good: no attempt will follow, and its task is decided, if it has one.
func (l *Ledger) Final(v int32) bool {
	return l.nodes[v].Status.Terminal() && !l.nodes[v].Has(Pending|Held)
}

// Retryable reports whether another attempt of a node may be requested: it is a step whose newest attempt has ended.
func (l *Ledger) Retryable(v int32) bool {
	n := &l.nodes[v]
	return l.Row(v).Kind == plan.Step && (n.final() || n.Has(Pending) && !n.Has(RetryDue))
}

// Requested returns the input of the attempt that a node is running. It is nil for a step with an undecided task: see its
// output.
func (l *Ledger) Requested(v int32) any {
	if l.nodes[v].Fact != Requested {
		return nil
	}
	return value.Unpack(l.nodes[v].Output)
}

// Attempt returns the number of a node's newest attempt, or 0.
func (l *Ledger) Attempt(v int32) int32 { return l.nodes[v].Attempt }

// Attempts returns the number of requested attempts of a node.
func (l *Ledger) Attempts(v int32) int32 { return l.nodes[v].count }

// Tested reports whether a conditional's test reads the status or error of the node, or of a map around it. If so, its
// failure does not end a run with the policy abort-all.
func (l *Ledger) Tested(v int32) bool { return l.Place(v).Tested }

// Look returns a copy of a node.
func (l *Ledger) Look(v int32) Node { return l.nodes[v] }
