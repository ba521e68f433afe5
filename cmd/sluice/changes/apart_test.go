package changes

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The excerpts of two long values include their first difference, wherever it is, and consist of whole characters.
func TestLongValuesAreShownWhereTheyDiffer(t *testing.T) {
	for _, before := range []int{0, 30, 31, 90, 300, 5000} {
		for _, after := range []int{0, 20, 400} {
			same, rest := strings.Repeat("ä", before), strings.Repeat("z", after)
			old, now := excerpts(same+"OLD"+rest, same+"NEW"+rest)
			require.Contains(t, old, "OLD", "%d, %d", before, after)
			require.Contains(t, now, "NEW", "%d, %d", before, after)
			require.True(t, utf8.ValidString(old+now))
			require.LessOrEqual(t, len(old), shownSize+2*len("…"))
			require.Equal(t, before >= 30 && len(same+rest) > 90, strings.HasPrefix(old, "…"), "%d, %d", before, after)
			require.Equal(t, after == 400, strings.HasSuffix(old, "…"), "%d, %d", before, after)
		}
	}
	old, now := excerpts(nil, strings.Repeat("x", 500))
	require.Equal(t, "none", old)
	require.Equal(t, `"`+strings.Repeat("x", 99)+"…", now)
	old, now = excerpts(strings.Repeat("x", 500)+"y", strings.Repeat("x", 500))
	require.NotEqual(t, old, now, "one is the beginning of the other")
	long := strings.Repeat("x", readSize)
	old, _ = excerpts(long+"a", long+"b")
	require.True(t, strings.HasSuffix(old, "…"), "they differ behind what is read")
}
