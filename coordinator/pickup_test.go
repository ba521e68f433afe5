package coordinator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

func TestOnlyRunsThatArePickedUpGoOn(t *testing.T) {
	store := &kept{memory.New()}
	w := parse(t, "kind: Workflow\nname: w\nsteps: [{operation: work}]\n")
	begun := make(chan string, 2)
	stopped, done := context.WithCancel(t.Context())
	done()

	first, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{
		operation.Define("work", func(ctx context.Context, _ any) (any, error) {
			begun <- "first"
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}})
	require.NoError(t, err)
	for _, id := range []string{"mine", "theirs"} {
		_, err := first.Start(t.Context(), w, nil, coordinator.WithID(id))
		require.NoError(t, err)
		<-begun
	}
	require.NoError(t, first.Shutdown(stopped))

	calls := 0
	second, err := coordinator.New(t.Context(), store, coordinator.Config{
		PickUp: func(h journal.Head) bool { return h.Run == "mine" },
		Operations: []coordinator.Operation{
			operation.Define("work", func(context.Context, any) (any, error) { calls++; return nil, nil }),
		},
	})
	require.NoError(t, err)
	run, err := second.Run(t.Context(), "mine")
	require.NoError(t, err)
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, result.Err())
	require.NoError(t, second.Shutdown(t.Context()))
	require.Equal(t, 1, calls)

	open := map[string]bool{}
	for head, err := range store.Heads(t.Context(), "") {
		require.NoError(t, err)
		open[head.Run] = head.Open
	}
	require.Equal(t, map[string]bool{"mine": false, "theirs": true}, open)
}
