package machine

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/value"
)

// Code is a machine that is written in Go. Its address is its identity: make it once. It is immutable and safe for concurrent
// use.
type Code struct {
	Implementation

	// Bind returns the step of a machine of a world. The error says where the Go types of the code do not fit the types of
	// the world.
	Bind func(w *World, m *Machine) (Activate, error)
}

// Activate runs the step of one activation and returns its output. It is a pure function of its input. An error fails the
// cell: a *Failure with its own code, any other with step_failed.
type Activate func(in *Input) (*Given, error)

// Given is the output of a step in Go, before it is checked.
type Given struct {
	Ignored   bool          // the step is not about the event
	State     value.Value   // the new state; nil: it is deleted, or there is none
	Raised    []GivenEvent  // in order
	Emitted   []GivenEffect // in order
	Dropped   []Drop        // in order
	Completed bool          // the cell has ended
	Note      value.Value   // if Noted
	Noted     bool          // there is a note
}

// GivenEvent is a message that a step raises.
type GivenEvent struct {
	Name  string      // a type
	Value value.Value // of that type
}

// GivenEffect is an effect that a step emits, or a timer that it arms.
type GivenEffect struct {
	Effect string      // "": a timer
	Params value.Value // of an effect
	Issuer string      // named in its receipt; "": none
	Key    string      // idempotency key; "": none
	Timer  string      // name of the timer
	Due    int64       // of a timer: nanoseconds since 1970
}

// Provide adds the code of a machine that the world names. It reports false, and changes nothing, if the
// world has other code of that name and version.
func (w *World) Provide(code *Code) bool {
	if known := w.code[code.Implementation]; known != nil {
		return known == code
	}
	if w.code == nil {
		w.code = map[Implementation]*Code{}
	}
	w.code[code.Implementation] = code
	return true
}

// Has reports whether the world has the code of a machine.
func (w *World) Has(i Implementation) bool { return w.code[i] != nil }

// Provided returns the code that was passed to Provide, in the order of the machines.
func (w *World) Provided() (list []*Code) {
	for _, m := range w.Machines {
		if m.Go == nil {
			continue
		}
		if code := w.code[*m.Go]; code != nil && !slices.Contains(list, code) {
			list = append(list, code)
		}
	}
	return list
}

// Check checks the output of a step. It returns the whole output of the activation, or its failure.
func (w *World) Check(in *Input, g *Given) (*Output, *Failure) {
	if g.Ignored {
		return &Output{Ignored: true}, nil
	}
	a := &activation{world: w, env: &scope{in: in, state: in.State}, out: &Output{Completed: g.Completed, Dropped: g.Dropped}}
	if g.State == nil {
		a.out.Changed = in.State != nil
	} else if failure := a.setState(g.State); failure != nil {
		return nil, failure
	}
	for i := range g.Raised {
		if failure := a.raised(i, g.Raised[i].Name, g.Raised[i].Value); failure != nil {
			return nil, failure
		}
	}
	for i := range g.Emitted {
		if failure := a.addGiven(i, &g.Emitted[i]); failure != nil {
			return nil, failure
		}
	}
	if g.Noted {
		if in.Machine.Annotations == nil {
			return nil, &Failure{Code: CodeOutputInvalid, Message: fmt.Sprintf("note: machine %q has no annotations", in.Machine.Name)}
		}
		if failure := a.note(g.Note); failure != nil {
			return nil, failure
		}
	}
	return a.out, nil
}

// addGiven adds an emitted effect, or an armed timer.
func (a *activation) addGiven(i int, e *GivenEffect) *Failure {
	for _, text := range []string{e.Issuer, e.Key, e.Timer} {
		if !utf8.ValidString(text) {
			return &Failure{Code: CodeOutputInvalid, Message: fmt.Sprintf("emit[%d]: %q is not valid UTF-8", i, text)}
		}
	}
	if e.Effect != "" {
		return a.emitted(i, e.Effect, Emission{Params: e.Params, Issuer: e.Issuer, Key: e.Key})
	}
	if !a.env.in.Machine.MayEmit(TimerEffect) {
		return undeclared(a.env.in.Machine, TimerEffect)
	}
	if failure := a.room(); failure != nil {
		return failure
	}
	return a.open(Emission{Timer: e.Timer, Due: e.Due})
}

// DropOf returns the open intents that a name selects, such as pay, pay.ISSUER or timer.NAME. It reports false if the machine
// does not emit the effect.
func (m *Machine) DropOf(name string) (Drop, bool) {
	effect, issuer, ok := splitEffect(name, m.MayEmit)
	return Drop{Effect: effect, Issuer: issuer}, ok
}

// Own returns the step of a machine in Go, from the code that was provided for the world.
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

// Message returns the part of a message that cells of a machine receive, the same for all subscribers.
func (w *World) Message(m *Machine, name string, payload value.Value) (Event, error) {
	if !m.takesMessage(name) {
		return Event{}, fmt.Errorf("event %q is no arm of machine %q", name, m.Name)
	}
	v, err := w.Types.Lookup(name).Normalize(payload)
	if err != nil {
		return Event{}, fmt.Errorf("event %s: %w", name, err)
	}
	return m.eventOf(name, v), nil
}
