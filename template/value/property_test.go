package value_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/value"
)

// anything draws Go values that Of accepts: of the model and of other types, mixed at every level.
func anything(depth int) *rapid.Generator[any] {
	edges := []float64{math.MinInt64, -math.MinInt64, math.Nextafter(math.MinInt64, 0), math.Nextafter(math.MinInt64, -1e19), 1 << 62, 1 << 53, 1<<53 + 2, 1e19, -1e20, 1e21, math.MaxFloat64, 5e-324}
	finite := rapid.OneOf(rapid.SampledFrom(edges), rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }))
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Int().AsAny(), rapid.Int8().AsAny(), rapid.Uint32().AsAny(), finite.AsAny(),
		rapid.Map(rapid.Int64(), func(i int64) any { return float64(i) }), rapid.Map(rapid.Int32(), func(i int32) any { return float32(i) / 8 }),
		rapid.String().AsAny(), rapid.SliceOf(rapid.Byte()).AsAny(),
		rapid.SampledFrom([]any{json.Number("1.50"), json.Number("-0"), []any(nil), map[string]any(nil), value.Raw{0xf6}}),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	item := anything(depth - 1)
	return rapid.OneOf(append(scalars,
		rapid.SliceOfN(item, 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), item, 0, 4).AsAny(),
		rapid.SliceOfN(rapid.String(), 0, 3).AsAny(),
		rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).AsAny(),
		rapid.Custom(func(t *rapid.T) any {
			return struct {
				A any     `json:"a"`
				B float64 `json:"b,omitempty"`
				C *any
			}{item.Draw(t, "a"), finite.Draw(t, "b"), ptr(item.Draw(t, "c"))}
		}),
	)...)
}

// requireModel checks the invariants of Value, by other means than Of.
func requireModel(t require.TestingT, v any) {
	switch v := v.(type) {
	case nil, bool, int64:
	case string:
		require.Equal(t, string([]rune(v)), v, "invalid UTF-8")
	case float64:
		require.False(t, math.IsNaN(v) || math.IsInf(v, 0) || v == math.Trunc(v) && v >= math.MinInt64 && v < -math.MinInt64, "%v", v)
	case []any:
		require.NotNil(t, v)
		for _, item := range v {
			requireModel(t, item)
		}
	case map[string]any:
		require.NotNil(t, v)
		for key, item := range v {
			requireModel(t, key)
			requireModel(t, item)
		}
	default:
		require.Fail(t, "not of the model", "%T", v)
	}
}

// fractions counts the numbers in v that are not integers.
func fractions(v any) (n int) {
	switch v := v.(type) {
	case float64:
		return 1
	case []any:
		for _, item := range v {
			n += fractions(item)
		}
	case map[string]any:
		for _, item := range v {
			n += fractions(item)
		}
	}
	return n
}

func TestEveryWayIntoTheModelAgrees(t *testing.T) {
	bytes := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) any { return string(b) }) // not always valid UTF-8
	rapid.Check(t, func(t *rapid.T) {
		in := any([]any{anything(3).Draw(t, "in"), bytes.Draw(t, "bytes")})
		v, err := value.Of(in)
		require.NoError(t, err)
		requireModel(t, v)

		again, err := value.Of(v)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(v, again), "Of(Of(x)) == Of(x)")

		direct, err := value.Encode(in)
		require.NoError(t, err)
		data, err := value.Encode(v)
		require.NoError(t, err)
		require.Equal(t, data, direct, "Encode(x) == Encode(Of(x))")

		size, err := value.Size(v, math.MaxInt)
		require.NoError(t, err)
		require.LessOrEqual(t, len(data), size)
		require.LessOrEqual(t, size, len(data)+6*fractions(v), "Size(x) == len(Encode(x)), but for fractions")
		if half, err := value.Size(v, size/2); size > 1 {
			require.NoError(t, err)
			require.Greater(t, half, size/2, "Size stops late enough to tell")
		}

		text, err := value.JSON(v)
		require.NoError(t, err)
		length, err := value.JSONSize(v)
		require.NoError(t, err)
		require.Equal(t, len(text), length, "JSONSize(x) == len(JSON(x))")

		decoded, err := value.Decode(data)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(v, decoded), "Decode(Encode(x)) == Of(x)")

		text, err = value.JSON(in)
		require.NoError(t, err)
		require.True(t, json.Valid(text), "%s", text)
		parsed, err := value.ParseJSON(text)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(v, parsed), "ParseJSON(JSON(x)) == Of(x): %s", text)

		var converted any
		require.NoError(t, value.Convert(in, &converted))
		require.True(t, reflect.DeepEqual(v, converted), "Convert(x, *any) == Of(x)")
	})
}

// Two values are equal exactly if their encodings are, so Hash identifies a value.
func TestEqualAgreesWithTheEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anything(2).Draw(t, "a"), anything(2).Draw(t, "b")
		dataA, err := value.Encode(a)
		require.NoError(t, err)
		dataB, err := value.Encode(b)
		require.NoError(t, err)
		require.Equal(t, string(dataA) == string(dataB), value.Equal(a, b))
		require.Equal(t, value.Equal(a, b), value.Equal(b, a))
	})
}

// A typed consumer receives the same from the value itself and from its encoding, and plain types lose nothing.
func TestConvertAgreesWithDecodeInto(t *testing.T) {
	type plain struct {
		A int64
		B string `json:"b,omitempty"`
		C [2]float32
		D struct{ E uint16 }
	}
	require.True(t, value.Plain(reflect.TypeFor[plain]()))
	type open struct {
		plain
		F any
		G map[string][]any
		H []float64
	}
	rapid.Check(t, func(t *rapid.T) {
		in := open{F: anything(2).Draw(t, "f"), G: map[string][]any{"g": {anything(1).Draw(t, "g")}}, H: []float64{float64(rapid.Int32().Draw(t, "h"))}}
		in.plain = plain{A: rapid.Int64().Draw(t, "A"), B: rapid.String().Draw(t, "B"), C: [2]float32{float32(rapid.Int16().Draw(t, "C")) / 3}}
		in.D.E = rapid.Uint16().Draw(t, "E")
		data, err := value.Encode(in)
		require.NoError(t, err)
		var live, recovered open
		require.NoError(t, value.Convert(in, &live))
		require.NoError(t, value.DecodeInto(data, &recovered))
		require.True(t, reflect.DeepEqual(live, recovered))

		var same plain
		require.NoError(t, value.Convert(in.plain, &same))
		require.Equal(t, in.plain, same)
	})
}

func TestPointersFindWhatTheyPointTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := value.Pointer(rapid.SliceOf(rapid.StringMatching(`[a~/01 ]{0,3}`)).Draw(t, "p"))
		parsed, err := value.ParsePointer(p.String())
		require.NoError(t, err)
		require.Equal(t, []string(p), append([]string{}, parsed...))
		var v any = "found"
		for i := len(p) - 1; i >= 0; i-- {
			v = map[string]any{p[i]: v}
		}
		got, err := p.Lookup(v)
		require.NoError(t, err)
		require.Equal(t, "found", got)
	})
}
