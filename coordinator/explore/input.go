package explore

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/template/value"
)

// startsWith returns the inputs of the runs to explore: the input of the options, or those that the document distinguishes and its schema
// accepts. The error is the schema's.
func (e *explorer) startsWith() ([]value.Value, error) {
	w := e.plan.Workflow
	if e.options.Input != nil {
		return []value.Value{e.options.Input}, registry.CheckInput(w, e.options.Input)
	}
	var list []value.Value
	for _, in := range e.guesses.inputs {
		if in = filled(w.Input, in, 0); registry.CheckInput(w, in) == nil {
			list = append(list, in)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	if registry.CheckInput(w, nil) == nil {
		return []value.Value{nil}, nil
	}
	in := filled(w.Input, nil, 0)
	return []value.Value{in}, registry.CheckInput(w, in)
}

const filledMax = 16 // depth of a guessed input

// filled completes a value with those properties and types that a JSON Schema requires and that are easily found.
func filled(schema, v value.Value, depth int) value.Value {
	s, ok := schema.(map[string]any)
	if !ok || depth > filledMax {
		return v
	}
	for _, key := range []string{"enum", "examples"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 && !slices.ContainsFunc(list, func(x any) bool { return value.Equal(x, v) }) {
			if key == "enum" || v == nil {
				v = list[0]
			}
		}
	}
	types, ok := s["type"].([]any)
	if !ok {
		types = []any{s["type"]}
	}
	if slices.ContainsFunc(types, func(t any) bool { return is(t, v) }) {
		return below(s, v, depth)
	}
	switch types[0] {
	case "object":
		v = map[string]any{}
	case "array":
		v = []any{nil}
	case "string":
		v = something
	case "integer", "number":
		v = int64(1)
	case "boolean":
		v = true
	}
	return below(s, v, depth)
}

// is reports whether a value is of a type of JSON Schema.
func is(t, v value.Value) bool {
	switch v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case int64:
		return t == "integer" || t == "number"
	case float64:
		return t == "number"
	case []any:
		return t == "array"
	}
	return t == "object"
}

// below completes the members of a value.
func below(s map[string]any, v value.Value, depth int) value.Value {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for key, schema := range properties {
			if _, has := out[key]; has || slices.Contains(required, any(key)) {
				out[key] = filled(schema, out[key], depth+1)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = filled(s["items"], v[i], depth+1)
		}
		return out
	}
	return v
}
