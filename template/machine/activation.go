package machine

import (
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// activation checks the outputs of an activation, one by one and in order, and collects them. Its methods return the failure of an
// invalid output.
type activation struct {
	world *World
	env   *scope
	out   *Output
	size  int // bytes of the encodings of the outputs, at most
}

// state computes the new state of a rule.
func (a *activation) state(rule *Rule) *Failure {
	if rule.Delete {
		a.out.Changed = a.env.state != nil
		a.env.state = nil
		return nil
	}
	if rule.Set == nil && rule.SetAll == nil {
		return nil
	}
	v, failure := a.set(rule)
	if failure != nil {
		return failure
	}
	return a.setState(v)
}

// setState sets the state.
func (a *activation) setState(v value.Value) *Failure {
	state, err := a.env.in.Machine.State.Normalize(v)
	if err != nil {
		return invalid(CodeOutputInvalid, "state", err)
	}
	if failure := a.weigh(state); failure != nil {
		return failure
	}
	if !value.Equal(state, a.env.in.State) {
		a.out.Changed, a.out.State = true, state
	}
	a.env.state = state
	return nil
}

// set evaluates the assignments of a rule, over the state before.
func (a *activation) set(rule *Rule) (value.Value, *Failure) {
	before, _ := a.env.state.(map[string]any)
	if rule.SetAll == nil {
		over := make(map[string]any, len(before)+len(rule.Set))
		maps.Copy(over, before)
		for i := range rule.Set {
			v, err := rule.Set[i].Value.Eval(a.env)
			if err != nil {
				return nil, evaluation("set."+rule.Set[i].Name, err)
			}
			over[rule.Set[i].Name] = v
		}
		return over, nil
	}
	v, err := rule.SetAll.Eval(a.env)
	if err != nil {
		return nil, evaluation("set", err)
	}
	given, isObject := v.(map[string]any)
	if !isObject || !laidOver(a.env.in.Machine.State) {
		return v, nil
	}
	over := make(map[string]any, len(before)+len(given))
	maps.Copy(over, before)
	maps.Copy(over, given)
	return over, nil
}

// raise adds a message of a rule.
func (a *activation) raise(i int, rule *RaiseRule) *Failure {
	var v value.Value
	if rule.Value != nil {
		var err error
		if v, err = rule.Value.Eval(a.env); err != nil {
			return evaluation(raisePlace(i, rule.Event), err)
		}
	}
	return a.raised(i, rule.Event, v)
}

func raisePlace(i int, event string) string { return fmt.Sprintf("raise[%d] %s", i, event) }

// raised adds a message.
func (a *activation) raised(i int, event string, v value.Value) *Failure {
	if len(a.out.Raised) == RaisedMax {
		return &Failure{Code: CodeLimitExceeded, Message: fmt.Sprintf("it raises more than %d messages", RaisedMax)}
	}
	routed, err := a.world.Route(event, v)
	if err != nil {
		return invalid(CodeOutputInvalid, raisePlace(i, event), err)
	}
	if failure := a.weigh(routed.Payload); failure != nil {
		return failure
	}
	for _, d := range routed.To { // each has an address in the event of the activation
		if failure := a.weigh(d.Key); failure != nil {
			return failure
		}
	}
	a.out.Raised = append(a.out.Raised, Raised{Name: event, Value: routed.Payload, To: routed.To})
	return nil
}

// emit adds an effect or a timer of a rule.
func (a *activation) emit(i int, rule *EmitRule) *Failure {
	if rule.Effect == "" {
		return a.arm(i, rule)
	}
	e := Emission{}
	place := emitPlace(i, rule.Effect)
	if rule.Params != nil {
		var err error
		if e.Params, err = rule.Params.Eval(a.env); err != nil {
			return evaluation(place+".params", err)
		}
	}
	var failure *Failure
	if rule.Issuer != nil {
		if e.Issuer, failure = a.env.text(place+".issuer", rule.Issuer); failure != nil {
			return failure
		}
	}
	if rule.Key != nil {
		if e.Key, failure = a.env.text(place+".key", rule.Key); failure != nil {
			return failure
		}
	}
	return a.emitted(i, rule.Effect, e)
}

func emitPlace(i int, effect string) string { return fmt.Sprintf("emit[%d] %s", i, effect) }

// emitted adds an effect, which has its params as passed.
func (a *activation) emitted(i int, effect string, e Emission) *Failure {
	if failure := a.room(); failure != nil {
		return failure
	}
	if e.Effect = a.env.in.Machine.emits[effect]; e.Effect == nil {
		return undeclared(a.env.in.Machine, effect)
	}
	var err error
	if e.Params, err = e.Effect.Params.Normalize(e.Params); err != nil {
		return invalid(CodeParamsInvalid, emitPlace(i, effect), err)
	}
	return a.open(e)
}

// open adds an effect or a timer, in the form in which it is journaled.
func (a *activation) open(e Emission) *Failure {
	a.out.Emitted = append(a.out.Emitted, e)
	for _, part := range []value.Value{e.Params, e.Issuer, e.Key, e.Timer} {
		if failure := a.weigh(part); failure != nil {
			return failure
		}
	}
	return nil
}

// room refuses one more effect or timer than an activation may return.
func (a *activation) room() *Failure {
	if len(a.out.Emitted) == EmittedMax {
		return &Failure{Code: CodeLimitExceeded, Message: fmt.Sprintf("it emits more than %d effects and timers", EmittedMax)}
	}
	return nil
}

// undeclared is the failure of an effect that a machine does not declare.
func undeclared(m *Machine, effect string) *Failure {
	return &Failure{Code: CodeEffectUndeclared, Message: fmt.Sprintf("machine %q emits %q, which is not in its emits", m.Name, effect)}
}

// arm adds a timer of a rule.
func (a *activation) arm(i int, rule *EmitRule) *Failure {
	if failure := a.room(); failure != nil {
		return failure
	}
	place := fmt.Sprintf("emit[%d] timer.%s", i, rule.Timer)
	e := Emission{Timer: rule.Timer}
	if rule.For != nil {
		text, failure := a.env.text(place+".for", rule.For)
		if failure != nil {
			return failure
		}
		d, err := duration.Parse(text)
		if err != nil {
			return invalid(CodeOutputInvalid, place, err)
		}
		if e.Due = a.env.in.Now + int64(d); e.Due < a.env.in.Now {
			return &Failure{Code: CodeOutputInvalid, Message: place + ": is due after the year 2262"}
		}
	} else {
		text, failure := a.env.text(place+".until", rule.Until)
		if failure != nil {
			return failure
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || at.Before(time.Unix(0, math.MinInt64)) || at.After(time.Unix(0, math.MaxInt64)) {
			return &Failure{Code: CodeOutputInvalid, Message: fmt.Sprintf("%s: %q is no instant such as 2027-01-31T12:00:00Z, before the year 2262", place, text)}
		}
		e.Due = at.UnixNano()
	}
	return a.open(e)
}

// note sets the annotation.
func (a *activation) note(v value.Value) *Failure {
	note, err := a.env.in.Machine.Annotations.Normalize(v)
	if err != nil {
		return invalid(CodeOutputInvalid, "note", err)
	}
	a.out.Note, a.out.Noted = note, true
	return a.weigh(note)
}

// weigh adds the size of a part of the output. Every part that the event of the activation holds counts: an event above the maximum size
// could never be stored, and would stop its world.
func (a *activation) weigh(v value.Value) *Failure {
	size, err := value.Size(v, OutputMax-a.size)
	if err != nil {
		return invalid(CodeOutputInvalid, "size", err)
	}
	if a.size += size; a.size > OutputMax {
		return &Failure{Code: CodeLimitExceeded, Message: fmt.Sprintf("its output takes more than %d bytes in all", OutputMax)}
	}
	return nil
}

// invalid is the failure of a value that does not fit at a place.
func invalid(code, place string, err error) *Failure {
	return &Failure{Code: code, Message: place + ": " + err.Error()}
}

// Receive returns the payload of an effect's receipt: made of the output of its call, and normalised. If that does not fit the effect, it
// returns an error with the payload as it was made, or with the output if none could be made. The meter, which may be nil, counts the
// work of the expression.
func (e *Effect) Receive(output value.Value, meter *expr.Meter) (value.Value, error) {
	payload := output
	if e.Payload != nil {
		var err error
		if payload, err = e.Payload.Eval(payloadScope{output, meter}); err != nil {
			return output, err
		}
	}
	v, err := e.Receipt.Normalize(payload)
	if err != nil {
		return payload, err
	}
	return v, nil
}
