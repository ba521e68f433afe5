package coordinator_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

const countWorld = `
kind: World
name: count
types: {Add: {record: {id: text, n: int}}}
machines:
  sum:
    key: text
    state: {record: {n: int}}
    event: [Add]
    emits: []
    lifecycle: entity
    rules: [{event: Add, set: {n: "{{ (state ?? {n: 0}).n + event.n }}"}}]
routing: {subscriptions: [{event: Add, machine: sum, key_field: id}]}
`

// TestAWorldOutlivesAFewEvents: if the limit of events is below the usual number between snapshots, snapshots are made earlier, so that
// the world goes on, also when it is opened again, and its journal stays short.
func TestAWorldOutlivesAFewEvents(t *testing.T) {
	for _, most := range []int{8, 40, 1_000} {
		synctest.Test(t, func(t *testing.T) {
			store := stays{memory.New()}
			config := coordinator.Config{Limits: coordinator.Limits{EventsMax: most}, KeepEvents: 1}
			checked, err := kinds.Load("count.yaml", []byte(countWorld), template.Known{})
			require.NoError(t, err)
			e, err := coordinator.New(t.Context(), store, config)
			require.NoError(t, err)
			run, err := e.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("w"))
			require.NoError(t, err)
			for i := range 3 * most {
				if i == most {
					require.NoError(t, e.Shutdown(context.Background()))
					e, err = coordinator.New(t.Context(), store, config)
					require.NoError(t, err)
					run, err = e.Run(t.Context(), "w")
					require.NoError(t, err)
				}
				_, err := run.SendMessage(t.Context(), cells.Message{Name: "Add", Payload: map[string]any{"id": "a", "n": 1}})
				require.NoError(t, err)
				synctest.Wait()
			}
			c, err := run.Cell(t.Context(), "sum[a]")
			require.NoError(t, err)
			require.Equal(t, map[string]any{"n": int64(3 * most)}, c.State)
			events := journalOf(t, run)
			require.Less(t, len(events), most)
			require.NoError(t, e.Shutdown(context.Background()))
		})
	}
}

// slowContent is a store with slow content: the blobs that a snapshot puts wait until free is closed.
type slowContent struct {
	stays
	free chan struct{}
}

func (s slowContent) PutContent(ctx context.Context, stream string, blobs [][]byte) error {
	<-s.free
	return s.stays.PutContent(ctx, stream, blobs)
}

// TestABurstDuringASnapshotClosesNoWorld: while a snapshot is written, messages are taken until three quarters of the events are there.
// Then they are refused until the snapshot counts, and the world goes on.
func TestABurstDuringASnapshotClosesNoWorld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 400
		store := slowContent{stays{memory.New()}, make(chan struct{})}
		checked, err := kinds.Load("count.yaml", []byte(countWorld), template.Known{})
		require.NoError(t, err)
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Limits: coordinator.Limits{EventsMax: most}, KeepEvents: 1})
		require.NoError(t, err)
		run, err := e.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("w"))
		require.NoError(t, err)
		taken := 0
		send := func(id string) error {
			_, err := run.SendMessage(t.Context(), cells.Message{Name: "Add", Payload: map[string]any{"id": "a", "n": 1}, ID: id})
			return err
		}
		for range most {
			if err = send("first"); err != nil {
				break
			}
			if err = send(""); err != nil {
				break
			}
			taken++
		}
		require.ErrorIs(t, err, coordinator.ErrMailboxFull)
		require.ErrorContains(t, err, "events since the newest snapshot and may have 400: messages are taken again when the next snapshot is written")
		require.NoError(t, send("first"), "a message that was taken is known")
		close(store.free)
		synctest.Wait()
		for range most {
			require.NoError(t, send(""))
			taken++
			synctest.Wait()
		}
		c, err := run.Cell(t.Context(), "sum[a]")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"n": int64(taken + 1)}, c.State)
		require.NoError(t, e.Shutdown(context.Background()))
	})
}
