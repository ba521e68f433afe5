// Package cells declares the additional operations of a run with cells, the run of a world.
package cells

import (
	"errors"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Cells is a reactive.Body with cells, which take the messages of the run and make its calls. It is implemented by a world.
type Cells interface {
	// Check returns an error if the next event of a journal, other than the first, does not follow from the earlier events and must
	// not be applied.
	Check(e *journal.Event) error

	// Receive completes the event of a message for the journal: it brings the payload into its normal form and adds the cells
	// to which the message is delivered. It returns an error if the message cannot be taken; an error that wraps ErrFull means
	// that the message may be taken later. If a message with the same id was taken before, Receive returns the event of that
	// message, without its payload, and the new one must not be journaled.
	Receive(e *journal.Event) (earlier *journal.Event, err error)

	// Settle replaces the output in the event of a call's result by the part that a cell takes, in its normal form. If this is
	// impossible, it adds a failure to the event.
	Settle(v int32, e *journal.Event)

	// Asked returns the idempotency key that was requested for a call, or "".
	Asked(v int32) string

	// Command makes an event about a cell of an abort or a retry that names no open call.
	Command(e *journal.Event)

	// RefusePause judges a pause of a cell, or the end of one. Its errors wrap ErrUnknown if there is no such cell.
	RefusePause(cell string, paused bool) error

	// RefuseKey judges a retry of a call with a new idempotency key.
	RefuseKey() error

	// Snapshot returns the sequence of the event of the newest snapshot, or 0, and reports whether another is due. If leaves is
	// true, the run is about to leave memory. A snapshot is also due if states take so much memory that they must become content.
	Snapshot(leaves bool) (seq uint64, due bool)

	// Serve sets the stepper's host, which calls Go functions if it can.
	Serve(host any)

	// Err returns an error if the cells cannot proceed, because the content of a snapshot is damaged. All their later results
	// are invalid.
	Err() error
}

// ErrFull means that too many messages wait for a cell.
var ErrFull = errors.New("the mailbox is full")

// ErrUnknown means that a world does not have a cell.
var ErrUnknown = errors.New("no such cell")

// ErrNone means that a run has no cells.
var ErrNone = errors.New("coordinator: only worlds have cells")
