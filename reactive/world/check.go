package world

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/steps"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Check returns why an event that was read cannot be what the world has journaled next: a value is not of its type or not in
// its normal form, or it is about something that does not exist. Such an event must not be applied. The error wraps
// journal.ErrDamaged.
func (w *World) Check(e *journal.Event) error {
	var err error
	switch {
	case e.Seq != w.root.Seq()+1:
		err = fmt.Errorf("it does not follow event %d", w.root.Seq())
	case w.stopped:
		return nil
	case e.Type == journal.MessageReceived && e.Detail == nil:
		err = errors.New("it has no name")
	case e.Type == journal.MessageReceived:
		err = checkEvent(w.def, e.Detail.Name, e.Value, e.Detail.Cells)
	case e.Type == journal.CellStepped:
		err = w.checkStep(e)
	case e.Type == journal.CellFailed, e.Type == journal.CellPaused, e.Type == journal.CellResumed, e.Type == journal.CellReset, e.Type == journal.CellExpired:
		_, _, err = w.def.ParseAddress(e.Node)
	}
	if err != nil {
		return fmt.Errorf("%w: event %d, %s: %w", journal.ErrDamaged, e.Seq, e.Type, err)
	}
	return nil
}

// checkEvent checks a message or an event that was raised.
func checkEvent(def *machine.World, name string, payload any, cells []string) error {
	t := def.Types.Lookup(name)
	if t == nil {
		return fmt.Errorf("unknown type %q", name)
	}
	for _, address := range cells {
		if _, _, err := def.ParseAddress(address); err != nil {
			return err
		}
	}
	return normal(t, payload)
}

// normal returns an error unless a value is of a type, and in its normal form.
func normal(t *schema.Type, of any) error {
	v, err := value.Of(of)
	if err != nil {
		return err
	}
	n, err := t.Normalize(v)
	if err == nil && !value.Equal(v, n) {
		err = errors.New("a value is not in its normal form")
	}
	return err
}

// checkStep checks an activation: it says what it gives in the one way in which that is written, and takes what its cell has next.
func (w *World) checkStep(e *journal.Event) error {
	m, _, err := w.def.ParseAddress(e.Node)
	if err != nil {
		return err
	}
	of, err := value.Of(e.Value)
	if err != nil {
		return err
	}
	step := steps.Read(e)
	if !value.Equal(of, step.Value()) {
		return errors.New("its value is not that of an activation")
	}
	if c := w.lookup(e.Node); c == nil || c.mail.Len() == 0 || c.mail.front().seq != step.Cause {
		return fmt.Errorf("cell %s has nothing from event %d to take", e.Node, step.Cause)
	}
	if step.State != nil {
		if err := normal(m.State, step.State); err != nil {
			return err
		}
	}
	for _, r := range step.Raised {
		if err := checkEvent(w.def, r.Event, r.Value, r.Cells); err != nil {
			return err
		}
	}
	for _, x := range step.Emitted {
		if x.Effect == machine.TimerEffect {
			continue
		}
		effect := w.def.Effect(x.Effect)
		if effect == nil {
			return fmt.Errorf("unknown effect %q of machine %q", x.Effect, m.Name)
		}
		if err := normal(effect.Params, x.Params); err != nil {
			return err
		}
	}
	return nil
}
