package gotypes

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Codec converts between values of one Go type and values of one type.
type Codec struct {
	goType reflect.Type
	schema *schema.Type
	form   form
}

// form is how the values of a Go type are written and read. It is compiled once.
type form struct {
	encode func(v reflect.Value) (value.Value, error)
	decode func(v value.Value, into reflect.Value) error // into is settable, and zero
}

// Compile returns the codec of a Go type for a type. The error names the field that does not fit.
func Compile(t reflect.Type, s *schema.Type) (*Codec, error) {
	f, err := compile(t, s, t.String())
	if err != nil {
		return nil, err
	}
	return &Codec{goType: t, schema: s, form: f}, nil
}

// GoType returns the type of the Go values.
func (c *Codec) GoType() reflect.Type { return c.goType }

// Type returns the type of the values that the codec writes.
func (c *Codec) Type() *schema.Type { return c.schema }

// Encode returns the normal form of a Go value of the codec's type. The error is a *schema.Fault.
func (c *Codec) Encode(v reflect.Value) (value.Value, error) { return c.form.encode(v) }

// Decode sets a Go variable of the codec's type, which is zero, to a value in normal form.
func (c *Codec) Decode(v value.Value, into reflect.Value) error { return c.form.decode(v, into) }

// compile returns the form of a type. at is its place in Go.
func compile(t reflect.Type, s *schema.Type, at string) (form, error) {
	switch s.Kind {
	case schema.Option:
		return compileOption(t, s, at)
	case schema.Record:
		return compileRecord(t, s, at)
	case schema.Variant:
		return compileVariant(t, s, at)
	case schema.List:
		return compileList(t, s, at)
	case schema.Set:
		return compileSet(t, s, at)
	case schema.Map:
		return compileMap(t, s, at)
	}
	if f, ok := scalar(t, s.Kind); ok {
		return f, nil
	}
	return form{}, misfit(at, t, s)
}

// misfit is the error of a Go type that does not fit a type.
func misfit(at string, t reflect.Type, s *schema.Type) error {
	return fmt.Errorf("%s: %s does not fit %s", at, t, s)
}

// within adds a segment to the place of a fault.
func within(err error, segment string) error {
	if f, ok := errors.AsType[*schema.Fault](err); ok {
		f.Pointer = slices.Insert(f.Pointer, 0, segment)
	}
	return err
}

func fault(format string, args ...any) error {
	return &schema.Fault{Text: fmt.Sprintf(format, args...)}
}

// compileOption reads null as a nil pointer.
func compileOption(t reflect.Type, s *schema.Type, at string) (form, error) {
	if t.Kind() != reflect.Pointer {
		return form{}, fmt.Errorf("%s: %s does not fit %s: use *%s", at, t, s, t)
	}
	elem, err := compile(t.Elem(), s.Elem, at)
	if err != nil {
		return form{}, err
	}
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			if v.IsNil() {
				return nil, nil
			}
			return elem.encode(v.Elem())
		},
		decode: func(v value.Value, into reflect.Value) error {
			if v == nil {
				return nil
			}
			into.Set(reflect.New(t.Elem()))
			return elem.decode(v, into.Elem())
		},
	}, nil
}

// member is a field of a struct with its form.
type member struct {
	name  string
	index int
	form  form
}

// members returns the fields of a struct with their forms: the fields of a record, or the arms of a variant.
func members(t reflect.Type, s *schema.Type, at string, part func(reflect.Type, *schema.Type, string) (form, error)) ([]member, error) {
	if t.Kind() != reflect.Struct || t == timeType {
		return nil, misfit(at, t, s)
	}
	list, err := fieldsOf(t, at)
	if err != nil {
		return nil, err
	}
	var all []member
	for _, f := range list {
		of := s.Field(f.name)
		if of == nil {
			return nil, fmt.Errorf("%s: %s has no %q", f.at, s, f.name)
		}
		x, err := part(f.field.Type, of, f.at)
		if err != nil {
			return nil, err
		}
		all = append(all, member{name: f.name, index: f.field.Index[0], form: x})
	}
	for _, f := range s.Fields {
		if !slices.ContainsFunc(all, func(m member) bool { return m.name == f.Name }) {
			return nil, fmt.Errorf("%s: %s lacks the field %q of %s", at, t, f.Name, s)
		}
	}
	return all, nil
}

func compileRecord(t reflect.Type, s *schema.Type, at string) (form, error) {
	fields, err := members(t, s, at, compile)
	if err != nil {
		return form{}, err
	}
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			object := make(map[string]any, len(fields))
			for i := range fields {
				f := &fields[i]
				x, err := f.form.encode(v.Field(f.index))
				if err != nil {
					return nil, within(err, f.name)
				}
				object[f.name] = x
			}
			return object, nil
		},
		decode: func(v value.Value, into reflect.Value) error {
			object, ok := v.(map[string]any)
			if !ok {
				return fault("must be an object, not %s", value.Describe(v))
			}
			for i := range fields {
				f := &fields[i]
				if err := f.form.decode(object[f.name], into.Field(f.index)); err != nil {
					return within(err, f.name)
				}
			}
			return nil
		},
	}, nil
}

// Keys of the normal form of a variant's value.
const (
	tagKey   = "$tag"
	valueKey = "$value"
)

// compileVariant reads a variant as the one pointer of a struct that is not nil.
func compileVariant(t reflect.Type, s *schema.Type, at string) (form, error) {
	arms, err := members(t, s, at, func(t reflect.Type, s *schema.Type, at string) (form, error) {
		if t.Kind() != reflect.Pointer {
			return form{}, refused(at, t, "an arm is a pointer, nil if it is not the one that is set")
		}
		return compile(t.Elem(), s, at)
	})
	if err != nil {
		return form{}, err
	}
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			var set *member
			for i := range arms {
				if v.Field(arms[i].index).IsNil() {
					continue
				}
				if set != nil {
					return nil, fault("two arms are set, %s and %s", set.name, arms[i].name)
				}
				set = &arms[i]
			}
			if set == nil {
				return nil, fault("no arm is set")
			}
			x, err := set.form.encode(v.Field(set.index).Elem())
			if err != nil {
				return nil, within(err, set.name)
			}
			return map[string]any{tagKey: set.name, valueKey: x}, nil
		},
		decode: func(v value.Value, into reflect.Value) error {
			object, _ := v.(map[string]any)
			i := slices.IndexFunc(arms, func(m member) bool { return m.name == object[tagKey] })
			if i < 0 {
				return fault("must be an arm of %s, not %s", s, value.Describe(v))
			}
			arm := into.Field(arms[i].index)
			arm.Set(reflect.New(arm.Type().Elem()))
			return within(arms[i].form.decode(object[valueKey], arm.Elem()), arms[i].name)
		},
	}, nil
}
