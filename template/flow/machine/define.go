package machine

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/schema/gotypes"
	"github.com/sluiceflow/sluice/template/value"
)

// Definition is a machine in Go: its name, its version, its types and its step. Define makes it, once, at package level. It is immutable
// and safe for concurrent use.
type Definition struct {
	code    *machine.Code
	state   reflect.Type
	key     reflect.Type // nil: the machine has no key
	arms    *arms
	emits   []emitted
	raises  map[string]reflect.Type
	notes   reflect.Type // nil: none
	start   func(*binding, *machine.Input) (*machine.Given, error)
	refused error

	migrations map[string]migration // by the version that they migrate from
}

// Name returns the name of the machine.
func (d *Definition) Name() string { return d.code.Name }

// Version returns the version of the machine.
func (d *Definition) Version() string { return d.code.Version }

// Code returns the code that a program runs.
func (d *Definition) Code() *machine.Code { return d.code }

// An Option adds to a definition.
type Option func(*Definition)

// Emits declares the effects that the machine may emit, including Timer.
func Emits(effects ...Emitted) Option {
	return func(d *Definition) {
		for _, e := range effects {
			x := e.emitted()
			if slices.ContainsFunc(d.emits, func(y emitted) bool { return x.name == y.name }) {
				d.refuse("emits names %q twice", x.name)
			}
			d.emits = append(d.emits, x)
		}
	}
}

// Raises declares the messages that the machine may raise.
func Raises(events ...RaisedEvent) Option {
	return func(d *Definition) {
		for _, e := range events {
			name, t := e.raised()
			d.raises[name] = t
		}
	}
}

// Notes declares the type of the machine's notes.
func Notes[T any]() Option { return func(d *Definition) { d.notes = reflect.TypeFor[T]() } }

func (d *Definition) refuse(format string, args ...any) {
	if d.refused == nil {
		d.refused = fmt.Errorf(format, args...)
	}
}

// Define returns a machine in Go. Its step is called with a copy of the cell's state, nil if it has none, and returns the new one,
// nil to delete it. Event is a struct of pointers, of which one is set, or one message. A machine whose Key is struct{} has one
// cell.
//
// The name and the version identify the code: a step that may return something else for the same state and event needs another
// version.
//
// Define panics if a type cannot be converted, with the name of the field.
func Define[State, Event, Key any](name, version string, step func(a *Activation[Key], s *State, e Event) (*State, error), options ...Option) *Definition {
	d := &Definition{state: reflect.TypeFor[State](), raises: map[string]reflect.Type{}, migrations: map[string]migration{}}
	d.code = &machine.Code{Implementation: machine.Implementation{Name: name, Version: version}, Bind: d.bind}
	d.start = starter(step)
	if key := reflect.TypeFor[Key](); key != reflect.TypeFor[struct{}]() {
		d.key = key
	}
	for _, option := range options {
		option(d)
	}
	if err := d.check(reflect.TypeFor[Event]()); err != nil {
		panic(fmt.Sprintf("machine %q: %v", name, err))
	}
	return d
}

// check completes a definition, and returns its first fault.
func (d *Definition) check(event reflect.Type) (err error) {
	switch {
	case d.refused != nil:
		return d.refused
	case d.code.Name == "" || d.code.Version == "":
		return errors.New("the name and the version must not be empty")
	}
	if d.arms, err = armsOf(event); err != nil {
		return err
	}
	for i := range d.arms.list {
		x := &d.arms.list[i]
		if x.kind == machine.Receipt && !x.split(d.mayEmit) {
			return fmt.Errorf("%s: the machine does not emit %q: see Emits", x.at, x.name)
		}
	}
	if len(d.emits) > 0 && d.arms.message != "" {
		return fmt.Errorf("it emits %q, and its event has no arm for receipts", d.emits[0].name)
	}
	if _, err = d.declare(gotypes.Declarations{}); err != nil {
		return err
	}
	return d.checkMigrations()
}

func (d *Definition) mayEmit(effect string) bool {
	return slices.ContainsFunc(d.emits, func(e emitted) bool { return e.name == effect })
}

// declare adds the types of the definition to declarations, and returns the document of its machine.
func (d *Definition) declare(types gotypes.Declarations) (map[string]any, error) {
	doc := map[string]any{"go": map[string]any{"name": d.code.Name, "version": d.code.Version}}
	var err error
	if doc["state"], err = types.Derive(d.state, ""); err != nil {
		return nil, err
	}
	if d.key != nil {
		if doc["key"], err = types.Derive(d.key, ""); err != nil {
			return nil, err
		}
	}
	if d.notes != nil {
		if doc["annotations"], err = types.Derive(d.notes, ""); err != nil {
			return nil, err
		}
	}
	events := []any{}
	for name, t := range d.arms.messages {
		if _, err := types.Derive(t, name); err != nil {
			return nil, err
		}
		events = append(events, name)
	}
	for _, kind := range []struct {
		kind machine.EventKind
		name string
	}{{machine.Rejected, "Rejected"}, {machine.Frame, "Frame"}} {
		if d.arms.has(kind.kind) {
			events = append(events, kind.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.raises)) {
		if _, err := types.Derive(d.raises[name], name); err != nil {
			return nil, err
		}
	}
	emits := make([]any, len(d.emits))
	for i, e := range d.emits {
		emits[i] = e.name
	}
	doc["event"], doc["emits"] = events, emits
	return doc, nil
}

// effects adds the effects of the definition to their documents, and their types to declarations.
func (d *Definition) effects(types gotypes.Declarations, effects map[string]any) (err error) {
	for _, e := range d.emits {
		if e.params == nil {
			continue
		}
		doc := map[string]any{}
		if doc["params"], err = types.Derive(e.params, ""); err != nil {
			return err
		}
		if doc["receipt"], err = types.Derive(e.receipt, ""); err != nil {
			return err
		}
		if known, ok := effects[e.name]; ok && !value.Equal(known, doc) {
			return fmt.Errorf("effect %q has other types in another machine", e.name)
		}
		effects[e.name] = doc
	}
	return nil
}

// binding is a definition with the codecs for the types of a world.
type binding struct {
	world  *machine.World
	state  *gotypes.Codec
	key    *gotypes.Codec // nil: none
	note   *gotypes.Codec // nil: none
	params map[string]*gotypes.Codec
	raises map[string]*gotypes.Codec
	arms   []opened
	event  *gotypes.Codec // of an event that is one message
	name   string         // of that message
}

// bind implements machine.Code.
func (d *Definition) bind(w *machine.World, m *machine.Machine) (machine.Activate, error) {
	b, err := d.compile(w, m)
	if err != nil {
		return nil, fmt.Errorf("machine %q in Go, version %q, does not fit machine %q of world %q: %w", d.code.Name, d.code.Version, m.Name, w.Name, err)
	}
	return func(in *machine.Input) (*machine.Given, error) {
		return d.start(b, in)
	}, nil
}

// compile compiles the codecs of a definition for a machine.
func (d *Definition) compile(w *machine.World, m *machine.Machine) (b *binding, err error) {
	b = &binding{world: w, params: map[string]*gotypes.Codec{}, raises: map[string]*gotypes.Codec{}}
	if b.state, err = gotypes.Compile(d.state, m.State); err != nil {
		return nil, err
	}
	switch {
	case (d.key == nil) != (m.Key == nil):
		return nil, errors.New("one of them has a key, and the other has none")
	case d.key != nil:
		if b.key, err = gotypes.Compile(d.key, m.Key); err != nil {
			return nil, err
		}
	}
	if d.notes != nil && m.Annotations != nil {
		if b.note, err = gotypes.Compile(d.notes, m.Annotations); err != nil {
			return nil, err
		}
	}
	if err := d.bindMigrations(m); err != nil {
		return nil, err
	}
	if err := d.compileEmitted(b, m); err != nil {
		return nil, err
	}
	if d.arms.message != "" {
		b.name = d.arms.message
		b.event, err = messageCodec(w, b.name, d.arms.of)
		return b, err
	}
	for _, x := range d.arms.list {
		o, err := x.open(w)
		if err != nil {
			return nil, err
		}
		b.arms = append(b.arms, o)
	}
	return b, nil
}

// compileEmitted compiles the codecs of the effects and events that a machine emits and raises.
func (d *Definition) compileEmitted(b *binding, m *machine.Machine) (err error) {
	for _, e := range d.emits {
		if !m.MayEmit(e.name) {
			return fmt.Errorf("its emits lack %q", e.name)
		}
		if e.params == nil {
			continue
		}
		of := b.world.Effect(e.name)
		if b.params[e.name], err = gotypes.Compile(e.params, of.Params); err != nil {
			return fmt.Errorf("params of %q: %w", e.name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.raises)) {
		if b.raises[name], err = messageCodec(b.world, name, d.raises[name]); err != nil {
			return err
		}
	}
	return nil
}

// starter returns the function that runs a step with Go values of its types. An event without an arm is ignored.
func starter[State, Event, Key any](step func(*Activation[Key], *State, Event) (*State, error)) func(*binding, *machine.Input) (*machine.Given, error) {
	return func(b *binding, in *machine.Input) (*machine.Given, error) {
		a := &Activation[Key]{inner: &activation{in: in, binding: b}}
		var event Event
		about, err := b.decode(&in.Event, reflect.ValueOf(&event).Elem())
		switch {
		case err != nil:
			return nil, err
		case !about:
			return &machine.Given{Ignored: true}, nil
		}
		if b.key != nil {
			if err := b.key.Decode(in.Key, reflect.ValueOf(&a.key).Elem()); err != nil {
				return nil, fmt.Errorf("key: %w", err)
			}
		}
		var state *State
		if in.State != nil {
			state = new(State)
			if err := b.state.Decode(in.State, reflect.ValueOf(state).Elem()); err != nil {
				return nil, fmt.Errorf("state: %w", err)
			}
		}
		after, err := step(a, state, event)
		given, failure := a.inner.end()
		switch {
		case err != nil:
			return nil, err
		case failure != nil:
			return nil, failure
		case after == nil || given.Ignored:
			return given, nil
		}
		if given.State, err = b.state.Encode(reflect.ValueOf(after).Elem()); err != nil {
			return nil, &machine.Failure{Code: machine.CodeOutputInvalid, Message: "state: " + err.Error()}
		}
		return given, nil
	}
}

// decode sets the arm of an event. It reports false if the event has none.
func (b *binding) decode(e *machine.Event, into reflect.Value) (bool, error) {
	if b.event != nil {
		if e.Kind != machine.Message || e.Name != b.name {
			return false, nil
		}
		return true, b.event.Decode(e.Value, into)
	}
	for i := range b.arms {
		x := &b.arms[i]
		if !x.takes(e) {
			continue
		}
		field := into.Field(x.field)
		field.Set(reflect.New(field.Type().Elem()))
		if err := x.decode(e, field.Elem()); err != nil {
			return false, fmt.Errorf("%s: %w", x.at, err)
		}
		return true, nil
	}
	return false, nil
}

// Fail returns an error that fails the cell with a code. Any other error has the code step_failed.
func Fail(code, message string) error { return &machine.Failure{Code: code, Message: message} }

// StateOf returns the state of a cell as a Go value. A cell without state is an error.
func StateOf[T any](state value.Value) (T, error) {
	var into T
	if state == nil {
		return into, errors.New("the cell has no state")
	}
	codec, err := codecOf(reflect.TypeFor[T]())
	if err != nil {
		return into, err
	}
	normal, err := codec.Type().Normalize(state)
	if err != nil {
		return into, err
	}
	return into, codec.Decode(normal, reflect.ValueOf(&into).Elem())
}
