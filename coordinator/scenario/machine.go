package scenario

import (
	"fmt"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
)

var _ world.Activator = (*track)(nil)

// Lacks implements world.Activator: there are the machines in Go that the world brings along.
func (t *track) Lacks(w *machine.World, m *machine.Machine) error {
	_, err := w.Own(m)
	return err
}

// Learned implements world.Activator: no machine comes later.
func (t *track) Learned() uint64 { return 0 }

// missing returns why a cell cannot be stepped; nil: it can.
func (t *track) missing(w *world.World, address string) error {
	def := w.Definition()
	m, _, err := def.ParseAddress(address)
	if err != nil || m.Go == nil {
		return err
	}
	if err := t.Lacks(def, m); err != nil {
		return fmt.Errorf("%w: a Go test passes it as Options.Machines", err)
	}
	return nil
}

// Activate implements world.Activator: each step runs twice, so that one that gives something else the second time is found.
func (t *track) Activate(w *machine.World, in *machine.Input) (out *machine.Output, failure *machine.Failure) {
	activate, err := w.Own(in.Machine)
	if err == nil {
		err = usercode.Apart(func() error {
			out, failure = attempt.Run(w, activate, in, true)
			return nil
		})
	}
	if err != nil {
		return nil, attempt.Panicked(err.Error(), "")
	}
	return out, failure
}
