package registry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

func TestFaultsOfASchemaHaveTheirPlaces(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"a type that is none", "{properties: {a: {type: [string, 3]}}}", `w.yaml:3:41: input.properties.a.type[1]: input schema: `},
		{"a limit that is none", "{properties: {a: {minimum: x}}}", `w.yaml:3:35: input.properties.a.minimum: input schema: got string, want number`},
		{"a pattern that is none", "{pattern: '('}", `w.yaml:3:18: input.pattern: input schema: '(' is not valid regex`},
		{"a reference that leads nowhere", "{properties: {a: {$ref: '#/$defs/no'}}}",
			`w.yaml:3:32: input.properties.a["$ref"]: input schema: json-pointer in "#/$defs/no" not found`},
		{"a reference to elsewhere", "{allOf: [{$ref: other.json}]}", `w.yaml:3:24: input.allOf[0]["$ref"]: input schema: failing loading "other.json"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := template.Parse("w.yaml", []byte("kind: Workflow\nname: w\ninput: "+c.schema+"\nsteps: [{operation: a}]\n"))
			require.NoError(t, err)
			err = registry.CheckInput(w, nil)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "input:///")
			require.NotContains(t, err.Error(), "file:")
		})
	}
	built := &template.Workflow{Name: "w", Input: map[string]any{"properties": map[string]any{"a": map[string]any{"minimum": "x"}}}}
	err := registry.CheckInput(built, nil)
	require.EqualError(t, err, "input schema: /properties/a/minimum: got string, want number")
}

// TestViolationsSayWhatIsWrong: no violation names the refused value as the one that is wanted, and none has texts of Go.
func TestViolationsSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ schema, input, want string }{
		{"{type: object}", "[]", "/: got array, want object"},
		{`{properties: {"c/d~e": {type: string}}}`, `{"c/d~e": 1}`, "/c~1d~0e: got number, want string"},
		{"{exclusiveMinimum: 0}", "0", "/: must be greater than 0, not 0"},
		{"{exclusiveMaximum: 1.5}", "1.5", "/: must be less than 1.5, not 1.5"},
		{"{maximum: 9007199254740992}", "9007199254740993", "/: must be at most 9007199254740992, not 9007199254740993"},
		{"{minimum: 1}", "0.5", "/: must be at least 1, not 0.5"},
		{"{multipleOf: 2}", "3", "/: must be a multiple of 2, not 3"},
		{"{enum: [1, a, null, {b: [1.5]}]}", "2", `/: value must be one of 1, "a", null, {"b":[1.5]}`},
		{"{enum: []}", "2", "/: value must be one of an empty list, so none is allowed"},
		{"{const: null}", "2", "/: value must be null"},
		{"{const: {a: 1}}", "2", `/: value must be {"a":1}`},
		{"{properties: {a: false}}", `{"a": 1}`, "/a: no value is allowed here"},
		{"false", "1", "/: no value is allowed here"},
	} {
		w, err := template.Parse("w.yaml", []byte("kind: Workflow\nname: w\ninput: "+c.schema+"\nsteps: [{operation: a}]\n"))
		require.NoError(t, err)
		input, err := value.ParseJSON([]byte(c.input))
		require.NoError(t, err)
		require.EqualError(t, registry.CheckInput(w, input), "input of w: "+c.want, c.schema)
	}
	built := &template.Workflow{Name: "w", Input: map[string]any{"properties": map[string]any{"a/b": map[string]any{"minLength": -1}}}}
	require.EqualError(t, registry.CheckInput(built, nil), "input schema: /properties/a~1b/minLength: must be at least 0, not -1")
}
