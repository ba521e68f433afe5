package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// testWritersRace runs writers that compete for the same sequences: exactly one must succeed for each sequence.
func testWritersRace(t *testing.T, s journal.Store) {
	const writers, total = 8, 200
	won := make([][]uint64, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for last := uint64(0); last < total; last++ {
				_, err := s.Append(context.Background(), "run", last, batch(1, fmt.Sprint("writer", w)), journal.Head{})
				if err == nil {
					won[w] = append(won[w], last+1)
				} else if !errors.Is(err, journal.ErrConflict) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	events := mustRead(t, s, "run", 1)
	require.Len(t, events, total)
	winners := 0
	for w, seqs := range won {
		winners += len(seqs)
		for _, seq := range seqs {
			require.Equal(t, fmt.Sprintf("writer%d/0", w), events[seq-1].Value)
		}
	}
	require.Equal(t, total, winners, "exactly one writer wins each sequence")
}

// testWritersApart runs one writer for each stream: their concurrent appends must not mix.
func testWritersApart(t *testing.T, s journal.Store) {
	const writers, batches = 16, 30
	var wg sync.WaitGroup
	for w := range writers {
		name := fmt.Sprintf("run%02d", w)
		wg.Go(func() {
			for i := range batches {
				_, err := s.Append(context.Background(), name, uint64(2*i), batch(2, name), journal.Head{Run: name, Due: int64(i + 1)})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	list := mustHeads(t, s, "")
	require.Len(t, list, writers)
	for _, h := range list {
		require.Equal(t, uint64(2*batches), h.Last)
		require.Equal(t, int64(batches), h.Due)
		for i, e := range mustRead(t, s, h.Run, 1) {
			require.Equal(t, uint64(i+1), e.Seq)
			require.Equal(t, fmt.Sprintf("%s/%d", h.Run, i%2), e.Value)
		}
	}
}
