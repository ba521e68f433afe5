// Package activation runs the steps of machines in Go for scenarios: it runs each step twice, and reports a result that differs.
package activation

import (
	"fmt"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
)

// Twice runs each step twice. It can run the machines that a world itself provides.
type Twice struct{}

var _ world.Activator = Twice{}

// Lacks implements world.Activator.
func (Twice) Lacks(w *machine.World, m *machine.Machine) error {
	_, err := w.Own(m)
	return err
}

// Learned implements world.Activator. It is constant, because no machine is added later.
func (Twice) Learned() uint64 { return 0 }

// Activate implements world.Activator.
func (Twice) Activate(w *machine.World, in *machine.Input) (out *machine.Output, failure *machine.Failure) {
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

// Missing returns an error if address is invalid, or if the code for the machine of its cell is missing.
func (x Twice) Missing(w *machine.World, address string) error {
	m, _, err := w.ParseAddress(address)
	if err != nil || m.Go == nil {
		return err
	}
	if err := x.Lacks(w, m); err != nil {
		return fmt.Errorf("%w: a Go test passes it as Options.Machines", err)
	}
	return nil
}
