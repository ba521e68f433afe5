package machine

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/template/flow/machine/entropy"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/schema"
)

// Activation is one step of one cell: its input, except the state and the event, and its requests. The requests count if the step returns
// a nil error. The activation ends with the step: later requests of goroutines that the step has started have no effect.
type Activation[Key any] struct {
	inner *activation
	key   Key
}

// Emitter is an Activation of any key.
type Emitter interface{ asked() *activation }

func (a *Activation[Key]) asked() *activation { return a.inner }

// activation collects the requests of a step.
type activation struct {
	in      *machine.Input
	binding *binding
	entropy *entropy.Source
	rand    *entropy.Rand

	mu      sync.Mutex // goroutines that the step has started may still send requests
	ended   bool
	given   machine.Given
	failure *machine.Failure // of the first invalid request
}

// ask adds a request of the step, unless it has ended.
func (a *activation) ask(add func(*machine.Given)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		add(&a.given)
	}
}

// end ends the activation. It returns the requests of the step, which no longer change, or the first failure.
func (a *activation) end() (*machine.Given, *machine.Failure) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	return &a.given, a.failure
}

// refuse records the first failure, which fails the activation.
func (a *activation) refuse(code, place string, err error) {
	a.ask(func(*machine.Given) {
		if a.failure == nil {
			a.failure = &machine.Failure{Code: code, Message: place + ": " + err.Error()}
		}
	})
}

// source returns the entropy of the activation, which few need.
func (a *activation) source() *entropy.Source {
	if a.entropy == nil {
		a.entropy = entropy.New(a.in.Seed, a.in.Seq)
	}
	return a.entropy
}

// Now returns the instant of the activation, in UTC.
func (a *Activation[Key]) Now() time.Time { return time.Unix(0, a.inner.in.Now).UTC() }

// Key returns the key of the cell. It is zero if the machine has none.
func (a *Activation[Key]) Key() Key { return a.key }

// Cell returns the address of the cell, machine[key].
func (a *Activation[Key]) Cell() string { return machine.Address(a.inner.in.Machine, a.inner.in.Key) }

// Seq returns the sequence of the activation's event in the journal.
func (a *Activation[Key]) Seq() uint64 { return a.inner.in.Seq }

// Rand returns random numbers, which are the same when the activation runs again.
func (a *Activation[Key]) Rand() *entropy.Rand {
	if a.inner.rand == nil {
		a.inner.rand = a.inner.source().Rand()
	}
	return a.inner.rand
}

// UUID draws a UUID of version 4, which is the same when the activation runs again.
func (a *Activation[Key]) UUID() string { return a.inner.source().UUID() }

// Complete ends the cell, which keeps its state. Open intents end with it. A process ends by Complete; an entity is
// completed whenever no intent is open.
func (a *Activation[Key]) Complete() {
	a.inner.ask(func(g *machine.Given) { g.Completed = true })
}

// Ignore marks the event as ignored: the result and the requests of the step do not count.
func (a *Activation[Key]) Ignore() { a.inner.ask(func(g *machine.Given) { g.Ignored = true }) }

// Drop drops the open intents of the cell that have the names: pay for all of an effect, pay.ISSUER for those of an issuer,
// timer.NAME for a timer. They end before those that the step emits begin.
func (a *Activation[Key]) Drop(names ...string) {
	for _, name := range names {
		drop, ok := a.inner.in.Machine.DropOf(name)
		if !ok {
			a.inner.refuse(machine.CodeEffectUndeclared, "drop "+name, errUndeclared)
			continue
		}
		a.inner.ask(func(g *machine.Given) { g.Dropped = append(g.Dropped, drop) })
	}
}

// After arms a timer of the cell. Arming an armed timer arms a second one: to replace it, drop it first. The machine must
// declare Timer with Emits.
func (a *Activation[Key]) After(timer string, d time.Duration) {
	due := a.inner.in.Now + int64(d)
	if d > 0 && due < a.inner.in.Now {
		a.inner.refuse(machine.CodeOutputInvalid, "timer."+timer, errTooLate)
	}
	a.inner.arm(timer, due)
}

// At arms a timer that is due at an instant.
func (a *Activation[Key]) At(timer string, at time.Time) {
	if at.Before(firstInstant) || at.After(lastInstant) {
		a.inner.refuse(machine.CodeOutputInvalid, "timer."+timer, errTooLate)
	}
	a.inner.arm(timer, at.UnixNano())
}

func (a *activation) arm(timer string, due int64) {
	a.ask(func(g *machine.Given) { g.Emitted = append(g.Emitted, machine.GivenEffect{Timer: timer, Due: due}) })
}

// Note annotates the activation. The note is of the type that the definition declares with Notes.
func (a *Activation[Key]) Note(note any) {
	codec := a.inner.binding.note
	if codec == nil || codec.GoType() != reflect.TypeOf(note) {
		a.inner.refuse(machine.CodeOutputInvalid, "note", fmt.Errorf("is a %T, which is not the type that the definition of the machine declares: see Notes", note))
		return
	}
	v, err := codec.Encode(reflect.ValueOf(note))
	if err != nil {
		a.inner.refuse(machine.CodeOutputInvalid, "note", err)
		return
	}
	a.inner.ask(func(g *machine.Given) { g.Note, g.Noted = v, true })
}

// Origin identifies the cause of an activation.
type Origin struct {
	Manifest string // hash of the world's document, sha256:…
	Machine  string // hash of the machine, sha256:…
	Event    string // hash of {kind, name, value} of the event that the cell took, sha256:…
}

// Origin returns the hashes of the world, of the machine and of the event.
func (a *Activation[Key]) Origin() Origin {
	in := a.inner.in
	o := Origin{Manifest: a.inner.binding.world.Manifest(), Machine: in.Machine.Hash}
	event := map[string]any{"kind": in.Event.Kind.String(), "name": in.Event.Name, "value": in.Event.Value}
	o.Event, _ = schema.HashTagged(event) // it is of the model
	return o
}
