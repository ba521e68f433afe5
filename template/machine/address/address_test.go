package address_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/machine/address"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// TestAKeyHasOneAddress: however a key is written, its address names the same key, and the keys of all types except text are JSON.
func TestAKeyHasOneAddress(t *testing.T) {
	docs, err := document.Parse("types.yaml", []byte(`K: {record: {text: text, bytes: bytes, time: time, duration: duration, hash: hash, uuid: uuid, dec128: dec128,
int: int, bool: bool, record: {record: {a: int, b: option<text>}}, set: set<text>}}`), document.Limits{})
	require.NoError(t, err)
	types, faults := schema.Read(docs[0])
	require.Empty(t, faults)
	written := map[string]*rapid.Generator[string]{
		"text":     rapid.StringN(0, 9, -1),
		"bytes":    rapid.SampledFrom([]string{"", `""`, "/+8=", `"/+8="`}),
		"time":     rapid.SampledFrom([]string{"2026-01-01T00:00:00Z", `"2026-01-01T02:00:00+02:00"`, "2026-01-01T00:00:00.000Z"}),
		"duration": rapid.SampledFrom([]string{"PT60S", `"PT1M"`, "PT0.50S"}),
		"hash":     rapid.Just("sha256:" + strings.Repeat("ab", 32)),
		"uuid":     rapid.SampledFrom([]string{"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", `"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`}),
		"dec128":   rapid.StringMatching(`"?-?[0-9]{1,4}(\.[0-9]{1,3})?"?`),
		"int":      rapid.StringMatching(` ?-?[1-9][0-9]{0,3}(\.0)?`),
		"bool":     rapid.SampledFrom([]string{"true", " false"}),
		"record":   rapid.SampledFrom([]string{`{"a": 1}`, `{"b":null,"a":1.0}`, `{"b":"x/ y","a":2}`}),
		"set":      rapid.SampledFrom([]string{`["b","a","b"]`, `[]`, `["a", "b"]`}),
	}
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom(slices.Sorted(maps.Keys(written))).Draw(r, "type")
		of := types.Lookup("K").Field(kind)
		key, err := address.Key(of, written[kind].Draw(r, "written"))
		if err != nil {
			return // such as a quote at one end
		}
		text := address.Of("m", of, key)
		inner, ok := strings.CutSuffix(strings.TrimPrefix(text, "m["), "]")
		require.True(r, ok)
		plain, err := address.Unescape(inner)
		require.NoError(r, err)
		again, err := address.Key(of, plain)
		require.NoError(r, err)
		require.Equal(r, key, again)
		if kind == "text" {
			require.Equal(r, key, plain)
			return
		}
		data, err := value.JSON(key)
		require.NoError(r, err)
		require.Equal(r, string(data), plain)
	})
}
