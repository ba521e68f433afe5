package machine

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/sluiceflow/sluice/template/machine"
)

// EffectOf is the handle of an effect: its name, and the Go types of its params and of the payload of its receipts.
type EffectOf[Params, Receipt any] struct{ name string }

// Effect returns the handle of an effect.
func Effect[Params, Receipt any](name string) EffectOf[Params, Receipt] {
	return EffectOf[Params, Receipt]{name}
}

// Emitted is the handle of an effect or a timer that a machine may emit: an EffectOf, or Timer.
type Emitted interface{ emitted() emitted }

// emitted describes an effect. A timer has no types.
type emitted struct {
	name            string
	params, receipt reflect.Type
}

func (e EffectOf[Params, Receipt]) emitted() emitted {
	return emitted{e.name, reflect.TypeFor[Params](), reflect.TypeFor[Receipt]()}
}

// Name returns the name of the effect.
func (e EffectOf[Params, Receipt]) Name() string { return e.name }

// timers is the type of Timer.
type timers struct{}

func (timers) emitted() emitted { return emitted{name: machine.TimerEffect} }

// Timer is emitted by machines that arm timers.
var Timer Emitted = timers{}

// An EmitOption adds to an effect that is emitted.
type EmitOption func(*machine.GivenEffect)

// Issuer names the emission. Its receipt has the name, and `Drop("pay.card")` drops it.
func Issuer(name string) EmitOption { return func(e *machine.GivenEffect) { e.Issuer = name } }

// IdempotencyKey sets the operation's idempotency key, after the cell and the effect. An emission with the same key has the
// same idempotency key, so that the effect happens once. Without this option each emission has its own.
func IdempotencyKey(key string) EmitOption { return func(e *machine.GivenEffect) { e.Key = key } }

// emissions returns the number of effects and timers that the step has emitted.
func (a *activation) emissions() (n int) {
	a.ask(func(g *machine.Given) { n = len(g.Emitted) })
	return n
}

// raises returns the number of messages that the step has raised.
func (a *activation) raises() (n int) {
	a.ask(func(g *machine.Given) { n = len(g.Raised) })
	return n
}

// Emit asks for the effect. Its receipt comes back as an event.
func (e EffectOf[Params, Receipt]) Emit(a Emitter, params Params, options ...EmitOption) {
	x := a.asked()
	codec := x.binding.params[e.name]
	if codec == nil || codec.GoType() != reflect.TypeFor[Params]() {
		x.refuse(machine.CodeEffectUndeclared, "emit "+e.name, errUndeclared)
		return
	}
	v, err := codec.Encode(reflect.ValueOf(&params).Elem())
	if err != nil {
		x.refuse(machine.CodeParamsInvalid, fmt.Sprintf("emit[%d] %s", x.emissions(), e.name), err)
		return
	}
	given := machine.GivenEffect{Effect: e.name, Params: v}
	for _, option := range options {
		option(&given)
	}
	x.ask(func(g *machine.Given) { g.Emitted = append(g.Emitted, given) })
}

// EventOf is the handle of a message that machines raise.
type EventOf[T any] struct{ name string }

// Event returns the handle of a message. Its name is that of the Go type unless another is passed.
func Event[T any](name ...string) EventOf[T] {
	if len(name) > 0 {
		return EventOf[T]{name[0]}
	}
	return EventOf[T]{reflect.TypeFor[T]().Name()}
}

// RaisedEvent is the handle of an event that a machine may raise: an EventOf.
type RaisedEvent interface{ raised() (string, reflect.Type) }

func (e EventOf[T]) raised() (string, reflect.Type) { return e.name, reflect.TypeFor[T]() }

// Name returns the name of the message.
func (e EventOf[T]) Name() string { return e.name }

// Raise sends a message to the cells that subscribe to it, of any machine. They take it after this activation.
func (e EventOf[T]) Raise(a Emitter, message T) {
	x := a.asked()
	place := func() string { return fmt.Sprintf("raise[%d] %s", x.raises(), e.name) }
	codec := x.binding.raises[e.name]
	if codec == nil || codec.GoType() != reflect.TypeFor[T]() {
		x.refuse(machine.CodeOutputInvalid, place(), errors.New("the definition of the machine does not say that it raises it: see Raises"))
		return
	}
	v, err := codec.Encode(reflect.ValueOf(&message).Elem())
	if err != nil {
		x.refuse(machine.CodeOutputInvalid, place(), err)
		return
	}
	x.ask(func(g *machine.Given) { g.Raised = append(g.Raised, machine.GivenEvent{Name: e.name, Value: v}) })
}

var (
	errUndeclared = errors.New("the definition of the machine does not say that it emits it: see Emits")
	errTooLate    = errors.New("is due before the year 1678 or after the year 2262")

	firstInstant, lastInstant = time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64)
)
