package world

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Given sets the state of a cell at the start of the run, so that a machine can be tried from any state. The run must
// not have started.
func (w *World) Given(address string, state value.Value) error {
	if w.root.Started() {
		return fmt.Errorf("the run has started")
	}
	m, key, err := w.def.ParseAddress(address)
	if err != nil {
		return err
	}
	if state, err = m.State.Normalize(state); err != nil {
		return err
	}
	c := w.cellAt(machine.Address(m, key))
	c.state = state
	return nil
}

// begin begins the activity of the cells that have a state.
func (w *World) begin(at int64) {
	for _, address := range slices.Sorted(maps.Keys(w.cells)) {
		c := w.cells[address]
		c.active = at
		w.touch(c)
	}
}
