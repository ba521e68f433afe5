package journaltest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// tailing is a Tail in a goroutine, which sends each event to events, and the error that ends the Tail to end.
type tailing struct {
	events chan journal.Event
	end    chan error
}

func tail(ctx context.Context, s journal.Store, stream string, from uint64) tailing {
	t := tailing{events: make(chan journal.Event), end: make(chan error, 1)}
	go func() {
		for e, err := range s.Tail(ctx, stream, from) {
			if err != nil {
				t.end <- err
				break
			}
			t.events <- e
		}
		close(t.end)
	}()
	return t
}

func testTail(t *testing.T, s journal.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	follower := tail(ctx, s, "run", 1) // before the stream exists
	late := tail(ctx, s, "run", 6)     // before its first event exists
	want := []journal.Event{}
	for i, n := range []int{1, 3, 1, 40} {
		after := uint64(len(want))
		events := batch(n, fmt.Sprint(i))
		mustAppend(t, s, "run", after, events, journal.Head{})
		mustAppend(t, s, "elsewhere", after, events, journal.Head{})
		want = append(want, numbered(after, events)...)
		for _, e := range want[after:] {
			require.Equal(t, e, <-follower.events)
		}
	}
	for _, e := range want[5:] {
		require.Equal(t, e, <-late.events)
	}
	cancel()
	require.ErrorIs(t, <-follower.end, context.Canceled)
	require.ErrorIs(t, <-late.end, context.Canceled)
}

func testTailEnds(t *testing.T, s journal.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	n := 0
	for _, err := range s.Tail(ctx, "run", 1) {
		if n++; n == 1 {
			require.NoError(t, err)
			cancel()
			continue
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Equal(t, 2, n, "one event and one error")
	for e := range s.Tail(context.Background(), "run", 1) {
		require.Equal(t, uint64(1), e.Seq, "a reader may stop")
		break
	}
}

func testTailsMissNothing(t *testing.T, s journal.Store) {
	const tails, writers, total = 5, 3, 150
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	for range tails {
		wg.Go(func() {
			next := uint64(1)
			for e, err := range s.Tail(ctx, "run", 1) {
				if err != nil || e.Seq != next {
					t.Errorf("event %d where %d belongs: %v", e.Seq, next, err)
					return
				}
				if next++; next > total {
					return
				}
			}
		})
	}
	for range writers {
		wg.Go(func() {
			// A writer that loses a sequence to another tries the next.
			for last := uint64(0); last < total; last++ {
				_, _ = s.Append(ctx, "run", last, batch(1, "a"), journal.Head{})
			}
		})
	}
	wg.Wait()
}

func testCloseEndsTail(t *testing.T, s journal.Store) {
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	follower := tail(context.Background(), s, "run", 1)
	<-follower.events
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-follower.end, journal.ErrClosed)
}
