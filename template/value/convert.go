package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

var mapType = reflect.TypeFor[map[string]any]()

// Convert stores v in into, a non-nil pointer to a zero value, as if v had been encoded and decoded: by the rules of
// encoding/json, except that numbers in an interface become int64 or float64. So a consumer in the same process receives the
// same value as one that reads the journal. The result shares no memory with v.
func Convert(v any, into any) error {
	v, err := Of(v)
	if err != nil {
		return err
	}
	switch into := into.(type) {
	case *any:
		*into = clone(v)
		return nil
	case *map[string]any:
		if object, ok := v.(map[string]any); ok {
			*into = clone(object).(map[string]any)
			return nil
		}
	case *[]any:
		if list, ok := v.([]any); ok {
			*into = clone(list).([]any)
			return nil
		}
	}
	if assignScalar(v, into) {
		return nil
	}
	return assign(v, into)
}

// assignScalar assigns the most frequent scalars directly, without a detour through text. It reports false if the general
// rules apply.
func assignScalar(v Value, into any) bool {
	switch v := v.(type) {
	case int64:
		switch into := into.(type) {
		case *int64:
			return store(into, v)
		case *int:
			return int64(int(v)) == v && store(into, int(v))
		}
	case string:
		if into, ok := into.(*string); ok {
			return store(into, v)
		}
	case bool:
		if into, ok := into.(*bool); ok {
			return store(into, v)
		}
	}
	return false
}

func store[T any](into *T, v T) bool {
	if into != nil {
		*into = v
	}
	return into != nil
}

// DecodeInto stores the value encoded in data in into, a non-nil pointer to a zero value, by the rules of Convert. It
// refuses data that Decode refuses.
func DecodeInto(data []byte, into any) error {
	v, err := Decode(data)
	if err != nil {
		return err
	}
	switch into := into.(type) {
	case *any: // v is not shared: no copy
		*into = v
		return nil
	case *Raw: // canonical, like every encoding that is returned
		*into, err = Encode(v)
		return err
	}
	return assign(v, into)
}

// assign stores a Value in a typed variable. It handles scalars itself, because most typed steps pass those.
func assign(v Value, into any) error {
	switch into := into.(type) {
	case *string:
		if s, ok := v.(string); ok {
			*into = s
			return nil
		}
	case *bool:
		if b, ok := v.(bool); ok {
			*into = b
			return nil
		}
	case *int64:
		if i, ok := v.(int64); ok {
			*into = i
			return nil
		}
	case *float64:
		switch n := v.(type) {
		case int64:
			*into = float64(n)
			return nil
		case float64:
			*into = n
			return nil
		}
	}
	return assignByJSON(v, into)
}

// assignByJSON assigns through JSON, the general case, because only encoding/json has its own rules in every detail.
func assignByJSON(v Value, into any) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("convert value: into must be a non-nil pointer, not %T", into)
	}
	open := holdsInterface(target.Type().Elem())
	decoder := json.NewDecoder(bytes.NewReader(appendJSON(nil, v)))
	if open {
		// Otherwise an integer in an interface would come back as a float64 and lose digits.
		decoder.UseNumber()
	}
	if err := toDecode(target.Type().Elem())(func() error { return decoder.Decode(into) }); err != nil {
		return fmt.Errorf("convert %s to %s: %w", Kind(v), target.Type().Elem(), err)
	}
	if open {
		return settleNumbers(target.Elem())
	}
	return nil
}

// clone copies lists and objects recursively.
func clone(v Value) Value {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = clone(item)
		}
		return out
	}
	return v
}

// settleNumbers replaces the json.Numbers that encoding/json leaves in interfaces, anywhere in a freshly decoded v.
func settleNumbers(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() || v.NumMethod() > 0 {
			return nil
		}
		n, err := Of(v.Interface())
		if err == nil && n != nil {
			v.Set(reflect.ValueOf(n))
		}
		return err
	case reflect.Pointer:
		if !v.IsNil() {
			return settleNumbers(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() && holdsInterface(field.Type()) {
				if err := settleNumbers(field); err != nil {
					return err
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if !holdsInterface(v.Type().Elem()) {
			return nil
		}
		for i := range v.Len() {
			if err := settleNumbers(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		return settleMap(v)
	}
	return nil
}

// settleMap is settleNumbers for a map.
func settleMap(v reflect.Value) error {
	if !holdsInterface(v.Type().Elem()) {
		return nil
	}
	for key, item := range v.Seq2() {
		settled := reflect.New(v.Type().Elem()).Elem() // elements of a map cannot be set in place
		settled.Set(item)
		if err := settleNumbers(settled); err != nil {
			return err
		}
		v.SetMapIndex(key, settled)
	}
	return nil
}
