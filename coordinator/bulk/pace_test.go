package bulk_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// gated is a store that holds appends to the runs `w…` at a gate, and counts them there.
type gated struct {
	*memory.Store
	shut   atomic.Bool
	pass   chan struct{}
	inside atomic.Int64
	most   atomic.Int64
}

func (s *gated) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if s.shut.Load() && strings.HasPrefix(stream, "w") {
		n := s.inside.Add(1)
		for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
		}
		<-s.pass
		s.inside.Add(-1)
	}
	return s.Store.Append(ctx, stream, after, events, head)
}

// A commit of the store holds few appends of an act, even if the act has chosen many runs, so that appends of others wait for few; and
// they go on while the act waits.
func TestAnActHasFewAppendsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10 * bulk.AtOnce
		s := &gated{Store: memory.New(), pass: make(chan struct{})}
		e := engineOn(t, s)
		started(t, e, waiting, "w", n)
		started(t, e, strings.Replace(waiting, "waiting", "beside", 1), "other", 1)
		other, err := e.Run(t.Context(), "other0")
		require.NoError(t, err)
		synctest.Wait()
		s.shut.Store(true)
		id, err := e.BeginBulk(t.Context(), bulk.Act{Verb: "cancel", Where: "workflow:waiting", Expect: n})
		require.NoError(t, err)
		for range n {
			synctest.Wait()
			require.Positive(t, s.inside.Load())
			require.NoError(t, other.Pause(t.Context(), ""), "others do not wait for the act")
			require.NoError(t, other.Resume(t.Context()))
			s.pass <- struct{}{}
		}
		status, err := e.AwaitBulk(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, n, status.Done)
		require.EqualValues(t, bulk.AtOnce, s.most.Load())
	})
}
