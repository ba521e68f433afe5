package flow

import (
	"encoding"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// Select returns a field of an argument, by a JSON pointer such as /offer/price. When the workflow is defined, the json tags
// of S are checked for that field and its type T.
func Select[T, S any](from Arg[S], pointer string) Arg[T] {
	inner := argOf(from)
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
		if inner.binds != tight {
			text = "(" + text + ")"
		}
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

// fieldIs checks that a pointer refers to a field of type want in the JSON of a type.
func fieldIs(in reflect.Type, path value.Pointer, want reflect.Type) error {
	at := in
	for _, segment := range path {
		next, err := child(at, segment)
		if err != nil {
			return err
		}
		if next == nil {
			return nil // the type of its content is known only at run time
		}
		at = next
	}
	if at == want || want.Kind() == reflect.Interface || isOpen(at) || indirect(at) == indirect(want) {
		return nil
	}
	return fmt.Errorf("it is a %s, not a %s", at, want)
}

// child returns the type of a member in the JSON of a type; nil if the type does not determine it.
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
		for name, f := range jsonFields(t) {
			if name == segment {
				return f.Type, nil
			}
		}
	}
	return nil, fmt.Errorf("a %s has no %q", t, segment)
}

// jsonFields yields the fields of a struct by their JSON keys; fields of embedded structs without a key belong to the
// struct.
func jsonFields(t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if name, ok := jsonName(f); ok && isShallow(t, f.Index) && !yield(name, f) {
				return
			}
		}
	}
}

// isShallow reports whether no struct on the path to a promoted field has a key of its own, or is omitted.
func isShallow(t reflect.Type, index []int) bool {
	for i := 1; i < len(index); i++ {
		outer := t.FieldByIndex(index[:i])
		if _, ok := jsonName(outer); ok || outer.Tag.Get("json") == "-" {
			return false
		}
	}
	return true
}

// jsonName returns the JSON key of a struct field. It reports false if the field has none of its own.
func jsonName(f reflect.StructField) (string, bool) {
	tag := f.Tag.Get("json")
	name, _, _ := strings.Cut(tag, ",")
	switch {
	case tag == "-" || !f.IsExported() && (!f.Anonymous || f.Type.Kind() != reflect.Struct):
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

// isOpen reports whether a type does not determine its JSON: an interface, or a type with its own encoding.
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
