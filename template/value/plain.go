package value

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// Plain reports whether values of type t can be shared between steps without being encoded and decoded: they contain no
// pointer, map, slice or interface, so no step can change them for another, and encoding preserves them, so a run reads the
// same live and recovered. A string is plain. A struct is not if it has a field that is not encoded (unexported, or tagged
// "-") or two fields of one name; nor is a type with its own JSON or text form, because that may omit data.
//
// The walk over the type is not free: call Plain once for each type.
func Plain(t reflect.Type) bool {
	if t == nil || hasOwnForm(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Array:
		return Plain(t.Elem())
	case reflect.Struct:
		return plainFields(t, map[string]bool{})
	}
	return false
}

// Total reports whether every value of a plain type t is a value of the model, up to its size limit. Floats may be NaN or
// infinite, and unsigned integers of 64 bits too large.
func Total(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Uint, reflect.Uint64:
		return false
	case reflect.Array:
		return Total(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !Total(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

// plainFields judges the fields of a struct. The names of all fields, those of embedded structs included, share one space.
func plainFields(t reflect.Type, names map[string]bool) bool {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" {
			return false
		}
		if field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct {
			if hasOwnForm(field.Type) || !plainFields(field.Type, names) {
				return false
			}
			continue
		}
		if name == "" {
			name = field.Name
		}
		// Decoding matches names without regard to case, so two names that differ only in case conflict.
		if name = strings.ToLower(name); names[name] || !Plain(field.Type) {
			return false
		}
		names[name] = true
	}
	return true
}

var ownForms = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

// hasOwnForm reports whether t, or a pointer to it, defines its own encoding or decoding.
func hasOwnForm(t reflect.Type) bool {
	for _, form := range ownForms {
		if t.Implements(form) || reflect.PointerTo(t).Implements(form) {
			return true
		}
	}
	return false
}
