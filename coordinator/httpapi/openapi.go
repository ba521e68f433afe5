package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"strings"
	"time"
)

// OpenAPI returns the description of the routes, as openapi.json has it: made from the table and the types.
func OpenAPI() ([]byte, error) {
	s := schemas{described: map[string]any{}, names: map[reflect.Type]string{}}
	paths := map[string]map[string]any{}
	for i := range routes {
		r := &routes[i]
		if paths[r.Path] == nil {
			paths[r.Path] = map[string]any{}
		}
		paths[r.Path][strings.ToLower(r.Method)] = s.operation(r)
	}
	s.of(reflect.TypeFor[Problem]())
	data, err := json.MarshalIndent(map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "Sluice", "version": "1"},
		"paths":   paths,
		"components": map[string]any{
			"schemas":         s.described,
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
		},
	}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("describe the routes: %w", err)
	}
	return append(data, '\n'), nil
}

// pathNames explain what paths name.
var pathNames = map[string]string{
	"run": "id of the run", "key": "key of the step", "cell": "address of the cell", "name": "of the workflow", "hash": "of the version", "id": "as a list has it",
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

// schemas are the types that are described.
type schemas struct {
	described map[string]any // by name
	names     map[reflect.Type]string
}

// operation describes a route.
func (s schemas) operation(r *Route) map[string]any {
	var params []any
	for _, m := range inPath.FindAllStringSubmatch(r.Path, -1) {
		params = append(params, param(m[1], "path", pathNames[m[1]]))
	}
	for _, p := range r.Query {
		params = append(params, param(p.Name, "query", p.Summary))
	}
	for _, p := range r.Headers {
		if p.Name != "Accept" { // OpenAPI says that by the kinds of answers
			params = append(params, param(p.Name, "header", p.Summary))
		}
	}
	op := map[string]any{
		"summary": r.Summary, "operationId": r.operationID(), "x-role": r.Role.String(),
		"responses": map[string]any{
			fmt.Sprint(max(r.Status, http.StatusOK)): map[string]any{"description": "It was done.", "content": s.answer(r)},
			"default": map[string]any{"description": "It was refused, or has failed.", "content": map[string]any{
				"application/problem+json": map[string]any{"schema": s.of(reflect.TypeFor[Problem]())},
			}},
		},
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if r.Body != nil {
		op["requestBody"] = map[string]any{"content": map[string]any{
			"application/json": map[string]any{"schema": s.of(reflect.TypeOf(r.Body))},
		}}
	}
	if r.Role != Nobody {
		op["security"] = []any{map[string]any{"token": []string{}}}
	}
	return op
}

// answer describes the answer of a route.
func (s schemas) answer(r *Route) map[string]any {
	if strings.HasSuffix(r.Path, "/feed") {
		return map[string]any{"text/event-stream": map[string]any{}, "application/x-ndjson": map[string]any{}}
	}
	if r.Path == "/v1/export" {
		return map[string]any{"application/x-ndjson": map[string]any{}}
	}
	if r.Path == "/metrics" {
		return map[string]any{"text/plain": map[string]any{}}
	}
	schema := map[string]any{}
	if r.Answer != nil {
		schema = s.of(reflect.TypeOf(r.Answer))
	}
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

// operationID names a route for programs: get_v1_runs_run_steps.
func (r *Route) operationID() string {
	return strings.ToLower(r.Method) + strings.NewReplacer("/", "_", "{", "", "}", "", ".", "_").Replace(r.Path)
}

func param(name, in, summary string) map[string]any {
	p := map[string]any{"name": name, "in": in, "description": summary, "schema": map[string]any{"type": "string"}}
	if in == "path" {
		p["required"] = true
	}
	return p
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
	textType = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
)

// of describes a type as encoding/json writes it. Structs are described once.
func (s schemas) of(t reflect.Type) map[string]any {
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
		return s.of(t.Elem())
	case reflect.Struct:
		return map[string]any{"$ref": "#/components/schemas/" + s.name(t)}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}

// name describes a struct, and returns its name: with that of its package, if another has been described by that name.
func (s schemas) name(t reflect.Type) string {
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
func (s schemas) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		properties[name] = s.of(f.Type)
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
