package flow

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// Member is one field of a Struct.
type Member struct {
	field reflect.Value // a pointer
	arg   argument
}

// Set returns a field of a Struct, by its address, with its value.
func Set[T any](field *T, to Arg[T]) Member {
	return Member{field: reflect.ValueOf(field), arg: argOf(to)}
}

// Struct returns an input composed of several arguments: of a step, or of a Go function that takes several. Fields are
// identified by their addresses in a variable that has no other use, so that the compiler checks names and types:
//
//	var p Purchase
//	flow.Call("open", Open, flow.Struct(&p, flow.Set(&p.Offer, offer), flow.Set(&p.Limit, limit)))
//
// Fields that are not set are omitted.
func Struct[T any](of *T, members ...Member) Arg[T] {
	a := argument{pos: here()}
	names := make([]string, len(members))
	for i, m := range members {
		name, err := nameOf(reflect.ValueOf(of), m.field)
		for _, before := range names[:i] {
			if before == name && err == nil {
				err = fmt.Errorf("field %q is set twice", name)
			}
		}
		if names[i] = name; a.err == nil {
			a.err = err
		}
	}
	args := make([]argument, len(members))
	for i, m := range members {
		args[i] = m.arg
	}
	a.compose(names, args)
	return typed[T]{a}
}

// compose makes the argument an object of others.
func (a *argument) compose(names []string, args []argument) {
	a.literal = func(d *definition) value.Value {
		object := make(map[string]any, len(names))
		for i, name := range names {
			object[name] = args[i].render(d)
		}
		return object
	}
	a.inline = func(d *definition) string {
		fields := make([]string, len(names))
		for i, name := range names {
			fields[i] = source(name) + ": " + args[i].expression(d)
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
}

// nameOf returns the JSON key of the struct field that a pointer refers to.
func nameOf(of, field reflect.Value) (string, error) {
	t := of.Type().Elem()
	if t.Kind() != reflect.Struct || isOpen(t) {
		return "", fmt.Errorf("a %s has no fields that can be set by their addresses", t)
	}
	if of.IsNil() || !field.IsValid() || field.IsNil() {
		return "", fmt.Errorf("a field of %s is set by the address nil", t)
	}
	for name, f := range jsonFields(t) {
		if f.Type != field.Type().Elem() || f.Type.Size() == 0 {
			continue // the address of a field without size does not identify it
		}
		if at, err := of.Elem().FieldByIndexErr(f.Index); err == nil && at.Addr().Pointer() == field.Pointer() {
			return name, nil
		}
	}
	return "", fmt.Errorf("a %s that is set is no field of this %s", field.Type().Elem(), t)
}

// Field is one field of an Object.
type Field struct {
	name string
	typ  reflect.Type
	arg  argument
}

// With returns a field of an Object: its JSON name and its value.
func With[T any](name string, v Arg[T]) Field {
	return Field{name: name, typ: reflect.TypeFor[T](), arg: argOf(v)}
}

// Object returns an input composed of several arguments, by the names of T's json tags; T may be a map. The names and types
// of the fields are checked when the workflow is defined; with Struct the compiler does that. Fields that are not named are
// omitted.
func Object[T any](fields ...Field) Arg[T] {
	a := argument{pos: here()}
	names, args := make([]string, len(fields)), make([]argument, len(fields))
	for i, f := range fields {
		if err := fieldIs(reflect.TypeFor[T](), value.Pointer{f.name}, f.typ); err != nil && a.err == nil {
			a.err = fmt.Errorf("field %q: %w", f.name, err)
		}
		names[i], args[i] = f.name, f.arg
	}
	a.compose(names, args)
	return typed[T]{a}
}
