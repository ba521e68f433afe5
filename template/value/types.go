package value

import (
	"reflect"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/internal/usercode"
)

// known describes the possible contents of values of a type, at any depth.
type known struct {
	open    bool // an interface
	methods bool // a value of the program with a method that encoding/json calls
}

// types caches known for the types of a program, a bounded set.
var types sync.Map // reflect.Type → known

// holdsInterface reports whether a value of type t can hold an interface.
func holdsInterface(t reflect.Type) bool { return knownOf(t).open }

// toDecode returns the function that runs a decoding into a zero value of type t: on another goroutine if that can call a
// method of the program, such as UnmarshalJSON. Else it runs here, since a goroutine costs more than decoding a small value.
func toDecode(t reflect.Type) func(func() error) error {
	if knownOf(t).methods {
		return usercode.Apart
	}
	return usercode.Call
}

// toEncode returns the function that runs an encoding of a value of type t: on another goroutine if that can call a method
// of the program.
func toEncode(t reflect.Type) func(func() error) error {
	if k := knownOf(t); k.methods || k.open {
		return usercode.Apart
	}
	return usercode.Call
}

var timeType, zeroer = reflect.TypeFor[time.Time](), reflect.TypeFor[interface{ IsZero() bool }]()

func knownOf(t reflect.Type) known {
	if k, ok := types.Load(t); ok {
		return k.(known)
	}
	var k known
	k.add(t, map[reflect.Type]bool{})
	types.Store(t, k)
	return k
}

// add walks a type. A type that refers to itself adds nothing the second time.
func (k *known) add(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if t == timeType {
		return // its methods are not of the program
	}
	k.methods = k.methods || hasOwnForm(t) || t.Implements(zeroer) || reflect.PointerTo(t).Implements(zeroer)
	switch t.Kind() {
	case reflect.Interface:
		k.open = true
	case reflect.Map:
		k.add(t.Key(), seen)
		k.add(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		k.add(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			k.add(t.Field(i).Type, seen)
		}
	}
}
