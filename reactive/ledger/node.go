package ledger

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Node is what is known of one instance of a row of the plan: the facts, folded from the journal in its order, and the status
// derived from them. 40 bytes, because a run of 100,000 steps holds as many.
type Node struct {
	Output  any              // of the newest attempt, as the event has it; while it runs, its input
	Failure *journal.Failure // of the newest attempt, or why the node was aborted
	Attempt int32            // newest attempt: the one requested last; 0: none
	count   int32            // attempts made
	Block   int32            // instance of a map's body it belongs to; 0: the run itself
	Flags   Flags
	Status  Status
	Fact    Fact
}

// Fact is how the newest attempt stands. For a gate it is the decision.
type Fact uint8

// The facts.
const (
	NoFact    Fact = iota // no attempt was requested
	Requested             // under way
	Responded             // completed
	Errored               // failed; final unless flagged pending
	Stopped               // aborted, by call.aborted or by closing the attempt
	Dropped               // skipped by its timing or fulfillment

	DecidedThen  Fact = iota + 10 // gate: chose then
	DecidedElse                   // gate: chose else
	DecidedError                  // gate: its test failed
)

// Flags are the properties of a node besides its status and fact. Those of slots, gates and maps belong to the root: the ledger only keeps them.
type Flags uint16

// The flags.
const (
	ByHand    Flags = 1 << iota // a person aborted it; holds until a new attempt
	Pending                     // ended, and another attempt is to come: a retry, or what a person has asked for
	Candidate                   // waits for slots
	Granted                     // has its slots, until it stops being ready
	Holding                     // counted in its groups
	Queued                      // in the queue of starts
	RetryDue                    // the retry's time has come
	Begun                       // gate: something in a branch was requested. map: an item was
	Frozen                      // gate: the decision is final
	Stuck                       // gate: aborted until a node upstream gets a new attempt
	Asked                       // gate, map: a Go function was asked and has not answered
	Expanded                    // map: its items exist
	Unread                      // gate: an input has changed since the last decision
	Held                        // completed, and its task is not decided: nothing that needs it goes on
	Cascade                     // its attempt was closed because something it needs failed
	Expired                     // failed because a timer of the engine's ran out
)

// Has reports whether any of these flags is set.
func (n *Node) Has(f Flags) bool { return n.Flags&f != 0 }

// final reports whether the newest attempt has ended for good.
func (n *Node) final() bool { return n.Fact >= Responded && !n.Has(Pending|Held) }

// Plan returns the plan that the root follows.
func (l *Ledger) Plan() *plan.Plan { return l.plan }

// Len returns the number of nodes, items of maps included. Nodes are [0, Len); those of package plan's rows come first.
func (l *Ledger) Len() int32 { return int32(len(l.nodes)) }

// Row returns the parts of a node's plan that every event needs.
func (l *Ledger) Row(v int32) *plan.Row {
	if int(v) < len(l.plan.Rows) { // outside maps a node is its row, and the bank need not be read
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

// Pending reports whether another attempt of a node is to come: the retry of one that has failed, or one that a person has asked
// for, however the last has ended.
func (l *Ledger) Pending(v int32) bool { return l.nodes[v].Has(Pending) }

// Final reports whether a node is terminal for good: one with another attempt to come is not, nor a completed one whose task is
// not decided.
func (l *Ledger) Final(v int32) bool {
	return l.nodes[v].Status.Terminal() && !l.nodes[v].Has(Pending|Held)
}

// Retryable reports whether another attempt of a node may be asked for: it is a step whose newest attempt has ended.
func (l *Ledger) Retryable(v int32) bool {
	n := &l.nodes[v]
	return l.Row(v).Kind == plan.Step && (n.final() || n.Has(Pending) && !n.Has(RetryDue))
}

// Requested returns the input of the attempt that a node is running.
//
// For a step whose task is being decided it is nil: see its output.
func (l *Ledger) Requested(v int32) any {
	if l.nodes[v].Fact != Requested {
		return nil
	}
	return value.Unpack(l.nodes[v].Output)
}

// Attempt returns the number of a node's newest attempt; 0: it has none.
func (l *Ledger) Attempt(v int32) int32 { return l.nodes[v].Attempt }

// Attempts returns the number of attempts of a node that were requested.
func (l *Ledger) Attempts(v int32) int32 { return l.nodes[v].count }

// Tested reports whether some conditional's test reads the node's status or error, or that of a map around it: then its
// failure does not end a run that aborts at the first uncaught one.
func (l *Ledger) Tested(v int32) bool { return l.Place(v).Tested }

// Look returns a copy of what is known of a node.
func (l *Ledger) Look(v int32) Node { return l.nodes[v] }
