package value_test

import (
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/value"
)

// The bytes are part of the format: if this test has to change, stored values can no longer be compared with older ones.
func TestEncodingIsCanonical(t *testing.T) {
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"null", nil, "f6"},
		{"booleans", []any{false, true}, "82f4f5"},
		{"small integers", []any{0, 23, 24, -1, -25}, "8500171818203818"},
		{"greater integers", []any{256, 65536, 1 << 32, math.MinInt64}, "841901001a000100001b00000001000000003b7fffffffffffffff"},
		{"floats in their shortest form", []any{0.5, 0.1, 3.4028234663852886e38, 1e300}, "84f93800fb3fb999999999999afa7f7ffffffb7e37e43c8800759c"},
		{"whole floats as integers", []any{2.0, math.Copysign(0, -1), 1e3}, "8302001903e8"},
		{"text", "é", "62c3a9"},
		{"keys sorted by their encoding, the shorter first", map[string]any{"b": 1, "aa": 2, "a": 3}, "a361610361620162616102"},
		{"empty", []any{[]any{}, map[string]any{}, ""}, "8380a060"},
		{"nil containers are null", []any{[]any(nil), map[string]any(nil)}, "82f6f6"},
		{"a struct", struct {
			B int `json:"b"`
			A int `json:"a,omitempty"`
		}{B: 1}, "a1616201"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := value.Encode(tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, hex.EncodeToString(data))
			again, err := value.Encode(value.Raw(data))
			require.NoError(t, err)
			require.Equal(t, data, again)
		})
	}
}

func TestDecodeRefusesWhatIsNotOfTheModel(t *testing.T) {
	tests := []struct{ name, in string }{
		{"nothing", ""},
		{"truncated", "82f4"},
		{"trailing bytes", "f4f4"},
		{"duplicate keys", "a2616101616102"},
		{"a key that is a number", "a10102"},
		{"a key that is a list", "a18002"},
		{"a byte string", "4101"},
		{"a byte string inside", "814101"},
		{"a tag", "c1182a"},
		{"a big integer", "c249010000000000000000"},
		{"an integer beyond int64", "1b8000000000000000"},
		{"a negative integer beyond int64", "3b8000000000000000"},
		{"NaN", "f97e00"},
		{"infinity", "f97c00"},
		{"undefined", "f7"},
		{"another simple value", "e0"},
		{"an indefinite list", "9f01ff"},
		{"an indefinite text", "7f6161ff"},
		{"an indefinite object", "bfff"},
		{"invalid UTF-8", "61ff"},
		{"an invalid key", "a161ff01"},
		{"a list that claims to be long", "9b7fffffffffffffff"},
		{"a text that claims to be long", "7b7fffffffffffffff"},
		{"an object that claims to be long", "ba7fffffff"},
		{"too deep", strings.Repeat("81", value.MaxDepth+1) + "01"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := hex.DecodeString(tt.in)
			require.NoError(t, err)
			_, err = value.Decode(data)
			require.Error(t, err)
			require.Error(t, value.DecodeInto(data, new(any)))
			_, err = value.Encode(value.Raw(data))
			require.Error(t, err)
		})
	}
}

func TestDecodeTakesFormsThatAreNotCanonical(t *testing.T) {
	for in, want := range map[string]value.Value{
		"1800":               int64(0),                                     // not the shortest
		"fb4000000000000000": int64(2),                                     // a whole float
		"a2616201616102":     map[string]any{"a": int64(2), "b": int64(1)}, // keys not sorted
		"fbc3e0000000000000": int64(math.MinInt64),
		"fb43e0000000000000": float64(1 << 63),
		"fb3ff8000000000000": 1.5,
	} {
		data, err := hex.DecodeString(in)
		require.NoError(t, err)
		got, err := value.Decode(data)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestTheDeepestValueSurvives(t *testing.T) {
	v := any(int64(1))
	for i := range value.MaxDepth {
		if i%2 == 0 {
			v = []any{v}
		} else {
			v = map[string]any{"k": v}
		}
	}
	data, err := value.Encode(v)
	require.NoError(t, err)
	got, err := value.Decode(data)
	require.NoError(t, err)
	require.True(t, value.Equal(v, got))
	text, err := value.JSON(v)
	require.NoError(t, err)
	got, err = value.ParseJSON(text)
	require.NoError(t, err)
	require.True(t, reflect.DeepEqual(v, got))
	_, err = value.Of([]any{v})
	require.ErrorIs(t, err, value.ErrTooLarge)
}

func TestHashIsThatOfTheValue(t *testing.T) {
	a, err := value.Hash(map[string]any{"a": 1.0, "b": []string{"x"}})
	require.NoError(t, err)
	require.Regexp(t, "^[0-9a-f]{64}$", a)
	b, err := value.Hash(struct {
		B []any `json:"b"`
		A int   `json:"a"`
	}{[]any{"x"}, 1})
	require.NoError(t, err)
	require.Equal(t, a, b)
	c, err := value.Hash(map[string]any{"a": "1", "b": []any{"x"}})
	require.NoError(t, err)
	require.NotEqual(t, a, c)
	_, err = value.Hash(math.NaN())
	require.Error(t, err)
}
