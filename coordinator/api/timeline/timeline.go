// Package timeline selects the events about one cell of a world from the events of its run.
package timeline

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/steps"
)

// Timeline selects the events about one cell of a world: its messages, its activations, the activations of other cells that raise
// an event for it, and the results of its intents. The events must be passed to Wants in order.
type Timeline struct {
	cell  string
	steps map[uint64]bool // sequences of the cell's activations that have opened intents
	first uint64          // activations before this event are trimmed; 0: none are
}

// Of returns the timeline of a cell, by its address.
func Of(cell string) *Timeline { return &Timeline{cell: cell, steps: map[uint64]bool{}} }

// Begin records that the events before first are trimmed, unless first is 0. A nil timeline ignores it.
func (t *Timeline) Begin(first uint64) {
	if t != nil {
		t.first = first
	}
}

// Wants reports whether an event is about the cell.
func (t *Timeline) Wants(e *journal.Event) bool {
	switch {
	case e.Node == t.cell:
		if e.Type == journal.CellStepped && len(steps.Read(e).Emitted) > 0 {
			t.steps[e.Seq] = true
		}
		return true
	case e.Type == journal.MessageReceived:
		return e.Detail != nil && slices.Contains(e.Detail.Cells, t.cell)
	case e.Type == journal.CellStepped:
		return slices.ContainsFunc(steps.Read(e).Raised, func(r steps.Raised) bool { return slices.Contains(r.Cells, t.cell) })
	}
	seq, ok := steps.EmittedAt(e.Node, t.cell)
	return ok && (t.steps[seq] || seq < t.first) // the key decides for a trimmed activation
}
