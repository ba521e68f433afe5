package attempt

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Run runs one activation of a machine in Go, and checks its output. If twice, it runs the step a
// second time, and fails the activation with step_impure if the output differs.
func Run(w *machine.World, activate machine.Activate, in *machine.Input, twice bool) (*machine.Output, *machine.Failure) {
	given, failure := run(activate, in)
	if twice {
		if again, other := run(activate, in); !same(given, failure, again, other) {
			return nil, &machine.Failure{Code: machine.CodeStepImpure, Message: fmt.Sprintf(
				"the step of machine %q gave something else the second time: see machinevet", in.Machine.Name)}
		}
	}
	if failure != nil {
		return nil, failure
	}
	return w.Check(in, given)
}

// run runs a step once.
func run(activate machine.Activate, in *machine.Input) (*machine.Given, *machine.Failure) {
	given, err := activate(in)
	if err == nil {
		return given, nil
	}
	err = usercode.Finite(err) // it may be its own cause
	if failure, ok := errors.AsType[*machine.Failure](err); ok && failure.Code != "" {
		return nil, &machine.Failure{Code: clip(failure.Code, codeMax), Message: clip(failure.Message, messageMax)}
	}
	return nil, &machine.Failure{Code: machine.CodeStepFailed, Message: clip(err.Error(), messageMax)}
}

// Bounds of the texts that a step fails with, in bytes.
const (
	codeMax    = 128
	messageMax = 4 << 10
	stackMax   = 16 << 10
)

// clip shortens a text of the program to most bytes and an ellipsis, and replaces invalid UTF-8, so that it can be
// journaled.
func clip(text string, most int) string {
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// same reports whether two runs of a step returned the same.
func same(a *machine.Given, af *machine.Failure, b *machine.Given, bf *machine.Failure) bool {
	if af != nil || bf != nil {
		return af != nil && bf != nil && *af == *bf
	}
	x, errX := value.Encode(document(a))
	y, errY := value.Encode(document(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// document returns all results as one value.
func document(g *machine.Given) value.Value {
	raised, emitted, dropped := make([]any, len(g.Raised)), make([]any, len(g.Emitted)), make([]any, len(g.Dropped))
	for i, r := range g.Raised {
		raised[i] = []any{r.Name, r.Value}
	}
	for i, e := range g.Emitted {
		emitted[i] = []any{e.Effect, e.Params, e.Issuer, e.Key, e.Timer, e.Due}
	}
	for i, d := range g.Dropped {
		dropped[i] = []any{d.Effect, d.Issuer}
	}
	return []any{g.Ignored, g.State, raised, emitted, dropped, g.Completed, g.Noted, g.Note}
}

// Panicked returns the failure of a step that has panicked.
func Panicked(reason, stack string) *machine.Failure {
	return &machine.Failure{Code: machine.CodeStepPanicked, Message: clip(reason, messageMax), Stack: clip(stack, stackMax)}
}
