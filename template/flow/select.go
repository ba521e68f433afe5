package flow

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// Select is a field of an argument: a JSON pointer such as /offer/price leads to it. That S has such a field, and that it
// is a T, is checked when the workflow is defined, by S's json tags.
func Select[T, S any](from Arg[S], pointer string) Arg[T] {
	inner := from.argument()
	a := argument{pos: here(), err: inner.err}
	path, err := value.ParsePointer(pointer)
	if err == nil {
		err = fieldIs(reflect.TypeFor[S](), path, reflect.TypeFor[T]())
	}
	if err == nil && inner.source == nil {
		err = fmt.Errorf("a field can be selected of a result, an item or the input, not of a literal or a function")
	}
	if a.err == nil && err != nil {
		a.err = fmt.Errorf("select %s: %w", pointer, err)
	}
	a.source = func(d *definition) string {
		text := inner.source(d)
		for _, segment := range path {
			if _, err := strconv.ParseUint(segment, 10, 31); err == nil {
				text += "[" + segment + "]"
			} else {
				text += member(segment)
			}
		}
		return text
	}
	return typed[T]{a}
}

// Field is one field of an Object.
type Field struct {
	name string
	typ  reflect.Type
	arg  argument
}

// With is a field of an Object: its name in JSON and what it is set to.
func With[T any](name string, v Arg[T]) Field {
	return Field{name: name, typ: reflect.TypeFor[T](), arg: v.argument()}
}

// Object is an input made of several arguments. That T has these fields, and that they are of the types given, is checked
// when the workflow is defined, by T's json tags. Fields that are not named are left out.
func Object[T any](fields ...Field) Arg[T] {
	a := argument{pos: here()}
	for _, f := range fields {
		if err := fieldIs(reflect.TypeFor[T](), value.Pointer{f.name}, f.typ); err != nil && a.err == nil {
			a.err = fmt.Errorf("field %q: %w", f.name, err)
		}
	}
	a.literal = func(d *definition) value.Value {
		object := make(map[string]any, len(fields))
		for _, f := range fields {
			object[f.name] = f.arg.render(d)
		}
		return object
	}
	return typed[T]{a}
}

// fieldIs checks that a pointer leads to a field of type want in the JSON of a type.
func fieldIs(in reflect.Type, path value.Pointer, want reflect.Type) error {
	at := in
	for _, segment := range path {
		next, err := child(at, segment)
		if err != nil {
			return err
		}
		if next == nil {
			return nil // whatever it holds is known only when it is there
		}
		at = next
	}
	if at == want || want.Kind() == reflect.Interface || isOpen(at) || indirect(at) == indirect(want) {
		return nil
	}
	return fmt.Errorf("it is a %s, not a %s", at, want)
}

// child gives the type of a member in the JSON of a type; nil when the type leaves that open.
func child(t reflect.Type, segment string) (reflect.Type, error) {
	t = indirect(t)
	if isOpen(t) {
		return nil, nil
	}
	switch t.Kind() {
	case reflect.Map:
		return t.Elem(), nil
	case reflect.Slice, reflect.Array:
		if _, err := strconv.ParseUint(segment, 10, 31); err != nil {
			return nil, fmt.Errorf("a %s has no %q", t, segment)
		}
		return t.Elem(), nil
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if name, ok := jsonName(f); ok && name == segment {
				return f.Type, nil
			}
		}
	}
	return nil, fmt.Errorf("a %s has no %q", t, segment)
}

// jsonName gives the key of a field in the JSON of its struct, if it has one of its own.
func jsonName(f reflect.StructField) (string, bool) {
	tag := f.Tag.Get("json")
	name, _, _ := strings.Cut(tag, ",")
	switch {
	case tag == "-" || !f.IsExported():
		return "", false
	case name != "":
		return name, true
	default:
		return f.Name, !f.Anonymous
	}
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// isOpen reports whether a type says nothing about its JSON: an interface, or a type that writes its own.
func isOpen(t reflect.Type) bool {
	if t.Kind() == reflect.Interface {
		return true
	}
	for _, writer := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(writer) || reflect.PointerTo(t).Implements(writer) {
			return true
		}
	}
	return false
}
