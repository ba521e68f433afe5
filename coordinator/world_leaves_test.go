package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// countedReads is a store that counts the events that are read, and whose content can be made to wait, or to fail.
type countedReads struct {
	*memory.Store
	read atomic.Int64
	free chan struct{} // nil: content does not wait
	err  error
}

func (s *countedReads) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range s.Store.Read(ctx, stream, from) {
			if s.read.Add(1); !yield(e, err) {
				return
			}
		}
	}
}

func (s *countedReads) PutContent(ctx context.Context, stream string, blobs [][]byte) error {
	if s.free != nil {
		<-s.free
	}
	if s.err != nil {
		return s.err
	}
	return s.Store.PutContent(ctx, stream, blobs)
}

// counting is an engine that runs worlds of counters.
type counting struct {
	t *testing.T
	*coordinator.Engine
	store *countedReads
}

func newCounting(t *testing.T, store *countedReads, config coordinator.Config) counting {
	config.Logger = slog.New(slog.DiscardHandler)
	e, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	return counting{t, e, store}
}

// world starts a world and sends it messages.
func (c counting) world(id string, messages int) *coordinator.Run {
	checked, err := kinds.Load("count.yaml", []byte(countWorld), template.Known{})
	require.NoError(c.t, err)
	run, err := c.Start(c.t.Context(), checked.Workflow, nil, coordinator.WithID(id))
	require.NoError(c.t, err)
	c.send(run, messages)
	return run
}

func (c counting) send(run *coordinator.Run, messages int) {
	for range messages {
		_, err := run.SendMessage(c.t.Context(), cells.Message{Name: "Add", Payload: map[string]any{"id": "a", "n": 1}})
		require.NoError(c.t, err)
	}
}

// reopened asks a world that is not in memory for its sum, and returns the number of events that were read for that.
func (c counting) reopened(run *coordinator.Run, sum int) int64 {
	require.Zero(c.t, c.InMemory())
	before := c.store.read.Load()
	state, err := run.Cell(c.t.Context(), "sum[a]")
	require.NoError(c.t, err)
	require.Equal(c.t, map[string]any{"n": int64(sum)}, state.State)
	return c.store.read.Load() - before
}

// snapshots returns the number of snapshots in the journal of a run.
func (c counting) snapshots(run *coordinator.Run) (n int) {
	for _, e := range journalOf(c.t, run) {
		if e.Type == journal.WorldSnapshotted {
			n++
		}
	}
	return n
}

// TestAWorldThatLeavesMemoryKeepsItsStateFirst: so an engine that opens it again reads no long tail of events. The changes of a
// few events are not kept: these events are read again.
func TestAWorldThatLeavesMemoryKeepsItsStateFirst(t *testing.T) {
	const few = 4 // the first event of the run, that of the snapshot, and those since
	for _, test := range []struct {
		messages, snapshots int
		read                int64
	}{{10, 0, 1 + 2*10}, {1_000, 1, few}} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounting(t, &countedReads{Store: memory.New()}, coordinator.Config{IdleTimeout: time.Minute})
			run := c.world("w", test.messages)
			require.Equal(t, 0, c.snapshots(run), "it is in memory")
			time.Sleep(time.Minute + time.Second) // it leaves at once after its snapshot
			synctest.Wait()
			require.LessOrEqual(t, c.reopened(run, test.messages), test.read)
			require.Equal(t, test.snapshots, c.snapshots(run))
			c.send(run, 1)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			require.LessOrEqual(t, c.reopened(run, test.messages+1), test.read+2)
			require.Equal(t, test.snapshots, c.snapshots(run), "a few events more make no other")
			require.NoError(t, c.Shutdown(context.Background()))
		})
	}
}

// TestAWorldThatLeavesMemoryIsNotHeldUp: while its snapshot is written, it takes messages; once that counts, it leaves.
func TestAWorldThatLeavesMemoryIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t, &countedReads{Store: memory.New(), free: make(chan struct{})}, coordinator.Config{IdleTimeout: time.Minute})
		run := c.world("w", 500)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		require.Equal(t, 1, c.InMemory(), "its snapshot is being written")
		c.send(run, 10)
		read := c.store.read.Load()
		close(c.store.free)
		synctest.Wait()
		require.Equal(t, int64(0), c.store.read.Load()-read, "it was in memory when the snapshot was taken")
		require.Zero(t, c.InMemory(), "it has been idle for long")
		require.Less(t, c.reopened(run, 510), int64(30))
		require.NoError(t, c.Shutdown(context.Background()))
	})
}

// TestAWorldWithoutASnapshotLeavesMemory: if none can be written, the world leaves nevertheless, and loses nothing.
func TestAWorldWithoutASnapshotLeavesMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countedReads{Store: memory.New(), err: errors.New("no room")}
		c := newCounting(t, store, coordinator.Config{IdleTimeout: time.Minute})
		run := c.world("w", 500)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		require.Equal(t, int64(1+2*500), c.reopened(run, 500))
		require.NoError(t, c.Shutdown(context.Background()))
	})
}

// TestWorldsLeaveIfThereAreTooMany: each keeps its state first, and none waits for the idle timeout.
func TestWorldsLeaveIfThereAreTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t, &countedReads{Store: memory.New()}, coordinator.Config{IdleTimeout: time.Hour, RunsInMemory: 2})
		runs := make([]*coordinator.Run, 6)
		for i := range runs {
			runs[i] = c.world(fmt.Sprint("w", i), 300)
		}
		synctest.Wait()
		require.Equal(t, 2, c.InMemory())
		kept := 0 // the longest idle ones have left, each with a snapshot
		for _, run := range runs {
			kept += c.snapshots(run)
		}
		require.Equal(t, 4, kept)
		for _, run := range runs {
			state, err := run.Cell(t.Context(), "sum[a]")
			require.NoError(t, err)
			require.Equal(t, map[string]any{"n": int64(300)}, state.State)
		}
		require.NoError(t, c.Shutdown(context.Background()))
	})
}
