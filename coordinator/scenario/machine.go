package scenario

import (
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
