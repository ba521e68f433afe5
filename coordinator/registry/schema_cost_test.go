package registry_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/template"
)

// doubling returns a schema in which each level tries the next one twice.
func doubling(keyword string, levels int) map[string]any {
	defs := map[string]any{fmt.Sprint("d", levels): map[string]any{"type": "string"}}
	for i := range levels {
		next := map[string]any{"$ref": fmt.Sprint("#/$defs/d", i+1)}
		defs[fmt.Sprint("d", i)] = map[string]any{keyword: []any{next, next}}
	}
	return map[string]any{"$defs": defs, "$ref": "#/$defs/d0"}
}

func TestASchemaThatDoublesIsRefusedBeforeItIsTried(t *testing.T) {
	for _, keyword := range []string{"oneOf", "anyOf", "allOf"} {
		w := &template.Workflow{Name: "w", Input: doubling(keyword, 40)}
		err := registry.CheckInput(w, int64(1))
		refused, ok := err.(*registry.InputError)
		require.True(t, ok, "%v", err)
		require.ErrorContains(t, refused, "the schema costs too much: more than 1000016 steps")
	}
	// A schema whose steps double with each level of the input.
	item := map[string]any{"$ref": "#"}
	tree := map[string]any{"anyOf": []any{
		map[string]any{"items": item}, map[string]any{"items": item}, map[string]any{"type": "string"},
	}}
	deep := any("leaf")
	for range 60 {
		deep = []any{deep}
	}
	require.ErrorContains(t, registry.CheckInput(&template.Workflow{Name: "w", Input: tree}, deep), "the schema costs too much")
	require.NoError(t, registry.CheckInput(&template.Workflow{Name: "w", Input: tree}, []any{"a", []any{"b"}}))
}

func TestALargeInputOfAPlainSchemaIsAnswered(t *testing.T) {
	list := make([]any, 300_000)
	for i := range list {
		list[i] = map[string]any{"a": int64(i)}
	}
	one := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "integer"}}}
	w := &template.Workflow{Name: "w", Input: map[string]any{"type": "array", "items": one}}
	require.NoError(t, registry.CheckInput(w, list))
}

func TestFaultsOfAnInputAreAsManyAndAsLongAsAPersonReads(t *testing.T) {
	w := &template.Workflow{Name: "w", Input: map[string]any{"type": "array", "items": map[string]any{"type": "string", "pattern": "^b"}}}
	list := make([]any, 10_000)
	for i := range list {
		list[i] = strings.Repeat("a", 1_000)
	}
	err := registry.CheckInput(w, list)
	refused, ok := err.(*registry.InputError)
	require.True(t, ok, "%v", err)
	require.Len(t, refused.Faults, 100)
	require.Less(t, len(err.Error()), 100*300)
}

// Without a bound, the stack grows to 500 MB for these few bytes, and with an input of 32 MiB beyond the memory of a process.
func TestASchemaThatNestsForEverIsRefusedBeforeTheStackGrows(t *testing.T) {
	for _, schema := range []map[string]any{
		{"$ref": "#"},
		{"allOf": []any{map[string]any{"$ref": "#"}, map[string]any{"not": map[string]any{"$ref": "#"}}}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := registry.CheckInput(&template.Workflow{Name: "w", Input: schema}, nil)
		runtime.ReadMemStats(&after)
		require.Less(t, int64(after.StackSys)-int64(before.StackSys), int64(64<<20))
		require.ErrorContains(t, err, "the schema costs too much: its subschemas nest deeper than 10000 for this input")
	}
}
