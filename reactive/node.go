package reactive

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// node is what the root knows of one instance of a row: the facts, folded from the journal in its order, and the status
// derived from them. 40 bytes, because a run of 100,000 steps holds as many.
type node struct {
	output  any              // of the newest attempt, as the event has it; while it runs, its input
	failure *journal.Failure // of the newest attempt, or why the node was aborted
	attempt int32            // newest attempt: the one requested last; 0: none
	count   int32            // attempts made
	block   int32            // instance of a map's body it belongs to; 0: the run itself
	flags   flags
	status  Status
	fact    fact
}

// fact is how the newest attempt stands. For a gate it is the decision.
type fact uint8

const (
	none      fact = iota
	running        // requested
	responded      // completed
	errored        // failed; final unless flagged pending
	stopped        // aborted, by call.aborted or by closing the attempt
	dropped        // skipped by its timing or fulfillment

	decidedThen  fact = iota + 10 // gate: chose then
	decidedElse                   // gate: chose else
	decidedError                  // gate: its test failed
)

type flags uint16

const (
	aborted   flags = 1 << iota // a person aborted it; holds until a new attempt
	pending                     // ended, and another attempt is to come: a retry, or what a person has asked for
	candidate                   // waits for slots
	granted                     // has its slots, until it stops being ready
	holding                     // counted in its groups
	queued                      // in the queue of starts
	retryDue                    // the retry's time has come
	started                     // gate: something in a branch was requested. map: an item was
	frozen                      // gate: the decision stands whatever happens
	stuck                       // gate: aborted until a node upstream gets a new attempt
	asked                       // gate, map: a Go function was asked and has not answered
	expanded                    // map: its items exist
	unread                      // gate: an input has changed since the last decision
	held                        // completed, and its task is not decided: nothing that needs it goes on
	cascade                     // its attempt was closed because something it needs failed
	expired                     // failed because a timer of the engine's ran out
)

// has reports whether any of these flags is set.
func (n *node) has(f flags) bool { return n.flags&f != 0 }

// final reports whether the newest attempt has ended for good.
func (n *node) final() bool { return n.fact >= responded && !n.has(pending|held) }

// block is one item of a map: an instance of the map's body.
//
// Node lo+i of the body's rows [row+1, End) is node base+i.
type block struct {
	owner  int32 // node of the map
	parent int32 // block that holds the map
	index  int32 // of the item
	row    int32 // row of the map
	base   int32 // first node
	slots  int32 // first of its groups
}

// expansion is what a map has made of its list.
type expansion struct {
	items     []any
	blocks    []int32 // by item; may be longer than items: those of a former, longer list are kept for reuse
	unsettled int32   // nodes of the items that have not settled
	bad       int32   // nodes of the items that are failed for good or aborted
}

// shows is what a status lets successors see. A gate that has seen something move makes its branches wait.
func shows(kind plan.Kind, s Status, f flags) uint8 {
	switch s {
	case Waiting:
		if kind == plan.Gate {
			return plan.ShowsMoved
		}
	case Completed, Skipped:
		if f&(held|pending) != 0 { // somebody is still to say that it is done, or it is to be done again
			return plan.ShowsMoved
		}
		return plan.ShowsSatisfied | plan.ShowsSettled | plan.ShowsMoved
	case Failed, Aborted:
		if f&pending != 0 { // another attempt is to come
			return plan.ShowsMoved
		}
		return plan.ShowsBlocked | plan.ShowsSettled | plan.ShowsMoved
	case Running:
		return plan.ShowsMoved
	}
	return 0
}
