package journaltest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// testBehind appends behind gaps of several lengths. The stream must then be as if the events in the gap had been appended and
// trimmed.
func testBehind(t *testing.T, s journal.ContentStore) {
	ctx := context.Background()
	for _, gap := range []uint64{2, 7, 8, 23, 1015, 1016, 1017, 2040, 5000} {
		run := "run" + string(rune('a'+gap%26)) + string(rune('a'+gap/26%26)) + string(rune('a'+gap/676))
		head := journal.Head{Run: run, Status: "waiting", Open: true, Snapshot: gap + 2}
		first, tail := batch(1, "start"), batch(30, "tail")
		mustAppend(t, s, run, 0, first, journal.Head{})
		last, err := s.AppendBehind(ctx, run, gap, tail[:20], head)
		require.NoError(t, err)
		require.Equal(t, gap+20, last)
		mustAppend(t, s, run, last, tail[20:], journal.Head{})
		want := numbered(gap, tail)

		events, err := read(s, run, 1)
		require.Equal(t, numbered(0, first), events)
		requireTrimmedError(t, err, gap+1)
		requireTrimmed(t, s, run, 2, gap+1)
		require.Equal(t, want, mustRead(t, s, run, gap+1))
		require.Equal(t, want[5:], mustRead(t, s, run, gap+6))
		has, err := s.Head(ctx, run)
		require.NoError(t, err)
		head.First, head.Last = gap+1, gap+30
		require.Equal(t, head, has)
		require.NoError(t, s.Trim(ctx, run, gap+2), "it can be trimmed further")
		require.Equal(t, want[1:], mustRead(t, s, run, gap+2))
	}
}

func testBehindGuard(t *testing.T, s journal.ContentStore) {
	ctx := context.Background()
	head := func(run string, snapshot uint64) journal.Head { return journal.Head{Run: run, Snapshot: snapshot} }
	behind := func(run string, gap uint64, n int, h journal.Head) error {
		_, err := s.AppendBehind(ctx, run, gap, batch(n, "a"), h)
		return err
	}
	mustAppend(t, s, "one", 0, batch(1, "a"), journal.Head{})
	mustAppend(t, s, "two", 0, batch(2, "a"), journal.Head{})
	require.ErrorIs(t, behind("none", 5, 1, head("none", 6)), journal.ErrConflict)
	require.ErrorIs(t, behind("two", 5, 1, head("two", 6)), journal.ErrConflict)
	require.ErrorIs(t, behind("one", 1, 1, head("one", 6)), journal.ErrInvalid)
	require.ErrorIs(t, behind("one", 5, 0, head("one", 6)), journal.ErrInvalid)
	require.ErrorIs(t, behind("one", 5, 1, head("one", 5)), journal.ErrInvalid, "no snapshot has replaced what is missing")
	require.ErrorIs(t, behind("one", 5, 1, head("two", 6)), journal.ErrInvalid)
	require.Len(t, mustRead(t, s, "one", 1), 1)
	require.NoError(t, behind("one", 5, 1, head("one", 6)))
	require.ErrorIs(t, behind("one", 5, 1, head("one", 6)), journal.ErrConflict)
}
