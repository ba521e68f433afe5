package world

import (
	"iter"
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Status is the status of a cell.
type Status string

// The statuses of cells, the first that holds.
const (
	Failed    Status = "failed"    // it takes nothing until a retry
	Waiting   Status = "waiting"   // it has open intents
	Running   Status = "running"   // it has mail, or its process has not completed
	Completed Status = "completed" // nothing is left to do
)

// CellState is the state of a cell.
type CellState struct {
	Address string           // machine[key]
	Machine string           // name
	Key     value.Value      // in normal form; nil if the machine has no key
	Status  Status           // see Status
	Paused  bool             // a person has paused it
	State   value.Value      // nil: none; shared, must not be changed
	Failure *journal.Failure // of a failed cell
	Intents []IntentState    // open intents, in the order of emission
	Mail    int              // items that wait for its turn
	Held    int              // waiting items of a held cell
	Last    uint64           // sequence of its newest activation; 0: none
	Active  time.Time        // instant of the newest event about it
}

// IntentState is the state of an open intent.
type IntentState struct {
	Key    string      // of its node, for `abort` and `explain`
	Effect string      // name; "timer": a timer
	Issuer string      // distinguishes intents of one effect; of a timer, its name
	ID     string      // `sha256:…`; "": a timer
	Params value.Value // shared, must not be changed
	Due    time.Time   // of a timer

	Call     reactive.Status  // of the call; without meaning for a timer
	Pending  bool             // the call has failed, with a pending retry
	Attempts int32            // number of attempts of the call so far
	Failure  *journal.Failure // of the call's newest attempt
}

// Cell returns the state of a cell. It reports false if there is no such cell.
func (w *World) Cell(address string) (CellState, bool) {
	w.evictIfMany()
	c := w.lookup(address)
	if c == nil {
		return CellState{}, false
	}
	return w.show(c), true
}

// Cells yields the states of all cells, in the order of their addresses.
func (w *World) Cells() iter.Seq[CellState] {
	return func(yield func(CellState) bool) {
		for c := range w.all() {
			if !yield(w.show(c)) {
				return
			}
		}
	}
}

func (w *World) show(c *cell) CellState {
	s := CellState{
		Address: c.address, Machine: c.machine.Name, Key: c.key, Status: c.status(), Paused: c.paused, State: w.stateOf(c),
		Failure: c.failure, Mail: c.mail.Len(), Last: c.last, Active: time.Unix(0, c.active).UTC(),
	}
	if c.held() {
		s.Held = s.Mail
	}
	for x := c.open.first; x != nil; x = x.after {
		i := x.show()
		if x.effect != nil {
			i.Call, i.Pending, i.Attempts, i.Failure = w.root.Status(x.node), w.root.Pending(x.node), w.root.Attempts(x.node), w.root.Failure(x.node)
		}
		s.Intents = append(s.Intents, i)
	}
	return s
}

func (x *intent) show() IntentState {
	s := IntentState{Key: x.key, Effect: x.name(), Issuer: x.from(), ID: x.id, Params: x.params}
	if x.effect == nil {
		s.Due = time.Unix(0, x.due).UTC()
	}
	return s
}
