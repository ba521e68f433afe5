package tagged_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/machine/tagged"
)

// TestMapIsCanonical: a general encoder writes the same bytes behind the tag, for heads of each length.
func TestMapIsCanonical(t *testing.T) {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	require.NoError(t, err)
	for _, n := range []int{0, 23, 24, 255, 256, 65_535, 65_536} {
		data := bytes.Repeat([]byte{1}, n)
		m := tagged.NewMap()
		m.Uint("n", uint64(n))
		m.Text("text", strings.Repeat("x", n))
		m.Uint("great", 1<<32+uint64(n))
		m.Bytes(strings.Repeat("b", 24), data)
		want, err := mode.Marshal(map[string]any{"n": n, "text": strings.Repeat("x", n), "great": 1<<32 + uint64(n), strings.Repeat("b", 24): data})
		require.NoError(t, err)
		require.Equal(t, append([]byte{0xd9, 0xd9, 0xf7}, want...), m.Encoding())
	}
}
