package world

// Track makes the world record the cells that an event changes, for Changed.
func (w *World) Track() { w.tracker.on = true }

// Changed returns the states of the cells that the last event has changed, in the order of their first changes. Of a cell that no
// longer exists, only the address is set. See Track.
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

// Was returns the status of a cell in the snapshot from which the world was restored, or "" if it is not known. See Track.
func (w *World) Was(address string) Status { return w.tracker.was[address] }

// tracker records the cells that an event changes.
type tracker struct {
	on      bool
	changed []*cell           // by the current event
	event   uint64            // number of applied events
	was     map[string]Status // by address: status of cells read from a snapshot
}

// read records the status of a cell read from a snapshot.
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

// begin clears the changes of the previous event.
func (t *tracker) begin() {
	clear(t.changed)
	t.changed = t.changed[:0]
	t.event++
}

// note records that a cell has changed.
func (t *tracker) note(c *cell) {
	if t.on && c.noted != t.event {
		c.noted = t.event
		t.changed = append(t.changed, c)
	}
}
