// Package bodies reads the bodies of requests strictly: one JSON object with exactly the keys of the struct's tags, case included.
package bodies

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/sluiceflow/sluice/template/value"
)

// Fault is the reason why a body is refused. It shows no values.
type Fault struct {
	Pointer string // where in the body; "": as a whole
	Detail  string // why
}

// Read reads a body into a struct. It returns nil if the body is valid.
func Read(data []byte, into any) *Fault {
	v, err := value.ParseInput(data) // of values: the depth, UTF-8, duplicate keys and large integers
	if at, what, ok := value.PlaceOf(err); ok {
		for i, key := range at {
			at[i] = key[:min(len(key), pointerMax)]
		}
		return &Fault{at.String(), "it " + what}
	}
	if err != nil {
		return &Fault{Detail: fmt.Sprintf("the body is not a value: %v", err)}
	}
	if _, ok := v.(map[string]any); !ok {
		return &Fault{Detail: "the body is a JSON object"}
	}
	if fault := shapeOf(reflect.TypeOf(into).Elem()).fault(v); fault != nil {
		return fault
	}
	if err := json.Unmarshal(data, into); err != nil { // 1.0 for an integer
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return &Fault{"/" + strings.ReplaceAll(wrong.Field, ".", "/"), "it must be an integer, and in digits only"}
		}
		return &Fault{Detail: "the body cannot be read"}
	}
	return nil
}

// shape describes the values of a type. null is of every type.
type shape struct {
	wants   string            // what a value must be, for people; "": any JSON passes
	fits    func(v any) bool  // whether it is that
	keys    map[string]*shape // of a struct
	element *shape            // of a list, or the members of a map; nil: it is neither
	says    string            // the fault of an unknown key
}

// fault returns the first fault of a value, in the order of lists and keys; nil: there is none.
func (s *shape) fault(v any) *Fault {
	switch {
	case v == nil || s.wants == "":
		return nil
	case !s.fits(v):
		return &Fault{Detail: "it must be " + s.wants}
	}
	switch v := v.(type) {
	case map[string]any:
		return s.member(v)
	case []any:
		for i := range v {
			if fault := s.element.fault(v[i]); fault != nil {
				fault.Pointer = "/" + strconv.Itoa(i) + fault.Pointer
				return fault
			}
		}
	}
	return nil
}

// member returns the fault of the first member of an object that has one.
func (s *shape) member(object map[string]any) (first *Fault) {
	least := ""
	for key, member := range object {
		var fault *Fault
		if of := s.keys[key]; of != nil {
			fault = of.fault(member)
		} else if s.keys == nil {
			fault = s.element.fault(member)
		} else if first == nil || key < least {
			fault = &Fault{Detail: s.says}
		}
		if fault != nil && (first == nil || key < least) {
			first, least = fault, key
		}
	}
	if first != nil {
		first.Pointer = value.Pointer{least[:min(len(least), pointerMax)]}.String() + first.Pointer
	}
	return first
}

// pointerMax bounds the keys that errors show.
const pointerMax = 100

var shapes sync.Map // by type

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := newShape(t, map[reflect.Type]*shape{})
	shapes.Store(t, s)
	return s
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// newShape returns the shape of a type. known has the shapes of the types around it.
func newShape(t reflect.Type, known map[reflect.Type]*shape) *shape {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s := known[t]; s != nil {
		return s
	}
	s := &shape{}
	known[t] = s
	switch {
	case reflect.PointerTo(t).Implements(unmarshaler): // any JSON, or it reads itself
	case t.Kind() == reflect.Struct:
		s.wants, s.fits = "an object", is[map[string]any]
		s.addKeys(t, known)
	case t.Kind() == reflect.Map:
		s.wants, s.fits, s.element = "an object", is[map[string]any], newShape(t.Elem(), known)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		s.wants, s.fits, s.element = "a list", is[[]any], newShape(t.Elem(), known)
	case t.Kind() == reflect.String || t.Kind() == reflect.Slice: // bytes are written as a text
		s.wants, s.fits = "a text", is[string]
	case t.Kind() == reflect.Bool:
		s.wants, s.fits = "true or false", is[bool]
	case reflect.Zero(t).CanInt():
		s.wants, s.fits = "an integer", is[int64]
	case reflect.Zero(t).CanUint():
		s.wants, s.fits = "an integer that is not negative", func(v any) bool { n, ok := v.(int64); return ok && n >= 0 }
	}
	return s
}

// is reports whether a value is of a kind of package value.
func is[T any](v any) bool { _, ok := v.(T); return ok }

func (s *shape) addKeys(t reflect.Type, known map[reflect.Type]*shape) {
	s.keys = map[string]*shape{}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		s.keys[name], names = newShape(f.Type, known), append(names, name)
	}
	if s.says = "there is no such key; the body has none"; len(names) > 0 {
		s.says = "there is no such key; the keys are " + strings.Join(names, ", ")
	}
}
