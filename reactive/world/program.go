package world

import (
	"github.com/sluiceflow/sluice/template/machine"
)

// Activator is the part of a decide.Host that runs machines in Go. A world whose host is none has only rules: the cells of its
// machines in Go keep what comes.
type Activator interface {
	// Lacks returns why the program cannot run a machine in Go; nil: it can. A machine that it lacks it may have later.
	Lacks(w *machine.World, m *machine.Machine) error

	// Activate runs one activation of a machine that the program does not lack.
	Activate(w *machine.World, in *machine.Input) (*machine.Output, *machine.Failure)

	// Learned returns a number that changes when the program may have machines that it lacked.
	Learned() uint64
}

// Serve has a host run the machines in Go, if it is an Activator.
func (w *World) Serve(host any) {
	w.program, _ = host.(Activator)
	w.ring.turnAgain()
	if w.program != nil {
		w.learned = w.program.Learned()
	}
}

// tryAgain gives the cells that were passed over their turn, if the program may have their machines now.
func (w *World) tryAgain() {
	if w.program == nil {
		return
	}
	if n := w.program.Learned(); n != w.learned {
		w.learned = n
		w.ring.turnAgain()
	}
}

// lacks reports whether the program cannot step a cell.
func (w *World) lacks(c *cell) bool { return w.lack(c.machine) != nil }

// lack returns why the program cannot step cells of a machine; nil: it can.
func (w *World) lack(m *machine.Machine) error {
	switch {
	case m.Go == nil:
		return nil
	case w.program == nil:
		return m.Go.Missing()
	}
	return w.program.Lacks(w.def, m)
}

// step runs one activation.
func (w *World) step(in *machine.Input) (*machine.Output, *machine.Failure) {
	if in.Machine.Go != nil {
		return w.program.Activate(w.def, in)
	}
	return w.def.Step(in, w.root.Meter())
}
