package world

// Track makes the world keep which cells an event changes, for Changed.
func (w *World) Track() { w.tracker.on = true }

// Changed returns the states of the cells that the last event has changed, in the order in which it first changed them; of a cell
// that does not exist any more only the address is set. See Track.
func (w *World) Changed() []CellState {
	list := make([]CellState, len(w.tracker.changed))
	for i, c := range w.tracker.changed {
		list[i].Address = c.address
		if is := w.lookup(c.address); is != nil {
			list[i] = w.show(is)
		}
	}
	return list
}

// Was returns the status that a cell had in the snapshot from which the world was restored; "": none is known. See Track.
func (w *World) Was(address string) Status { return w.tracker.was[address] }

// tracker keeps which cells an event changes.
type tracker struct {
	on      bool
	changed []*cell           // by the event that is applied
	event   uint64            // counts the events that were applied
	was     map[string]Status // by address: of cells that were read from a snapshot
}

// read keeps the status of a cell that was read from a snapshot.
func (t *tracker) read(c *cell) {
	if t.on {
		if t.was == nil {
			t.was = map[string]Status{}
		}
		if _, known := t.was[c.address]; !known {
			t.was[c.address] = c.status()
		}
	}
}

// begin forgets the changes of the event before.
func (t *tracker) begin() {
	clear(t.changed)
	t.changed = t.changed[:0]
	t.event++
}

// note keeps that a cell has changed.
func (t *tracker) note(c *cell) {
	if t.on && c.noted != t.event {
		c.noted = t.event
		t.changed = append(t.changed, c)
	}
}
