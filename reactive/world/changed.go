package world

import (
	"maps"
	"slices"
)

// Track makes the world keep which cells an event changes, for Changed.
func (w *World) Track() { w.tracking = true }

// Changed returns the states of the cells that the last event has changed, in the order in which it first changed them; of a cell
// that does not exist any more only the address is set. See Track.
func (w *World) Changed() []CellState {
	list := make([]CellState, len(w.changed))
	for i, c := range w.changed {
		if list[i].Address = c.address; w.cells[c.address] == c {
			list[i] = w.show(c)
		}
	}
	return list
}

// note keeps that a cell has changed.
func (w *World) note(c *cell) {
	if w.tracking && !slices.Contains(w.changed, c) {
		w.changed = append(w.changed, c)
	}
}

// noteAll keeps that all cells have changed.
func (w *World) noteAll() {
	if w.tracking {
		for _, address := range slices.Sorted(maps.Keys(w.cells)) {
			w.changed = append(w.changed, w.cells[address])
		}
	}
}
