package journaltest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// requireTrimmed requires that reading from a sequence on yields only a TrimmedError with the first sequence behind the gap.
func requireTrimmed(t require.TestingT, s journal.Store, stream string, from, first uint64) {
	events, err := read(s, stream, from)
	require.Empty(t, events)
	requireTrimmedError(t, err, first)
}

func requireTrimmedError(t require.TestingT, err error, first uint64) {
	require.ErrorIs(t, err, journal.ErrTrimmed)
	require.NotErrorIs(t, err, journal.ErrDamaged)
	var trimmed *journal.TrimmedError
	require.True(t, errors.As(err, &trimmed))
	require.Equal(t, first, trimmed.First)
}

// testTrim repeatedly trims a stream of batches of several sizes, also in the middle of batches.
func testTrim(t *testing.T, s journal.ContentStore) {
	ctx := context.Background()
	want := []journal.Event{}
	grow := func(n int) {
		after := uint64(len(want))
		events := batch(n, fmt.Sprint("at ", after))
		mustAppend(t, s, "run", after, events, journal.Head{Run: "run", Status: "running", Snapshot: after + uint64(n)})
		want = append(want, numbered(after, events)...)
	}
	for _, n := range []int{3, 1, 5, 1, 1, 1200, 7, 900} {
		grow(n)
	}
	mustAppend(t, s, "other", 0, batch(4, "other"), journal.Head{Run: "other", Snapshot: 4})
	first := uint64(0)
	for _, before := range []uint64{0, 1, 2, 3, 5, 4, 8, 10, 1000, 1211, 1212, 2118, 2, uint64(len(want))} {
		require.NoError(t, s.Trim(ctx, "run", before))
		if before > 2 {
			first = max(first, before)
		}
		head, err := s.Head(ctx, "run")
		require.NoError(t, err)
		require.Equal(t, first, head.First)
		require.Equal(t, uint64(len(want)), head.Last)
		if first == 0 {
			require.Equal(t, want, mustRead(t, s, "run", 1))
			continue
		}
		events, err := read(s, "run", 1)
		require.Equal(t, want[:1], events, "event 1 stays")
		requireTrimmedError(t, err, first)
		requireTrimmed(t, s, "run", 2, first)
		requireTrimmed(t, s, "run", first-1, first)
		require.Equal(t, want[first-1:], mustRead(t, s, "run", first))
		grow(1)
		require.Equal(t, want[first-1:], mustRead(t, s, "run", first))
		head.Last, head.Snapshot = head.Last+1, head.Snapshot+1
		require.Contains(t, mustHeads(t, s, ""), head, "an append leaves the gap where it is")
	}
	require.Len(t, mustRead(t, s, "other", 1), 4)
}

func testTrimGuard(t *testing.T, s journal.ContentStore) {
	ctx := context.Background()
	mustAppend(t, s, "run", 0, batch(9, "a"), journal.Head{})
	require.ErrorIs(t, s.Trim(ctx, "run", 5), journal.ErrInvalid, "without a head")
	mustAppend(t, s, "run", 9, batch(1, "a"), journal.Head{Run: "run", Snapshot: 6})
	require.ErrorIs(t, s.Trim(ctx, "run", 7), journal.ErrInvalid)
	require.Len(t, mustRead(t, s, "run", 1), 10)
	require.NoError(t, s.Trim(ctx, "run", 6))
	require.ErrorIs(t, s.Trim(ctx, "run", 10), journal.ErrInvalid)
	require.Len(t, mustRead(t, s, "run", 6), 5)
}

// testTrimUnderReader trims in the middle of reading: the reader receives the next event or ErrTrimmed.
func testTrimUnderReader(t *testing.T, s journal.ContentStore) {
	for i := range 30 {
		mustAppend(t, s, "run", uint64(i*100), batch(100, "a"), journal.Head{Run: "run", Snapshot: uint64(i*100 + 100)})
	}
	next := uint64(1)
	for e, err := range s.Read(context.Background(), "run", 1) {
		if err != nil {
			requireTrimmedError(t, err, 2950)
			break
		}
		require.Equal(t, next, e.Seq)
		if next == 10 {
			require.NoError(t, s.Trim(context.Background(), "run", 2950))
		}
		next++
	}
	require.Greater(t, next, uint64(10))
	require.Len(t, mustRead(t, s, "run", 2950), 51)
}

func testTrimUnderTail(t *testing.T, s journal.ContentStore) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mustAppend(t, s, "run", 0, batch(5, "a"), journal.Head{Run: "run", Snapshot: 5})
	follower := tail(ctx, s, "run", 5)
	require.Equal(t, uint64(5), (<-follower.events).Seq)
	require.NoError(t, s.Trim(ctx, "run", 5))
	mustAppend(t, s, "run", 5, batch(1, "a"), journal.Head{})
	require.Equal(t, uint64(6), (<-follower.events).Seq, "one that has what was trimmed goes on")
	late := tail(ctx, s, "run", 1)
	require.Equal(t, uint64(1), (<-late.events).Seq)
	requireTrimmedError(t, <-late.end, 5)
	cancel()
	require.ErrorIs(t, <-follower.end, context.Canceled)
}

func testHeadOfOne(t *testing.T, s journal.ContentStore) {
	ctx := context.Background()
	for i, name := range []string{"a", "ab", "b"} {
		head := journal.Head{Run: name, Status: fmt.Sprint(i), Snapshot: uint64(i), Labels: map[string]string{"k": "v"}}
		mustAppend(t, s, name, 0, batch(i+1, "a"), head)
	}
	for _, want := range mustHeads(t, s, "") {
		got, err := s.Head(ctx, want.Run)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	mustAppend(t, s, "headless", 0, batch(1, "a"), journal.Head{})
	for _, name := range []string{"headless", "unknown", "c"} {
		_, err := s.Head(ctx, name)
		require.ErrorIs(t, err, journal.ErrNotFound, name)
	}
}
