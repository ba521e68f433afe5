package registry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/template"
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
