package coordinator_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/residence"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template/kinds"
)

// Waiting runs leave memory at once if there are too many, and are loaded again when a message comes.
func TestRunsInMemoryAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := kinds.ParseStored([]byte(`{"kind": "Workflow", "name": "wait", "operations": {"wait": {"wait": {"message": "go"}}},
			"steps": [{"operation": "wait"}]}`))
		require.NoError(t, err)
		e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{RunsInMemory: 3, IdleTimeout: time.Hour})
		require.NoError(t, err)
		defer e.Shutdown(t.Context())
		for i := range 20 {
			_, err := e.Start(t.Context(), w, nil, coordinator.WithID(fmt.Sprint("r", i)))
			require.NoError(t, err)
		}
		synctest.Wait()
		require.Equal(t, 3, e.InMemory())
		for i := range 20 {
			r, err := e.Run(t.Context(), fmt.Sprint("r", i))
			require.NoError(t, err)
			require.NoError(t, r.Send(t.Context(), "go", nil))
			result, err := r.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, reactive.RunCompleted, result.Status)
		}
	})
}

// stuck is a store in which no run starts before on is closed.
type stuck struct {
	journal.Store
	on chan struct{}
}

func (s *stuck) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if len(events) > 0 && events[0].Type == journal.RunStarted {
		<-s.on
	}
	return s.Store.Append(ctx, stream, after, events, head)
}

// If many runs are started at once, a bounded number is in memory before being durable.
func TestRunsThatStartAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := kinds.ParseStored([]byte(`{"kind": "Workflow", "name": "wait", "operations": {"wait": {"wait": {"message": "go"}}},
			"steps": [{"operation": "wait"}]}`))
		require.NoError(t, err)
		s := &stuck{memory.New(), make(chan struct{})}
		e, err := coordinator.New(t.Context(), s, coordinator.Config{})
		require.NoError(t, err)
		defer e.Shutdown(t.Context())
		require.NoError(t, e.Register(w))
		most := cap(residence.NewStarts())
		var durable atomic.Int64
		for range most + 100 {
			go func() {
				if _, err := e.Start(t.Context(), w, nil); err == nil {
					durable.Add(1)
				}
			}()
		}
		synctest.Wait()
		require.Zero(t, durable.Load())
		require.Equal(t, most, e.InMemory())
		close(s.on)
		synctest.Wait()
		require.EqualValues(t, most+100, durable.Load())
		require.Equal(t, most+100, e.InMemory())
	})
}
