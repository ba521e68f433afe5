package cborhead_test

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/internal/cborhead"
)

// The examples are those of RFC 8949, appendix A, and the bounds of each width.
func TestHeadsHaveTheirShortestForm(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "00", 23: "17", 24: "1818", 100: "1864", 255: "18ff", 256: "190100", 1000: "1903e8", 65535: "19ffff", 65536: "1a00010000",
		1000000: "1a000f4240", math.MaxUint32: "1affffffff", math.MaxUint32 + 1: "1b0000000100000000",
		1000000000000: "1b000000e8d4a51000", math.MaxUint64: "1bffffffffffffffff",
	} {
		require.Equal(t, want, hex.EncodeToString(cborhead.Append(nil, 0, n)))
	}
	require.Equal(t, []byte{1, 3<<5 | 2}, cborhead.Append([]byte{1}, 3<<5, 2), "what is there stays")
}
