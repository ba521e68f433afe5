package value_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/value"
)

// TestBothCodecsAgree: for any value, and for any change of its encoding, the handwritten codec and the general one return the same.
func TestBothCodecsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anything(3).Draw(t, "value")
		want, err := value.EncodeGenerally(v)
		require.NoError(t, err)
		data, err := value.Append([]byte("before"), v)
		require.NoError(t, err)
		require.Equal(t, "before"+string(want), string(data))
		if i := rapid.IntRange(0, len(want)-1).Draw(t, "at"); rapid.Bool().Draw(t, "changed") {
			want[i] = rapid.Byte().Draw(t, "byte")
		}
		requireSameDecoded(t, want[:rapid.IntRange(0, len(want)).Draw(t, "length")])
		requireSameDecoded(t, want)
	})
}

func requireSameDecoded(t require.TestingT, data []byte) {
	want, refused := value.DecodeGenerally(data)
	got, err := value.Decode(data)
	require.Equal(t, refused == nil, err == nil, "%x: %v, %v", data, err, refused)
	require.True(t, reflect.DeepEqual(want, got), "%x: %#v, %#v", data, got, want)
}

// TestFractionsOf16Bits decodes all of them.
func TestFractionsOf16Bits(t *testing.T) {
	for bits := range 1 << 16 {
		requireSameDecoded(t, []byte{0xf9, byte(bits >> 8), byte(bits)})
	}
}

// TestBothCodecsRefuse: a value that one codec refuses, the other refuses in the same words.
func TestBothCodecsRefuse(t *testing.T) {
	deep := any(int64(1))
	for range value.MaxDepth + 1 {
		deep = []any{deep}
	}
	for name, v := range map[string]any{
		"too deep": deep, "NaN": math.NaN(), "infinity": []any{math.Inf(1)}, "a channel": map[string]any{"a": make(chan int)},
		"an invalid key": map[string]any{"\xff": nil}, "too long": map[string]any{"a": strings.Repeat("x", value.MaxSizeBytes)},
	} {
		t.Run(name, func(t *testing.T) {
			_, want := value.EncodeGenerally(v)
			require.Error(t, want)
			data, err := value.Append([]byte("before"), v)
			require.EqualError(t, err, want.Error())
			require.Equal(t, "before", string(data[:len("before")]))
		})
	}
}

// TestCodecAllocations: an encoding takes no memory but its own, and a decoded value no more than its parts.
func TestCodecAllocations(t *testing.T) {
	v := map[string]any{"id": "order-17", "cents": int64(1250), "tags": []any{"a", "b"}, "memo": nil, "late": false}
	buffer := make([]byte, 0, 1024)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = value.Append(buffer, v) }))
	data, err := value.Encode(v)
	require.NoError(t, err)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = value.Decode(data) }), 18.)
}
