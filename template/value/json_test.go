package value_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/value"
)

func TestJSONIsCompactSortedAndNotEscaped(t *testing.T) {
	tests := []struct {
		in   any
		want string
	}{
		{nil, `null`}, {true, `true`}, {-5, `-5`}, {2.5, `2.5`}, {2.0, `2`}, {1e-7, `1e-07`}, {0.000001, `0.000001`}, {1e19, `1e+19`}, {math.MaxFloat64, `1.7976931348623157e+308`},
		{int64(math.MinInt64), `-9223372036854775808`}, {123456789.5, `123456789.5`},
		{"<&>\u2028é/", "\"<&>\u2028é/\""}, {"\"\\\n\r\t\x00\x1f\x7f", "\"\\\"\\\\\\n\\r\\t\\u0000\\u001f\x7f\""},
		{map[string]any{"b": []any{}, "a": map[string]any{}, "A": nil}, `{"A":null,"a":{},"b":[]}`},
		{value.Raw{0x81, 0xf5}, `[true]`},
	}
	for _, tt := range tests {
		got, err := value.JSON(tt.in)
		require.NoError(t, err)
		require.Equal(t, tt.want, string(got))
		back, err := value.ParseJSON(got)
		require.NoError(t, err)
		require.True(t, value.Equal(tt.in, back), "%s", got)
	}
	got, err := value.AppendJSON([]byte("x="), []int{1})
	require.NoError(t, err)
	require.Equal(t, "x=[1]", string(got))
	got, err = value.AppendJSON([]byte("x="), math.NaN())
	require.Error(t, err)
	require.Equal(t, "x=", string(got))
}

func TestParseJSONKeepsIntegersExact(t *testing.T) {
	for in, want := range map[string]value.Value{
		` 9007199254740993 `: int64(9007199254740993), `-9223372036854775808`: int64(math.MinInt64), `1.0`: int64(1), `1e2`: int64(100), `-0`: int64(0), `-0.0`: int64(0), `0.1`: 0.1, `1e19`: 1e19, `12345678901234567890.5`: 12345678901234567890.5,
		`"\ud83d\ude00\u00e9"`: "😀é", "\"\xff\"": "\ufffd", `{"a":1,"a":2}`: map[string]any{"a": int64(2)}, `[]`: []any{},
	} {
		got, err := value.ParseJSON([]byte(in))
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
}

func TestParseJSONRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`9223372036854775808`:            "has an integer that is beyond the range of int64",
		`{"a":[0,-9223372036854775809]}`: "at /a/1 has an integer that is beyond",
		`1e999`:                          "not a number or out of range",
		`{"a":1} x`:                      "there is more after the value, which ends at offset 7",
		`1 2`:                            "there is more",
		``:                               "unexpected EOF",
		`{"a":`:                          "unexpected EOF",
		`{a:1}`:                          "invalid character",
		`01`:                             "there is more",
		`NaN`:                            "invalid character",
	} {
		_, err := value.ParseJSON([]byte(in))
		require.ErrorContains(t, err, want, in)
	}
}

func TestTextReadsAsInsideAText(t *testing.T) {
	for want, in := range map[string]any{"a \"b\"": "a \"b\"", "null": nil, "true": true, "7": 7, "2.5": 2.5, `{"a":["x"]}`: map[string]any{"a": []any{"x"}}, "[1]": value.Raw{0x81, 1}, "2026": value.Raw{0x19, 0x07, 0xea}, "b": value.Raw{0x61, 'b'}, "NaN": math.NaN()} {
		require.Equal(t, want, value.Text(in))
	}
}

func TestKindAndDescribe(t *testing.T) {
	for _, tt := range []struct {
		in             any
		kind, describe string
	}{
		{nil, "null", "null"}, {true, "boolean", "a boolean"}, {int64(1), "integer", "an integer"}, {1.5, "number", "a number"}, {"", "string", "a string"}, {[]any{}, "list", "a list"}, {map[string]any{}, "object", "an object"}, {1, "int", "a int"},
	} {
		require.Equal(t, tt.kind, value.Kind(tt.in))
		require.Equal(t, tt.describe, value.Describe(tt.in))
	}
}

func TestEqualComparesValues(t *testing.T) {
	list := []any{int64(1), nil}
	object := map[string]any{"a": list}
	equal := [][2]any{
		{nil, nil}, {1, 1.0}, {int64(2), 2.0}, {2.0, int64(2)}, {1.5, 1.5}, {"a", "a"}, {list, []any{1.0, nil}}, {object, map[string]any{"a": []any{1, nil}}},
		{nil, []any(nil)}, {[]any(nil), nil}, {map[string]any(nil), []any(nil)}, {value.Raw{1}, int64(1)}, {int64(1), value.Raw{1}}, {[]any{value.Raw{1}}, []any{1}}, {"x", value.Raw{0x61, 'x'}}, {[]string{"a"}, []any{"a"}}, {1e19, 1e19},
	}
	for _, pair := range equal {
		require.True(t, value.Equal(pair[0], pair[1]), "%v", pair)
		require.True(t, value.Equal(pair[1], pair[0]), "%v", pair)
	}
	unequal := [][2]any{
		{true, "true"}, {1, "1"}, {nil, false}, {nil, 0}, {int64(1), 1.5}, {int64(math.MaxInt64), float64(1 << 63)}, {[]any{}, nil}, {[]any{}, []any(nil)}, {map[string]any{}, []any{}}, {map[string]any{}, map[string]any(nil)}, {list, []any{int64(1)}}, {list, "x"}, {list, int64(1)},
		{object, map[string]any{"b": list}}, {object, map[string]any{}}, {[]any{1, 2}, []any{2, 1}}, {math.NaN(), math.NaN()}, {make(chan int), 1}, {1.5, list}, {true, false}, {1.5, "1.5"},
	}
	for _, pair := range unequal {
		require.False(t, value.Equal(pair[0], pair[1]), "%v", pair)
		require.False(t, value.Equal(pair[1], pair[0]), "%v", pair)
	}
}
