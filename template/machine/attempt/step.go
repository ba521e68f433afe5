// Package attempt runs single activations: those of machines in Go for drivers of a world, and any for tests.
//
//	out, err := attempt.Step(w, "order[o-1]", state, machine.Event{Kind: machine.Message, Name: "Placed", Value: placed})
//
// Run runs a step in Go once, or twice to detect a result that differs. It does not guard against panics and steps that do not
// return: its caller does. All functions are pure if the steps are.
package attempt

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Step tries a machine without a run: it runs one activation of a cell, with an address and a state, at the beginning of 1970. A step in
// Go runs twice. The value of a message has the type of its name; subscriptions do not matter. The error of an activation that fails is a
// *machine.Failure.
func Step(w *template.Workflow, cell string, state value.Value, event machine.Event) (*machine.Output, error) {
	world, ok := machine.Of(w)
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
	if event.Kind == machine.Message {
		if event, err = world.Message(m, event.Name, event.Value); err != nil {
			return nil, err
		}
	}
	out, failure, err := step(world, &machine.Input{Machine: m, Key: key, State: state, Event: event})
	if failure != nil {
		return nil, failure
	}
	return out, err
}

func step(w *machine.World, in *machine.Input) (out *machine.Output, failure *machine.Failure, err error) {
	if in.Machine.Go == nil {
		out, failure = w.Step(in, &expr.Meter{})
		return out, failure, nil
	}
	activate, err := w.Own(in.Machine)
	if err != nil {
		return nil, nil, err
	}
	out, failure = Run(w, activate, in, true)
	return out, failure, nil
}
