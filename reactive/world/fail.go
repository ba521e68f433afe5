package world

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/cells"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// fault is a failure of a cell that must be journaled.
type fault struct {
	cell    *cell
	seq     uint64 // of the event that caused it
	failure *journal.Failure
}

func (f fault) event() journal.Event {
	return journal.Event{Type: journal.CellFailed, Node: f.cell.address, Value: int64(f.seq), Detail: &journal.Detail{Failure: f.failure}}
}

// failed fails a cell, which then queues its items. The item of the failed step is put aside, and the step changes nothing else: open
// intents stay open, so that a retry can continue. A cell that fails because of a result, or is aborted, drops its intents.
func (w *World) failed(e *journal.Event) {
	c := w.cellAt(e.Node)
	if c.machine == nil {
		return
	}
	w.tally.Failed++
	c.active = e.At
	cause, _ := e.Value.(int64)
	if !w.faults.drop(c) && c.mail.Len() > 0 && c.mail.front().seq == uint64(cause) {
		it := c.mail.pop()
		c.aside, c.last = &it, e.Seq
	} else {
		w.dropAll(c)
	}
	c.failure = e.FailureOr(reactive.CodeAborted)
	w.touch(c)
}

// faults are the failures that must be journaled, in order.
type faults []fault

// add records that a cell must fail. The cell stays in memory until then.
func (l *faults) add(f fault) {
	f.cell.faulty = true
	*l = append(*l, f)
}

// drop removes the faults of a cell. It reports whether there were any, so that the cell fails because of a result.
func (l *faults) drop(c *cell) bool {
	was := c.faulty
	if was {
		*l = slices.DeleteFunc(*l, func(f fault) bool { return f.cell == c })
	}
	c.faulty = false
	return was
}

// reset resumes a failed cell, first with the item at which it failed.
func (w *World) reset(e *journal.Event) {
	c := w.lookup(e.Node)
	if c == nil || c.failure == nil {
		return
	}
	c.failure, c.active = nil, e.At
	if c.aside != nil {
		c.mail.pushFront(*c.aside)
		c.aside = nil
	}
	w.touch(c)
}

// paused pauses or resumes a cell.
func (w *World) paused(e *journal.Event) {
	if c := w.lookup(e.Node); c != nil {
		c.paused, c.active = e.Type == journal.CellPaused, e.At
		w.touch(c)
	}
}

// unknownCell is the error of a command to a cell that does not exist.
type unknownCell struct {
	address string
	err     error // set if there cannot be such a cell
}

func (c unknownCell) Error() string {
	text := fmt.Sprintf("no cell %q", c.address)
	if c.err != nil {
		text += ": " + c.err.Error()
	}
	return text
}

func (unknownCell) Is(target error) bool { return target == cells.ErrUnknown }

// find returns an existing cell.
func (h *holdings) find(address string) (*cell, error) {
	if c := h.lookup(address); c != nil {
		return c, nil
	}
	_, _, err := h.def.ParseAddress(address)
	return nil, unknownCell{address, err}
}

// RefuseAbort returns an error if a cell cannot be aborted.
func (h *holdings) RefuseAbort(address string) error {
	c, err := h.find(address)
	if err == nil && c.failure != nil && c.open.n == 0 {
		err = fmt.Errorf("cell %q has failed already", address)
	}
	return err
}

// RefuseRetry returns an error if a cell cannot be retried.
func (h *holdings) RefuseRetry(address string) error {
	c, err := h.find(address)
	if err == nil && c.failure == nil {
		err = fmt.Errorf("cell %q has not failed", address)
	}
	return err
}

// RefuseKey refuses a new key: the cells choose the keys of their calls.
func (*holdings) RefuseKey() error {
	return errors.New("the cells of a world choose the idempotency keys of their calls: retry without a new key")
}

// Command makes an abort the failure of a cell, and a retry its reset.
func (*holdings) Command(e *journal.Event) {
	if e.Type == journal.NodeRetried {
		e.Type = journal.CellReset
		return
	}
	d := journal.Detail{}
	if e.Detail != nil {
		d = *e.Detail
	}
	d.Failure = &journal.Failure{Code: reactive.CodeAborted, Message: d.Reason}
	e.Type, e.Detail = journal.CellFailed, &d
}

// RefusePause returns an error if a cell cannot be paused or resumed.
func (h *holdings) RefusePause(address string, paused bool) error {
	c, err := h.find(address)
	switch {
	case err != nil:
		return err
	case paused && c.paused:
		return fmt.Errorf("cell %q is paused already", address)
	case !paused && !c.paused:
		return fmt.Errorf("cell %q is not paused", address)
	}
	return nil
}
