package value_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/value"
)

type offer struct {
	Price    float64           `json:"price"`
	Count    int               `json:"count"`
	Note     string            `json:"note,omitempty"`
	Data     []byte            `json:"data"`
	Tags     []string          `json:"tags"`
	Labels   map[string]string `json:"labels"`
	Anything any               `json:"anything"`
	hidden   int
}

func TestOfBringsGoValuesIntoTheModel(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 30, 0, 500, time.UTC)
	n := 7
	tests := []struct {
		name string
		in   any
		want value.Value
	}{
		{"null", nil, nil},
		{"int", 3, int64(3)},
		{"int8", int8(-3), int64(-3)},
		{"int16", int16(-3), int64(-3)},
		{"int32", int32(-3), int64(-3)},
		{"uint", uint(3), int64(3)},
		{"uint8", uint8(3), int64(3)},
		{"uint16", uint16(3), int64(3)},
		{"uint32", uint32(3), int64(3)},
		{"the greatest uint64 that fits", uint64(math.MaxInt64), int64(math.MaxInt64)},
		{"a whole float", 2.0, int64(2)},
		{"minus zero", math.Copysign(0, -1), int64(0)},
		{"a whole float above 2^53", float64(1 << 60), int64(1 << 60)},
		{"the least int64 as a float", -float64(1 << 63), int64(math.MinInt64)},
		{"the least int64 as a float of another type", []float64{-1 << 63}, []any{int64(math.MinInt64)}},
		{"a whole float beyond int64", 1e19, 1e19},
		{"a fraction", 0.5, 0.5},
		{"float32 keeps its digits", float32(0.1), 0.1},
		{"a whole float32", float32(4), int64(4)},
		{"invalid UTF-8, byte by byte", "a\xff\xfeb", "a\ufffd\ufffdb"},
		{"json.Number", json.Number("12"), int64(12)},
		{"json.Number with a fraction that is none", json.Number("12.0"), int64(12)},
		{"json.Number that a float would change", json.Number("9007199254740993.0"), int64(9007199254740993)},
		{"json.Number with an exponent", json.Number("1e2"), int64(100)},
		{"pointer", &n, int64(7)},
		{"nil pointer", (*int)(nil), nil},
		{"nil list", []any(nil), nil},
		{"nil object", map[string]any(nil), nil},
		{"nil strings", []string(nil), nil},
		{"nil string map", map[string]string(nil), nil},
		{"strings", []string{"a", "b"}, []any{"a", "b"}},
		{"string map", map[string]string{"a": "b"}, map[string]any{"a": "b"}},
		{"ints", []int{1, 2}, []any{int64(1), int64(2)}},
		{"map by int", map[int]bool{1: true}, map[string]any{"1": true}},
		{"bytes", []byte{1, 2, 3}, "AQID"},
		{"time", at, "2026-01-01T12:30:00.0000005Z"},
		{"named string", time.Month(3), int64(3)},
		{"marshaler", big.NewInt(42), int64(42)},
		{"raw JSON", json.RawMessage(`{"a":1.0}`), map[string]any{"a": int64(1)}},
		{"an encoded value", value.Raw{0x81, 0x02}, []any{int64(2)}},
		{"nested foreign values", map[string]any{"a": []any{1, value.Raw{0x03}}}, map[string]any{"a": []any{int64(1), int64(3)}}},
		{"a struct by its tags", offer{Price: 2, Count: 1, Data: []byte("x"), Anything: 1e19, hidden: 1}, map[string]any{
			"price": int64(2), "count": int64(1), "data": "eA==", "tags": nil, "labels": nil, "anything": 1e19,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := value.Of(tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestOfRefusesWhatTheModelCannotHold(t *testing.T) {
	cycle := []any{nil}
	cycle[0] = cycle
	deep := any("bottom")
	for range value.MaxDepth + 1 {
		deep = []any{deep}
	}
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"NaN", math.NaN(), "value is NaN"},
		{"infinity, with its place", map[string]any{"a/b": []any{1, math.Inf(1)}}, "value at /a~1b/1 is +Inf"},
		{"an integer beyond int64", uint64(math.MaxInt64) + 1, "an integer that is beyond the range of int64"},
		{"a json.Number beyond int64", json.Number("-9223372036854775809"), "beyond the range of int64"},
		{"a json.Number that is none", json.Number("x"), "not a number"},
		{"an integer beyond int64 in a struct", struct{ N uint64 }{math.MaxUint64}, "at /N has an integer that is beyond"},
		{"a channel", make(chan int), "unsupported type: chan int"},
		{"a list that holds itself", cycle, "nests deeper than 128 levels"},
		{"what nests too deep", deep, "nests deeper than 128 levels"},
		{"an invalid key", map[string]any{"\xff": 1}, "key that is not valid UTF-8"},
		{"damaged encoding", value.Raw{0x81}, "decode value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := value.Of(tt.in)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestOfReportsTheSameFaultEveryTime(t *testing.T) {
	for range 20 {
		_, err := value.Of(map[string]any{"d": math.NaN(), "b": math.NaN(), "c": 1, "e": math.NaN()})
		require.EqualError(t, err, "value at /b is NaN, which is not a number of the model")
	}
}

// A hundred shared lists can stand for a value of 2^100 elements.
func TestOfEndsOnAGraphThatUnfoldsWithoutEnd(t *testing.T) {
	v := any("x")
	for range 100 {
		v = []any{v, v}
	}
	_, err := value.Of(v)
	require.ErrorIs(t, err, value.ErrTooLarge)
	_, err = value.Encode(v)
	require.ErrorIs(t, err, value.ErrTooLarge)
}

func TestOfDoesNotCopyWhatIsOfTheModel(t *testing.T) {
	inner := map[string]any{"b": []any{int64(1), "x", nil, true, 1.5}}
	v := map[string]any{"a": inner}
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = value.Of(v) }))

	// Changed parts are copied, their neighbours are not, and the original stays unchanged.
	mixed := map[string]any{"same": inner, "other": []any{1}}
	got, err := value.Of(mixed)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"same": inner, "other": []any{int64(1)}}, got)
	require.Equal(t, []any{1}, mixed["other"])
	got.(map[string]any)["same"].(map[string]any)["mark"] = true
	require.Contains(t, inner, "mark", "an unchanged part is shared")
}

func TestRawInAStructReadsLikeItsValue(t *testing.T) {
	type envelope struct {
		Body value.Raw `json:"body"`
	}
	raw, err := value.Encode(map[string]any{"n": 1})
	require.NoError(t, err)
	text, err := json.Marshal(envelope{raw})
	require.NoError(t, err)
	require.Equal(t, `{"body":{"n":1}}`, string(text))
	var back envelope
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, value.Raw(raw), back.Body)
	require.Error(t, json.Unmarshal([]byte(`{"body":18446744073709551615}`), &back))
}

func TestTooLargeIsOneBranchableCondition(t *testing.T) {
	big := strings.Repeat("x", value.MaxSizeBytes)
	for name, try := range map[string]func() error{
		"Of":        func() error { _, err := value.Of(big); return err },
		"Encode":    func() error { _, err := value.Encode(big); return err },
		"Decode":    func() error { _, err := value.Decode(make([]byte, value.MaxSizeBytes+1)); return err },
		"ParseJSON": func() error { _, err := value.ParseJSON([]byte(`"` + big + `"`)); return err },
	} {
		require.True(t, errors.Is(try(), value.ErrTooLarge), name)
	}
}
