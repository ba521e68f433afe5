package world

import (
	"github.com/sluiceflow/sluice/reactive/world/turns"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
)

// Activator is the part of a decide.Host that runs machines in Go. In a world without such a host, only machines in rules run:
// the cells of machines in Go queue their items.
type Activator interface {
	// Lacks returns an error if the program cannot run a machine in Go. It may have the machine later.
	Lacks(w *machine.World, m *machine.Machine) error

	// Activate runs one activation of a machine that the program has.
	Activate(w *machine.World, in *machine.Input) (*machine.Output, *machine.Failure)

	// Learned returns a number that changes when the program may have further machines.
	Learned() uint64
}

// program steps the cells of a world.
type program struct {
	def     *machine.World
	host    Activator // nil: the program has no machines in Go
	learned uint64    // value of Learned when cells were passed over
}

// Serve sets the host that runs machines in Go, if it is an Activator.
func (w *World) Serve(host any) {
	w.program = program{def: w.def}
	w.program.host, _ = host.(Activator)
	w.ring.TurnAgain()
}

// tryAgain returns passed-over cells to their places if the program may have their machines now.
func (p *program) tryAgain(r *turns.Ring[*cell]) {
	if p.host == nil {
		return
	}
	if n := p.host.Learned(); n != p.learned {
		p.learned = n
		r.TurnAgain()
	}
}

// lacks reports whether the program cannot step a cell.
func (p *program) lacks(c *cell) bool { return p.lack(c.machine) != nil }

// lack returns an error if the program cannot step cells of a machine.
func (p *program) lack(m *machine.Machine) error {
	switch {
	case m.Go == nil:
		return nil
	case p.host == nil:
		return m.Go.Missing()
	}
	return p.host.Lacks(p.def, m)
}

// step runs one activation.
func (p *program) step(in *machine.Input, meter *expr.Meter) (*machine.Output, *machine.Failure) {
	if in.Machine.Go != nil {
		return p.host.Activate(p.def, in)
	}
	return p.def.Step(in, meter)
}
