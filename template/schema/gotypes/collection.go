package gotypes

import (
	"reflect"
	"strconv"

	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

func compileList(t reflect.Type, s *schema.Type, at string) (form, error) {
	if t.Kind() != reflect.Slice {
		return form{}, misfit(at, t, s)
	}
	elem, err := compile(t.Elem(), s.Elem, at)
	if err != nil {
		return form{}, err
	}
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			list := make([]any, v.Len())
			for i := range list {
				x, err := elem.encode(v.Index(i))
				if err != nil {
					return nil, within(err, strconv.Itoa(i))
				}
				list[i] = x
			}
			return list, nil
		},
		decode: func(v value.Value, into reflect.Value) error {
			list, ok := v.([]any)
			if !ok {
				return fault("must be a list, not %s", value.Describe(v))
			}
			if len(list) == 0 {
				return nil
			}
			into.Set(reflect.MakeSlice(t, len(list), len(list)))
			for i, x := range list {
				if err := elem.decode(x, into.Index(i)); err != nil {
					return within(err, strconv.Itoa(i))
				}
			}
			return nil
		},
	}, nil
}

// compileSet reads a set as a slice, or as a map without values. Package schema defines the order of its elements.
func compileSet(t reflect.Type, s *schema.Type, at string) (form, error) {
	if t.Kind() != reflect.Map || t.Elem() != unitType {
		f, err := compileList(t, s, at)
		if err != nil {
			return form{}, err
		}
		list := f.encode
		f.encode = func(v reflect.Value) (value.Value, error) {
			x, err := list(v)
			if err != nil {
				return nil, err
			}
			return s.Normalize(x)
		}
		return f, nil
	}
	elem, err := compile(t.Key(), s.Elem, at)
	if err != nil {
		return form{}, err
	}
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			list := make([]any, 0, v.Len())
			var first error
			for it := v.MapRange(); it.Next(); {
				x, err := elem.encode(it.Key())
				first = least(first, err)
				list = append(list, x)
			}
			if first != nil {
				return nil, first
			}
			return s.Normalize(list)
		},
		decode: func(v value.Value, into reflect.Value) error {
			list, ok := v.([]any)
			if !ok {
				return fault("must be a list, not %s", value.Describe(v))
			}
			into.Set(reflect.MakeMapWithSize(t, len(list)))
			for i, x := range list {
				key := reflect.New(t.Key()).Elem()
				if err := elem.decode(x, key); err != nil {
					return within(err, strconv.Itoa(i))
				}
				into.SetMapIndex(key, reflect.Zero(unitType))
			}
			return nil
		},
	}, nil
}

// compileMap reads a map, whose keys are texts in values.
func compileMap(t reflect.Type, s *schema.Type, at string) (form, error) {
	if t.Kind() != reflect.Map {
		return form{}, misfit(at, t, s)
	}
	key, err := compile(t.Key(), s.Key, at)
	if err != nil {
		return form{}, err
	}
	elem, err := compile(t.Elem(), s.Elem, at)
	if err != nil {
		return form{}, err
	}
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			object := make(map[string]any, v.Len())
			var first error
			for it := v.MapRange(); it.Next(); {
				k, err := key.encode(it.Key())
				name := keyText(k)
				if _, again := object[name]; err == nil && again {
					err = within(fault("is there twice"), name)
				}
				if err == nil {
					object[name], err = elem.encode(it.Value())
					err = within(err, name)
				}
				first = least(first, err)
			}
			if first != nil {
				return nil, first
			}
			return object, nil
		},
		decode: func(v value.Value, into reflect.Value) error {
			object, ok := v.(map[string]any)
			if !ok {
				return fault("must be an object, not %s", value.Describe(v))
			}
			into.Set(reflect.MakeMapWithSize(t, len(object)))
			for name, x := range object {
				k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
				of, err := keyValue(s.Key.Kind, name)
				if err == nil {
					err = key.decode(of, k)
				}
				if err == nil {
					err = elem.decode(x, e)
				}
				if err != nil {
					return within(err, name)
				}
				into.SetMapIndex(k, e)
			}
			return nil
		},
	}, nil
}

// least returns the error with the lesser text, so that the result does not depend on the order of a map.
func least(a, b error) error {
	if a == nil || b != nil && b.Error() < a.Error() {
		return b
	}
	return a
}

// keyText returns a key in the form that it has in an object.
func keyText(k value.Value) string {
	if n, ok := k.(int64); ok {
		return strconv.FormatInt(n, 10)
	}
	text, _ := k.(string)
	return text
}

// keyValue returns the value of a key of an object.
func keyValue(k schema.Kind, name string) (value.Value, error) {
	if k != schema.Int && k != schema.Nat {
		return name, nil
	}
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return nil, fault("the key %q is no integer of 64 bits", name)
	}
	return n, nil
}
