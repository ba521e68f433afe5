package decide

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Ending returns the event of a call's result: the call of a step, of a participant, or of a decision source.
func Ending(req reactive.Request, r call.Result) journal.Event {
	e := journal.Event{Type: journal.CallResponded, Attempt: req.Attempt}
	if req.Participant != "" || req.Decision != 0 || r.Failure != nil || len(r.About) > 0 {
		e.Detail = &journal.Detail{Participant: req.Participant, Count: req.Decision}
	}
	switch {
	case r.Failure == nil:
		e.Value = r.Output
		if len(r.About) > 0 {
			e.Detail.About = r.About
		}
	case req.Participant != "" && r.Unreachable:
		e.Type, e.Detail.State = journal.DispatchSettled, string(call.Unreachable)
		e.Detail.Failure = r.Failure
	default:
		e.Type = journal.CallError
		e.Detail.Failure, e.Detail.RetryAt = r.Failure, r.RetryAt
	}
	if req.Decision != 0 {
		e.Type = journal.DecisionReceived
	}
	return e
}

// input returns the input of a step's call, from its template or its Go function.
func (s *Stepper) input(v int32) (any, *journal.Failure) {
	if set, ok := s.root.InputFor(v); ok {
		return set, nil
	}
	in, failure := s.root.Input(v)
	if failure != nil || !s.root.Row(v).Func {
		return in, failure
	}
	return s.call(s.root.Place(v).Step.Func.Name, in, reactive.CodeInputResolution)
}

// call calls a Go function of the workflow. A failure has the given code.
func (s *Stepper) call(name string, args any, code string) (value.Value, *journal.Failure) {
	list, _ := args.([]any)
	out, failure := s.host.Function(name, list)
	if failure != nil {
		return nil, &journal.Failure{Code: code, Message: failure.Message, Details: failure.Details}
	}
	return out, nil
}

// decided returns the event with a Go function's answer for a conditional or a map.
func (s *Stepper) decided(v int32) journal.Event {
	row := s.root.Place(v)
	args, failure := s.root.Arguments(v)
	e := journal.Event{Type: journal.BranchDecided}
	code := reactive.CodeTest
	if row.Kind == plan.Map {
		e.Type, code = journal.MapExpanded, reactive.CodeOver
	}
	if failure == nil {
		e.Value, failure = s.call(row.Func, args, code)
	}
	if f := s.oversize(reactive.CodeOutputTooLarge, "the list", e.Value); f != nil {
		failure = f
	}
	if failure != nil {
		e.Value, e.Detail = nil, &journal.Detail{Failure: failure}
	}
	return e
}

// carryOut makes a call without side effects, whose request need not be durable before. It reports false for all other calls.
func (s *Stepper) carryOut(v int32, op *plan.Operation, input any) (result call.Result, done bool) {
	switch op.Kind {
	case plan.Value:
		out, err := op.Bound.Value.Eval(s.binding(v, input))
		if err == nil {
			err = value.Fits(out, 0)
		}
		if err != nil {
			return unresolved(err), true
		}
		return call.Result{Output: out}, true
	case plan.Fail:
		return s.fail(v, op.Bound, input), true
	case plan.Call:
		return s.host.Pure(v, input)
	}
	return call.Result{}, false
}

// fail returns the result of an operation that fails by its binding.
func (s *Stepper) fail(v int32, b *template.Bound, input any) call.Result {
	env := s.binding(v, input)
	code, err := b.Code.Eval(env)
	var message value.Value = ""
	if err == nil && b.Message != nil {
		message, err = b.Message.Eval(env)
	}
	if err == nil && code == nil {
		err = errors.New("the code is null")
	}
	if err != nil {
		return unresolved(err)
	}
	if message == nil {
		message = ""
	}
	return call.Result{Failure: call.NewFailure(value.Text(code), value.Text(message))}
}

func unresolved(err error) call.Result {
	return call.Result{Failure: call.NewFailure(reactive.CodeInputResolution, err.Error())}
}

// ending returns the details of a call that the engine itself ends, at an instant or by a message.
func (s *Stepper) ending(v int32, op *plan.Operation, input any) (*journal.Detail, *journal.Failure) {
	switch op.Kind {
	case plan.Sleep:
		text, err := op.Bound.For.Eval(s.binding(v, input))
		var pause time.Duration
		if err == nil {
			pause, err = duration.Parse(value.Text(text))
		}
		if err != nil {
			return nil, &journal.Failure{Code: reactive.CodeInputResolution, Message: err.Error()}
		}
		return &journal.Detail{Due: call.After(s.now, pause)}, nil
	case plan.Wait:
		of, err := op.Bound.Wanted.Eval(s.binding(v, input))
		name := value.Text(of)
		switch {
		case err == nil && of == nil:
			err = errors.New("the name of the message is null")
		case err == nil && name == "":
			err = errors.New("the name of the message is empty")
		}
		if err = cmp.Or(err, document.Visible(name)); err != nil { // such a message is never accepted
			return nil, &journal.Failure{Code: reactive.CodeInputResolution, Message: err.Error()}
		}
		return &journal.Detail{Name: name}, nil
	}
	return nil, nil
}

// bindingEnv resolves the names of a binding's expressions.
type bindingEnv struct {
	root    *reactive.Root
	run     expr.Env
	input   any
	attempt int32
}

func (s *Stepper) binding(v int32, input any) expr.Env {
	return bindingEnv{s.root, s.root.Env(v), input, s.root.Attempt(v)}
}

// Meter counts the work of the run's expressions.
func (b bindingEnv) Meter() *expr.Meter { return b.root.Meter() }

func (b bindingEnv) Name(name string) (value.Value, error) {
	switch name {
	case "input":
		return value.Of(b.input)
	case "attempt":
		return int64(b.attempt), nil
	case "participant":
		return nil, nil
	}
	return b.run.Name(name)
}

func (b bindingEnv) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("a binding sees no steps, such as %q: pass it by the step's input", id)
}

// Reported returns the event of a report: the number-th of one making of a call.
func Reported(req reactive.Request, making, number int32, kind string, payload value.Value) journal.Event {
	return journal.Event{Type: journal.CallReported, Attempt: req.Attempt, Value: payload, Detail: &journal.Detail{
		Participant: req.Participant, Making: making, Count: number, Name: kind,
	}}
}

// PauseFromAbove returns the event that passes a pause of a run, or its end, to a child run.
func PauseFromAbove(parent string, paused bool) journal.Event {
	e := journal.Event{Type: journal.RunResumed, Detail: &journal.Detail{Cause: parent}}
	if paused {
		e.Type = journal.RunPaused
	}
	return e
}
