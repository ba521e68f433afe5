package machine

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Step runs one activation of a machine with rules. It evaluates the rules and checks their values, and returns the whole output, or a
// Failure. The meter, which may be nil, counts the work of the expressions.
//
// Step is a pure function of its input, which it does not change.
func (w *World) Step(in *Input, meter *expr.Meter) (*Output, *Failure) {
	if in.Machine.Go != nil {
		return nil, &Failure{Code: CodeStepFailed, Message: in.Machine.Go.Missing().Error()}
	}
	env := &scope{in: in, meter: meter, state: in.State}
	for _, rule := range in.Machine.Rules {
		event, about := rule.On.about(in)
		if !about {
			continue
		}
		env.event = event
		holds, failure := env.holds(rule)
		if failure != nil {
			return nil, failure
		}
		if holds {
			return w.apply(rule, env)
		}
	}
	return &Output{Ignored: true}, nil
}

// about reports whether a rule is about the event of an activation, and returns the value that it sees as event.
func (o On) about(in *Input) (value.Value, bool) {
	e := &in.Event
	switch o.Kind {
	case Message:
		if e.Kind != Message {
			return nil, false
		}
		if o.Whole && e.Name != o.Name {
			return wrap(in.Machine.Event.Tags[e.Name], e.Value), true
		}
		return e.Value, e.Name == o.Name
	case Receipt:
		if o.Name == "" { // a timer that fires is a receipt too
			return e.Value, e.Kind == Receipt || e.Kind == Timer
		}
		return e.Value, e.Kind == Receipt && e.Name == o.Name && (o.Issuer == "" || o.Issuer == issuerOf(e.Value))
	case Timer:
		return e.Value, e.Kind == Timer && (o.Issuer == "" || o.Issuer == e.Name)
	}
	return e.Value, e.Kind == o.Kind
}

// issuerOf returns the issuer that a receipt names, "" for none.
func issuerOf(receipt value.Value) string {
	object, _ := receipt.(map[string]any)
	issuer, _ := object["issuer"].(string)
	return issuer
}

// holds evaluates the guard of a rule.
func (s *scope) holds(rule *Rule) (bool, *Failure) {
	if rule.When == nil {
		return true, nil
	}
	holds, err := rule.When.EvalBool(s)
	if err != nil {
		return false, evaluation("when", err)
	}
	return holds, nil
}

// evaluation is the failure of an expression at a place of a rule.
func evaluation(place string, err error) *Failure {
	code := CodeStepFailed
	if errors.Is(err, expr.ErrLimit) {
		code = CodeLimitExceeded
	}
	return &Failure{Code: code, Message: place + ": " + err.Error()}
}

// apply carries out a rule that holds.
func (w *World) apply(rule *Rule, env *scope) (*Output, *Failure) {
	if rule.Fail != nil {
		return nil, env.fail(rule.Fail)
	}
	a := &activation{world: w, env: env, out: &Output{Completed: rule.Complete, Dropped: rule.Drop}}
	if failure := a.state(rule); failure != nil {
		return nil, failure
	}
	for i := range rule.Raise {
		if failure := a.raise(i, &rule.Raise[i]); failure != nil {
			return nil, failure
		}
	}
	for i := range rule.Emit {
		if failure := a.emit(i, &rule.Emit[i]); failure != nil {
			return nil, failure
		}
	}
	if rule.Note != nil {
		note, err := rule.Note.Eval(env)
		if err != nil {
			return nil, evaluation("note", err)
		}
		if failure := a.note(note); failure != nil {
			return nil, failure
		}
	}
	return a.out, nil
}

// fail evaluates the failure that a rule asks for.
func (s *scope) fail(f *FailRule) *Failure {
	code, failure := s.text("fail.code", f.Code)
	if failure != nil {
		return failure
	}
	if code == "" {
		return &Failure{Code: CodeOutputInvalid, Message: "fail.code: must not be empty"}
	}
	message := ""
	if f.Message != nil {
		if message, failure = s.text("fail.message", f.Message); failure != nil {
			return failure
		}
	}
	return &Failure{Code: code, Message: message}
}

// text evaluates an expression whose value must be a text; null counts as "".
func (s *scope) text(place string, t *expr.Template) (string, *Failure) {
	v, err := t.Eval(s)
	if err != nil {
		return "", evaluation(place, err)
	}
	text, isText := v.(string)
	if !isText && v != nil {
		return "", &Failure{Code: CodeOutputInvalid, Message: fmt.Sprintf("%s: must be a text, not %s", place, value.Describe(v))}
	}
	return text, nil
}
