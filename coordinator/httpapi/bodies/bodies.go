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
	object, ok := v.(map[string]any)
	if !ok {
		return &Fault{Detail: "the body is a JSON object"}
	}
	if fault := check(reflect.TypeOf(into).Elem(), object, ""); fault != nil {
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

// check refuses keys that a struct, or one that is a member of it, has not.
func check(t reflect.Type, object map[string]any, at string) *Fault {
	known := keysOf(t)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(known, key) {
			return &Fault{at + pointer(key), "there is no such key; the keys are " + strings.Join(known, ", ")}
		}
	}
	for _, f := range reflect.VisibleFields(t) {
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if inner, ok := object[name].(map[string]any); ok && !f.Anonymous && of.Kind() == reflect.Struct {
			if fault := check(of, inner, at+pointer(name)); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// keysOf returns the keys of a struct in JSON.
func keysOf(t reflect.Type) (keys []string) {
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, name)
	}
	return keys
}

// pointerMax bounds the keys that errors show.
const pointerMax = 100

// pointer returns the JSON pointer of a key of the body.
func pointer(key string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key[:min(len(key), pointerMax)])
}
