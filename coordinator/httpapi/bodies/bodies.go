// Package bodies reads the bodies of requests strictly: one JSON object with the keys of a struct's tags, written as they are there.
package bodies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/sluiceflow/sluice/template/value"
)

// Fault says why a body is refused. It shows no values.
type Fault struct {
	Pointer string // where in the body; "": as a whole
	Detail  string // why
}

// Read reads a body into a struct; nil: it is as it must be.
func Read(data []byte, into any) *Fault {
	v, err := value.ParseInput(data) // of values: the depth, UTF-8, duplicate keys and large integers
	if err != nil {
		return &Fault{Detail: fmt.Sprintf("the body is not a value: %v", err)}
	}
	if _, ok := v.(map[string]any); !ok {
		return &Fault{Detail: "the body is a JSON object"}
	}
	if fault := known(v, reflect.TypeOf(into).Elem(), ""); fault != nil {
		return fault
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(into); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return &Fault{"/" + strings.ReplaceAll(wrong.Field, ".", "/"), "it is of another type"}
		}
		return &Fault{Detail: "the body cannot be read"}
	}
	return nil
}

// known returns the first key of a value, at a JSON pointer, that the struct into which it is read does not have; nil: there is none. What
// is of another type is found when it is read.
func known(v any, t reflect.Type, at string) *Fault {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) { // any JSON, or it reads itself
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return knownKeys(v, t, at)
	case []any:
		if t.Kind() != reflect.Slice {
			return nil
		}
		for i := range v {
			if fault := known(v[i], t.Elem(), fmt.Sprint(at, "/", i)); fault != nil {
				return fault
			}
		}
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func knownKeys(object map[string]any, t reflect.Type, at string) *Fault {
	if t.Kind() != reflect.Struct {
		return nil
	}
	of := fieldsOf(t)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field, ok := of.types[key]
		if !ok {
			return &Fault{at + pointer(key), "there is no such key; the keys are " + strings.Join(of.keys, ", ")}
		}
		if fault := known(object[key], field, at+pointer(key)); fault != nil {
			return fault
		}
	}
	return nil
}

// fields are the keys of a struct in JSON, in order, and their types.
type fields struct {
	keys  []string
	types map[string]reflect.Type
}

var fieldsKnown sync.Map // by type

func fieldsOf(t reflect.Type) *fields {
	if of, ok := fieldsKnown.Load(t); ok {
		return of.(*fields)
	}
	of := &fields{types: map[string]reflect.Type{}}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		of.keys, of.types[name] = append(of.keys, name), f.Type
	}
	fieldsKnown.Store(t, of)
	return of
}

// pointerMax bounds the keys that errors show.
const pointerMax = 100

// pointer returns the JSON pointer of a key of the body.
func pointer(key string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key[:min(len(key), pointerMax)])
}
