package program

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/machine"
)

// provideMachines adds to a world those machines in Go that the world names and the library has. It reports the machines that do not fit
// the world, with their positions. A machine without code is allowed: the scenario may be about other machines.
func (l *Library) provideMachines(w *template.Workflow) error {
	world, ok := machine.Of(w)
	if !ok {
		return nil
	}
	var faults document.Errors
	for _, m := range world.Machines {
		if m.Go == nil {
			continue
		}
		for _, code := range l.code {
			if code.Implementation == *m.Go && !world.Provide(code) {
				faults.Add(&document.Error{Pos: m.Pos, Text: m.Name, Msg: fmt.Sprintf(
					"two machines in Go are named %q, version %q: define a machine once, at package level", m.Go.Name, m.Go.Version)})
			}
		}
		if !world.Has(*m.Go) {
			continue
		}
		if _, err := world.Own(m); err != nil {
			faults.Add(&document.Error{Pos: m.Pos, Text: m.Name, Msg: err.Error(), Err: err})
		}
	}
	return faults.Err()
}
