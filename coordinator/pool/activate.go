package pool

import (
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
)

// activationTime is the default bound of the time of one step of a machine in Go.
const activationTime = time.Second

// runsTwice reports whether an activation runs twice, so that a step whose result differs the second time is found in the
// end: about one in 1,024. The sequence is mixed, since activations that alternate with other events have, for example, only
// odd ones.
func runsTwice(seq uint64) bool { return seq*0x9e3779b97f4a7c15>>54 == 0 }

// Lacks implements world.Activator.
func (h *Host) Lacks(w *machine.World, m *machine.Machine) error {
	if h.steps[m] != nil {
		return nil
	}
	step, err := h.entry.Machines.Step(w, m)
	if err != nil {
		h.lacks = true
		return err
	}
	if h.steps == nil {
		h.steps = map[*machine.Machine]machine.Activate{}
	}
	h.steps[m] = step
	return nil
}

// Learned implements world.Activator.
func (h *Host) Learned() uint64 { return h.entry.Machines.Learned() }

// activation is one call of a step, on a separate goroutine.
type activation struct {
	out     *machine.Output
	failure *machine.Failure
	ended   chan error // receives nil, or a *usercode.Panic
}

// Activate implements world.Activator. The step runs on a separate goroutine, since it cannot be ended: a step that does not return is
// abandoned.
func (h *Host) Activate(w *machine.World, in *machine.Input) (*machine.Output, *machine.Failure) {
	a := &activation{ended: make(chan error, 1)}
	step, twice := h.steps[in.Machine], runsTwice(in.Seq)
	go func() {
		a.ended <- usercode.CallExit(func() error {
			a.out, a.failure = attempt.Run(w, step, in, twice)
			return nil
		}, func(p *usercode.Panic) { a.ended <- p })
	}()
	late := time.NewTimer(h.run.pool.activation)
	defer late.Stop()
	select {
	case err := <-a.ended:
		if err != nil {
			return nil, attempt.Panicked(err.Error(), stackOf(err))
		}
		return a.out, a.failure
	case <-late.C:
		h.run.pool.abandon(fmt.Sprintf("run %s: cell %s, a step that was abandoned", h.run.ID, machine.Address(in.Machine, in.Key)), a.ended)
		return nil, &machine.Failure{Code: machine.CodeTimeout, Message: fmt.Sprintf(
			"the step has not returned in %v; its goroutine goes on, and its result does not count", h.run.pool.activation)}
	}
}

// stackOf returns the stack of a panic.
func stackOf(err error) string {
	if p, ok := err.(*usercode.Panic); ok {
		return p.Stack
	}
	return ""
}

// abandon names a step that has not returned, until it does.
func (p *Pool) abandon(name string, ended <-chan error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.abandoned[ended] = name
	go func() {
		<-ended
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.abandoned, ended)
	}()
}
