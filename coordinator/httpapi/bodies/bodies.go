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
	if fault := shapeOf(reflect.TypeOf(into).Elem()).unknown(v); fault != nil {
		return fault
	}
	if err := json.Unmarshal(data, into); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return &Fault{"/" + strings.ReplaceAll(wrong.Field, ".", "/"), "it is of another type"}
		}
		return &Fault{Detail: "the body cannot be read"}
	}
	return nil
}

// shape describes the values of a type: the keys of a struct, or the elements of a list. With neither, any JSON passes, and
// json.Unmarshal finds values of another kind.
type shape struct {
	keys    map[string]*shape // nil: it is no struct
	element *shape            // nil: it is no list
	says    string            // the fault of an unknown key
}

// unknown returns the fault of the first key, in order, that the shape does not have; nil: there is none.
func (s *shape) unknown(v any) *Fault {
	switch v := v.(type) {
	case map[string]any:
		return s.unknownKey(v)
	case []any:
		if s.element == nil {
			return nil
		}
		for i := range v {
			if fault := s.element.unknown(v[i]); fault != nil {
				fault.Pointer = "/" + strconv.Itoa(i) + fault.Pointer
				return fault
			}
		}
	}
	return nil
}

func (s *shape) unknownKey(object map[string]any) (first *Fault) {
	if s.keys == nil {
		return nil
	}
	least := ""
	for key, member := range object {
		var fault *Fault
		if of := s.keys[key]; of != nil {
			fault = of.unknown(member)
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
	case t.Kind() == reflect.Slice:
		s.element = newShape(t.Elem(), known)
	case t.Kind() == reflect.Struct:
		s.addKeys(t, known)
	}
	return s
}

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
