// Package cells declares the operations of a run with cells, that of a world, beyond those of other runs.
package cells

import (
	"errors"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Cells is a reactive.Body with cells, which take the messages of the run and make its calls: a world.
type Cells interface {
	// Check returns why the next event of a journal, other than the first, must not be applied: it does not follow from those before it.
	Check(e *journal.Event) error

	// Receive completes the event of a message that is to be journaled: it brings the payload into its normal form and adds
	// the cells that the message goes to. Its error says why the message cannot be taken; one that wraps ErrFull means that
	// it may be later. If a message of the same id was taken before, Receive returns the event of that one, without its
	// payload, and nothing is to be journaled.
	Receive(e *journal.Event) (earlier *journal.Event, err error)

	// Settle replaces the output in the event of a call's result by the part that a cell takes, in its normal form. If that
	// is impossible, it adds the failure to the event.
	Settle(v int32, e *journal.Event)

	// Asked returns the idempotency key that was asked for a call; "": none.
	Asked(v int32) string

	// Command turns the event of an abort or of a retry that names no open call into one about a cell.
	Command(e *journal.Event)

	// RefusePause judges a pause of a cell, or the end of one. Its errors wrap ErrUnknown if there is no such cell.
	RefusePause(cell string, paused bool) error

	// RefuseKey judges a retry of a call with a new idempotency key.
	RefuseKey() error

	// Snapshot returns the sequence of the event of the newest snapshot, 0 if there is none, and whether another is due, if leaves
	// before the run leaves memory, or states take so much memory that they are to become content.
	Snapshot(leaves bool) (seq uint64, due bool)

	// Serve uses the stepper's host to run Go functions, if it can.
	Serve(host any)

	// Err returns why the cells cannot go on: the content that a snapshot keeps is damaged. Nothing that they have returned
	// since counts.
	Err() error
}

// ErrFull means that too many messages wait for a cell.
var ErrFull = errors.New("the mailbox is full")

// ErrUnknown means that a world does not have a cell.
var ErrUnknown = errors.New("no such cell")

// ErrNone means that a run has no cells.
var ErrNone = errors.New("coordinator: only worlds have cells")
