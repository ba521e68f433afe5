package value

import (
	"math"
	"reflect"
	"strings"
	"sync"
)

// Most functions return plain structs and arrays. They are converted field by field, several times as fast as with
// encoding/json, and to the same values.

// records maps reflect.Types of structs to their fields as *[]recordField; nil if encoding/json must convert them.
var records sync.Map

type recordField struct {
	name  string
	index []int // as of reflect.Value.FieldByIndex
}

// fromPlain returns the value of a plain struct or array that encoding/json would convert to the same. It leaves values that
// are refused, or changed on the way, to encoding/json.
func fromPlain(v any) (Value, bool) {
	t := reflect.TypeOf(v)
	if k := t.Kind(); k != reflect.Struct && k != reflect.Array {
		return nil, false
	}
	return plainValue(reflect.ValueOf(v), t)
}

// exactMax is the bound up to which encoding/json writes all digits of a whole float, not the shortest form.
const exactMax = 1 << 53

func plainValue(v reflect.Value, t reflect.Type) (Value, bool) {
	switch t.Kind() {
	case reflect.Bool:
		return v.Bool(), true
	case reflect.String:
		return v.String(), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return int64(v.Uint()), v.Uint() <= math.MaxInt64
	case reflect.Float64:
		n, err := ofFloat(v.Float())
		return n, err == nil && math.Abs(v.Float()) <= exactMax
	case reflect.Float32:
		n, err := ofFloat32(float32(v.Float()))
		return n, err == nil && math.Abs(v.Float()) <= exactMax
	case reflect.Struct:
		return plainObject(v, t)
	case reflect.Array:
		return plainList(v, t)
	}
	return nil, false
}

func plainObject(v reflect.Value, t reflect.Type) (Value, bool) {
	fields := fieldsOf(t)
	if fields == nil {
		return nil, false
	}
	object := make(map[string]any, len(*fields))
	for _, field := range *fields {
		member := v.FieldByIndex(field.index)
		n, ok := plainValue(member, member.Type())
		if !ok {
			return nil, false
		}
		object[field.name] = n
	}
	return object, true
}

func plainList(v reflect.Value, t reflect.Type) (Value, bool) {
	if !Plain(t.Elem()) {
		return nil, false
	}
	list := make([]any, t.Len())
	for i := range list {
		n, ok := plainValue(v.Index(i), t.Elem())
		if !ok {
			return nil, false
		}
		list[i] = n
	}
	return list, true
}

// fieldsOf returns the fields of a plain struct; nil if a tag is more than a name of letters, digits and underscores.
func fieldsOf(t reflect.Type) *[]recordField {
	if known, ok := records.Load(t); ok {
		return known.(*[]recordField)
	}
	var fields *[]recordField
	if list, ok := namedFields(t, nil, []recordField{}); ok && Plain(t) {
		fields = &list
	}
	records.Store(t, fields)
	return fields
}

func namedFields(t reflect.Type, around []int, fields []recordField) (_ []recordField, ok bool) {
	for i := range t.NumField() {
		field := t.Field(i)
		index := append(around[:len(around):len(around)], i)
		name, tagged := field.Tag.Lookup("json")
		switch {
		case tagged && !isName(name):
			return nil, false
		case tagged:
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			if fields, ok = namedFields(field.Type, index, fields); !ok {
				return nil, false
			}
			continue
		default:
			name = field.Name
		}
		fields = append(fields, recordField{name, index})
	}
	return fields, true
}

func isName(tag string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	return tag != "" && strings.Trim(tag, letters) == ""
}
