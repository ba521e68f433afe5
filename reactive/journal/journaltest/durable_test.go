package journaltest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlacesLeaveOutTheRoomOfALog(t *testing.T) {
	t.Setenv("SLUICE_EXHAUSTIVE", "")
	written := slices.Concat([]byte("a record"), make([]byte, 500), []byte("the last record"))
	for name, test := range map[string]struct {
		content []byte
		step    int
		dense   int // number of bytes damaged at every step
		most    int // bound of the places
	}{
		"a file without room":         {written, 1, len(written), len(written)},
		"every eighth byte":           {written, 8, len(written), len(written)/8 + 1},
		"a log with a MiB set aside":  {slices.Concat(written, make([]byte, 1<<20)), 1, len(written) + 64, len(written) + 64 + 40},
		"a log of a few zeros":        {slices.Concat(written, make([]byte, 10)), 1, len(written) + 10, len(written) + 10},
		"an empty file":               {nil, 1, 0, 0},
		"a file of nothing but zeros": {make([]byte, 100<<10), 1, 64, 64 + 5},
	} {
		t.Run(name, func(t *testing.T) {
			found := places(test.content, test.step)
			require.True(t, slices.IsSorted(found))
			require.Len(t, slices.Compact(slices.Clone(found)), len(found))
			for i := 0; i < test.dense; i += test.step {
				require.Contains(t, found, i)
			}
			require.LessOrEqual(t, len(found), test.most)
			if n := len(test.content); test.step == 1 && n > 0 {
				require.Equal(t, n-1, found[len(found)-1], "the last byte")
			}
		})
	}
}

func TestZerosThatNobodyWroteAreLoadedAgain(t *testing.T) {
	original := files{"log": slices.Concat([]byte("x"), bytes.Repeat([]byte{0}, 5000)), "empty": {}}
	dir := TempDir(t)
	original.write(t, dir)
	require.Equal(t, original, load(t, dir))
}
