package machine

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Error returns the code and the message.
func (f *Failure) Error() string {
	if f.Message == "" {
		return f.Code
	}
	return f.Code + ": " + f.Message
}

// Step tries a machine alone: it runs one activation of a cell, whose address and state are given, at the beginning of 1970. A
// message's value is of the type of its name; its subscriptions do not matter. The error of an activation that fails is a
// *Failure.
func Step(w *template.Workflow, cell string, state value.Value, event Event) (*Output, error) {
	world, ok := Of(w)
	if !ok {
		return nil, fmt.Errorf("workflow %q is not a world", w.Name)
	}
	m, key, err := world.ParseAddress(cell)
	if err != nil {
		return nil, err
	}
	if state != nil {
		if state, err = m.State.Normalize(state); err != nil {
			return nil, fmt.Errorf("state of %s: %w", cell, err)
		}
	}
	if event.Kind == Message {
		if !m.takesMessage(event.Name) {
			return nil, fmt.Errorf("event %q is no arm of machine %q", event.Name, m.Name)
		}
		if event.Value, err = world.Types.Lookup(event.Name).Normalize(event.Value); err != nil {
			return nil, fmt.Errorf("event %s: %w", event.Name, err)
		}
		event = m.eventOf(event.Name, event.Value)
	}
	in := &Input{Machine: m, Key: key, State: state, Event: event}
	out, failure := (*Output)(nil), (*Failure)(nil)
	if m.Go != nil {
		activate, err := world.Own(m)
		if err != nil {
			return nil, err
		}
		out, failure = world.Run(activate, in, true)
	} else {
		out, failure = world.Step(in, &expr.Meter{})
	}
	if failure != nil {
		return nil, failure
	}
	return out, nil
}

// Own returns the step of a machine in Go whose code the world brings along.
func (w *World) Own(m *Machine) (Activate, error) {
	if code := w.code[*m.Go]; code != nil {
		return code.Bind(w, m)
	}
	return nil, m.Go.Missing()
}

// Missing returns the error of a program that does not have the machine.
func (i Implementation) Missing() error {
	return fmt.Errorf("the program does not have machine %q, version %q", i.Name, i.Version)
}
