// Package shapes describes Go types as JSON Schema, as encoding/json writes them.
package shapes

import (
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"time"
)

// Set has the structs that are described, each once. It belongs to one goroutine.
type Set struct {
	described map[string]any // by name
	names     map[reflect.Type]string
}

// New returns a set without structs.
func New() *Set { return &Set{described: map[string]any{}, names: map[reflect.Type]string{}} }

// Described returns the structs of the set, by name.
func (s *Set) Described() map[string]any { return s.described }

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
	textType = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
)

// Of describes a type. Structs are described in the set, and referred to.
func (s *Set) Of(t reflect.Type) map[string]any {
	switch {
	case t == timeType:
		return map[string]any{"type": "string", "format": "date-time"}
	case t == rawType || t.Kind() == reflect.Interface:
		return map[string]any{}
	case t.Implements(textType):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.Of(t.Elem())
	case reflect.Struct:
		return map[string]any{"$ref": "#/components/schemas/" + s.name(t)}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": s.Of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.Of(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}

// name describes a struct, and returns its name, with the name of its package if the set has another struct of that name.
func (s *Set) name(t reflect.Type) string {
	name, known := s.names[t]
	if known {
		return name
	}
	if name = t.Name(); s.described[name] != nil {
		name = path.Base(t.PkgPath()) + "." + name
	}
	s.names[t], s.described[name] = name, true // for types that contain themselves
	s.described[name] = s.object(t)
	return name
}

// object describes a struct.
func (s *Set) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		properties[name] = s.Of(f.Type)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	object := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		object["required"] = required
	}
	return object
}
