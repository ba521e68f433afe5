package world

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/steps"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Check returns an error, which wraps journal.ErrDamaged, if a read event cannot be the next event of the world: a value is not of
// its type or not in its normal form, or its subject does not exist. Such an event must not be applied.
func (w *World) Check(e *journal.Event) error {
	var err error
	switch {
	case w.root.Seq() == 0:
		return nil
	case e.Seq != w.root.Seq()+1:
		err = fmt.Errorf("it does not follow event %d", w.root.Seq())
	case w.stopped:
		return nil
	case e.Type == journal.MessageReceived && e.Detail == nil:
		err = errors.New("it has no name")
	case e.Type == journal.MessageReceived:
		err = w.checkEvent(e.Detail.Name, e.Value, e.Detail.Cells)
	case e.Type == journal.CellStepped:
		err = w.checkStep(e)
	case e.Type == journal.CellFailed, e.Type == journal.CellPaused, e.Type == journal.CellResumed, e.Type == journal.CellReset, e.Type == journal.CellExpired:
		err = w.checkAddress(e.Node)
	}
	if err != nil {
		return fmt.Errorf("%w: event %d, %s: %w", journal.ErrDamaged, e.Seq, e.Type, err)
	}
	return nil
}

// checkAddress returns an error if an address cannot be the address of a cell.
func (w *World) checkAddress(address string) error {
	if w.cells[address] != nil {
		return nil
	}
	_, _, err := w.def.ParseAddress(address)
	return err
}

// checkEvent checks a message or a raised event.
func (w *World) checkEvent(name string, payload any, cells []string) error {
	t := w.def.Types.Lookup(name)
	if t == nil {
		return fmt.Errorf("unknown type %q", name)
	}
	for _, address := range cells {
		if err := w.checkAddress(address); err != nil {
			return err
		}
	}
	return t.CheckNormal(value.Unpack(payload))
}

// checkStep checks an activation: its output is in canonical form, and it takes the next event of its cell.
func (w *World) checkStep(e *journal.Event) error {
	c := w.lookup(e.Node)
	if c == nil {
		if err := w.checkAddress(e.Node); err != nil {
			return err
		}
	}
	step, isStep := steps.Parse(e)
	if !isStep {
		return errors.New("its value is not that of an activation")
	}
	if c == nil || c.mail.Len() == 0 || c.mail.front().seq != step.Cause {
		return fmt.Errorf("cell %s has nothing from event %d to take", e.Node, step.Cause)
	}
	if step.State != nil {
		if err := c.machine.State.CheckNormal(step.State); err != nil {
			return err
		}
	}
	for _, r := range step.Raised {
		if err := w.checkEvent(r.Event, r.Value, r.Cells); err != nil {
			return err
		}
	}
	for _, x := range step.Emitted {
		if x.Effect == machine.TimerEffect {
			continue
		}
		effect := w.def.Effect(x.Effect)
		if effect == nil {
			return fmt.Errorf("unknown effect %q of machine %q", x.Effect, c.machine.Name)
		}
		if err := effect.Params.CheckNormal(x.Params); err != nil {
			return err
		}
	}
	return nil
}
