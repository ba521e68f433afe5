package world

import "github.com/sluiceflow/sluice/reactive/journal"

// expired deletes a cell at the end of its time to live.
func (w *World) expired(e *journal.Event) {
	if c := w.lookup(e.Node); c != nil {
		w.setState(c, nil, e.Seq)
		c.completed = false
		w.touch(c)
	}
}
