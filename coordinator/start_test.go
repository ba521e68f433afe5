package coordinator_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// tollgate is a store whose first append to run r waits until the test sends its error.
type tollgate struct {
	journal.Store
	once sync.Once
	ends chan error
}

func (g *tollgate) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	var err error
	if stream == "r" {
		g.once.Do(func() { err = <-g.ends })
	}
	if err != nil {
		return 0, err
	}
	return g.Store.Append(ctx, stream, after, events, head)
}

// TestAStartWaitsForAnEarlierOne: while the first start of an id is not durable, an equal start waits and returns the same run,
// and a different one waits and is refused with the difference. If the first fails, the id is free.
func TestAStartWaitsForAnEarlierOne(t *testing.T) {
	for _, end := range []error{nil, journal.ErrReadOnly} {
		synctest.Test(t, func(t *testing.T) {
			g := &tollgate{Store: memory.New(), ends: make(chan error)}
			e, err := coordinator.New(t.Context(), g, coordinator.Config{})
			require.NoError(t, err)
			w := parse(t, waits2)
			begin := func(ctx context.Context, input any) <-chan error {
				answered := make(chan error, 1)
				go func() {
					_, err := e.Start(ctx, w, input, coordinator.WithID("r"))
					answered <- err
				}()
				synctest.Wait()
				return answered
			}
			first := begin(t.Context(), 1)
			ctx, cancel := context.WithCancel(t.Context())
			impatient := begin(ctx, 1)
			cancel()
			require.ErrorIs(t, <-impatient, context.Canceled)
			var same, other []<-chan error
			for range 20 {
				same = append(same, begin(t.Context(), 1))
			}
			if end == nil {
				other = append(other, begin(t.Context(), 2), begin(t.Context(), 3))
			}
			g.ends <- end
			require.Equal(t, end, errors.Unwrap(errors.Unwrap(<-first)), "only the first fails")
			for _, answered := range same {
				require.NoError(t, <-answered)
			}
			for _, answered := range other {
				var exists *coordinator.ExistsError
				require.ErrorAs(t, <-answered, &exists)
				require.Equal(t, "its input differs", exists.Difference)
			}
			require.NoError(t, e.Shutdown(t.Context()))
		})
	}
}

func TestOfConcurrentStartsOneWins(t *testing.T) {
	store, err := disk.Open(t.TempDir(), disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	e, err := coordinator.New(t.Context(), store, coordinator.Config{})
	require.NoError(t, err)
	w := parse(t, waits2)
	answered := make(chan error)
	for i := range 100 {
		go func() {
			_, err := e.Start(t.Context(), w, i, coordinator.WithID("r"))
			answered <- err
		}()
	}
	won := 0
	for range 100 {
		err := <-answered
		if err == nil {
			won++
			continue
		}
		var exists *coordinator.ExistsError
		require.ErrorAs(t, err, &exists)
	}
	require.Equal(t, 1, won)
	require.NoError(t, e.Shutdown(t.Context()))
}
