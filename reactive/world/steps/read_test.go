package steps_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/steps"
	"github.com/sluiceflow/sluice/template/value"
)

// TestParseIsExact: of values similar to those of activations, Parse accepts exactly those that equal the Value of the read
// step.
func TestParseIsExact(t *testing.T) {
	scalar := rapid.SampledFrom([]any{nil, true, false, "", "timer", "pay", int64(0), int64(7), []any{}, []any{"a"}, []any{int64(1)}})
	object := func(keys ...string) *rapid.Generator[any] {
		return rapid.Map(rapid.MapOf(rapid.SampledFrom(keys), scalar), func(m map[string]any) any { return m })
	}
	seen := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		pick := func(name string, good any) any {
			if rapid.IntRange(0, 9).Draw(t, name) > 0 {
				return good
			}
			return scalar.Draw(t, name)
		}
		v := map[string]any{"cause": pick("cause", int64(3))}
		for key, good := range map[string]any{
			"state": map[string]any{"n": int64(1)}, "dropped": []any{"sum[a].pay@3.0"}, "completed": true, "note": "so", "ignored": true, "other": true,
		} {
			if rapid.IntRange(0, 5).Draw(t, "has "+key) == 0 {
				v[key] = pick(key, good)
			}
		}
		for key, good := range map[string]*rapid.Generator[any]{
			"raised": rapid.OneOf(rapid.Just[any](map[string]any{"event": "Sum", "value": nil, "cells": []any{"log"}}), object("event", "value", "cells")),
			"emitted": rapid.OneOf(
				rapid.Just[any](map[string]any{"effect": "pay", "params": nil, "intent": "sha256:00", "key": "k"}),
				rapid.Just[any](map[string]any{"timer": "late", "due": int64(9)}), object("effect", "params", "intent", "key", "issuer"), object("timer", "due"), scalar,
			),
		} {
			if rapid.Bool().Draw(t, "has "+key) {
				v[key] = rapid.SliceOfN(good, 0, 3).Draw(t, key)
			}
		}
		var of any = v
		if rapid.Bool().Draw(t, "encoded") {
			data, err := value.Encode(v)
			require.NoError(t, err)
			of = value.Raw(data)
		}
		step, exact := steps.Parse(&journal.Event{Type: journal.CellStepped, Node: "sum[a]", Seq: 3, Value: of})
		require.Equal(t, value.Equal(v, step.Value()), exact, "%v", v)
		seen[exact]++
	})
	require.NotZero(t, seen[true])
	require.NotZero(t, seen[false])
}
