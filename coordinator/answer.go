package coordinator

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Ending is the event that a call's outcome makes: of a step, of one of its participants, or of its decision source.
func Ending(req reactive.Request, out any, err error) journal.Event {
	e := journal.Event{Type: journal.CallResponded, Attempt: req.Attempt}
	reply, isReply := out.(operation.Reply)
	if isReply {
		out = reply.Output
	}
	if req.Participant != "" || req.Decision != 0 || err != nil || len(reply.About) > 0 {
		e.Detail = &journal.Detail{Participant: req.Participant, Count: req.Decision}
	}
	switch {
	case err == nil:
		e.Value = out
		if len(reply.About) > 0 {
			e.Detail.About = reply.About
		}
	case req.Participant != "" && errors.Is(err, operation.ErrUnreachable):
		e.Type, e.Detail.State = journal.DispatchSettled, string(call.Unreachable)
		e.Detail.Failure, _ = operation.FailureOf(err)
	default:
		e.Type = journal.CallError
		e.Detail.Failure, e.Detail.RetryAt = operation.FailureOf(err)
	}
	if req.Decision != 0 {
		e.Type = journal.DecisionReceived
	}
	return e
}

// input is what a step is called with: its template, or what its Go function makes of it.
func (s *Stepper) input(v int32) (any, *journal.Failure) {
	in, failure := s.root.Input(v)
	if failure != nil || !s.root.Row(v).Func {
		return in, failure
	}
	return s.call(s.root.Place(v).Step.Func.Name, in, reactive.CodeInputResolution)
}

// call runs a Go function of the workflow. An error or a panic in it, or in the methods of what it returns, is a failure with
// that code; of a panic the details have the stack.
func (s *Stepper) call(name string, args any, code string) (out value.Value, failure *journal.Failure) {
	list, _ := args.([]any)
	text := ""
	guard := usercode.Call
	if g, ok := s.host.(Guard); ok {
		guard = g.Guard
	}
	err := guard(func() error {
		f := s.host.Function(name)
		if f == nil {
			return fmt.Errorf("%w: Go function %q", ErrMissing, name)
		}
		result, err := f.Call(list)
		if err == nil {
			out, err = value.Own(result)
		}
		if _, panicked := err.(*usercode.Panic); err != nil && !panicked {
			text = err.Error()
			_, err = operation.Settle(nil, nil, err)
		}
		return err
	})
	if err == nil {
		return out, nil
	}
	if text == "" {
		text = fmt.Sprintf("function %q: %v", name, err)
	}
	failure, _ = operation.FailureOf(err)
	return nil, &journal.Failure{Code: code, Message: text, Details: failure.Details}
}

// decided is what a Go function has made of a conditional or a map.
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
	if text := s.oversize("the list", e.Value); text != "" {
		failure = &journal.Failure{Code: operation.CodeTooLarge, Message: text}
	}
	if failure != nil {
		e.Value, e.Detail = nil, &journal.Detail{Failure: failure}
	}
	return e
}

// carryOut makes the calls that leave nothing behind, and so need not be journaled before they are made. It reports
// false for all others.
func (s *Stepper) carryOut(v int32, op *plan.Operation, input any) (out any, err error, done bool) {
	switch op.Kind {
	case plan.Value:
		if out, err = op.Bound.Value.Eval(s.binding(v, input)); err == nil {
			err = value.Fits(out, 0)
		}
		if err != nil {
			err = &operation.Error{Code: reactive.CodeInputResolution, Permanent: true, Err: err}
		}
		return out, err, true
	case plan.Fail:
		return nil, s.fail(v, op.Bound, input), true
	case plan.Call:
		return s.host.Pure(v, input)
	}
	return nil, nil, false
}

func (s *Stepper) fail(v int32, b *template.Bound, input any) error {
	env := s.binding(v, input)
	code, err := b.Code.Eval(env)
	if err == nil {
		var message value.Value
		if b.Message != nil {
			message, err = b.Message.Eval(env)
		}
		if err == nil && message == nil {
			message = ""
		}
		if err == nil {
			return &operation.Error{Code: value.Text(code), Message: value.Text(message), Permanent: true}
		}
	}
	return &operation.Error{Code: reactive.CodeInputResolution, Permanent: true, Err: err}
}

// appointment is what the journal has to know of a call that the engine itself will end: when, or by which message.
func (s *Stepper) appointment(v int32, op *plan.Operation, input any) (*journal.Detail, *journal.Failure) {
	switch op.Kind {
	case plan.Sleep:
		text, err := op.Bound.For.Eval(s.binding(v, input))
		var pause time.Duration
		if err == nil {
			pause, err = template.ParseDuration(value.Text(text))
		}
		if err != nil {
			return nil, &journal.Failure{Code: reactive.CodeInputResolution, Message: err.Error()}
		}
		return &journal.Detail{Due: call.After(s.now, pause)}, nil
	case plan.Wait:
		name, err := op.Bound.Wanted.Eval(s.binding(v, input))
		if err != nil {
			return nil, &journal.Failure{Code: reactive.CodeInputResolution, Message: err.Error()}
		}
		return &journal.Detail{Name: value.Text(name)}, nil
	}
	return nil, nil
}

// bindingEnv is what the expressions of a binding see.
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
