package coordinator_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// waitFor returns the runs in the index of a kind of wait, with their waits.
func waitFor(t *testing.T, store journal.Store, kind string) map[string][]journal.Wait {
	t.Helper()
	found := map[string][]journal.Wait{}
	for h, err := range store.List(t.Context(), journal.Query{Index: journal.ByWait, Key: kind}) {
		require.NoError(t, err)
		found[h.Run] = h.Waits
	}
	return found
}

// The waits of a run are the same in lists, in its state and in explanations, and end with the request.
func TestARunIsSaidToWaitForAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		c := newCrew(t, store, workers.NewKey())
		run := c.begin(`{kind: Workflow, name: w, steps: [{parallel: {steps: [{operation: b}, {id: c, operation: a}, {id: d, operation: a}]}}]}`, "r")
		at := func(step, operation string) journal.Wait {
			return journal.Wait{Kind: journal.WaitWorker, Name: operation, Step: step}
		}
		require.Equal(t, map[string][]journal.Wait{"r": {at("b", "b"), at("c", "a")}}, waitFor(t, store, journal.WaitWorker), "each operation once")
		since := time.Now().UnixNano()
		time.Sleep(time.Hour)
		state, err := run.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, []inspect.Wait{
			{Kind: inspect.ForWorker, Step: "b", Name: "b", Since: since},
			{Kind: inspect.ForWorker, Step: "c", Name: "a", Since: since},
			{Kind: inspect.ForWorker, Step: "d", Name: "a", Since: since},
		}, state.Waits)
		calls := c.take(5, time.Minute)
		require.Len(t, calls, 2)
		synctest.Wait()
		require.Equal(t, map[string][]journal.Wait{"r": {at("b", "b")}}, waitFor(t, store, journal.WaitWorker))
		require.NoError(t, run.Pause(t.Context(), "lunch"))
		require.Empty(t, waitFor(t, store, journal.WaitWorker), "it waits to be resumed")
		require.NoError(t, run.Resume(t.Context()))
		synctest.Wait()
		require.Equal(t, map[string][]journal.Wait{"r": {at("b", "b")}}, waitFor(t, store, journal.WaitWorker))
		require.NoError(t, run.Cancel(t.Context(), ""))
		require.Empty(t, waitFor(t, store, journal.WaitWorker))
	})
}

// A process that finds a run whose head lacks its wait writes that head, once and without an event.
func TestAWaitForAWorkerIsFoundAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := stays{memory.New()}
		key := workers.NewKey()
		first := newCrew(t, store, key)
		first.begin(oneCall, "r")
		require.NoError(t, first.Shutdown(context.Background()))
		for h, err := range store.Heads(t.Context(), "") { // as left by a process without workers
			require.NoError(t, err)
			last := h.Last
			h.Waits = nil
			_, err = store.Append(t.Context(), "r", last, nil, h)
			require.NoError(t, err)
		}
		require.Empty(t, waitFor(t, store, journal.WaitWorker))
		for range 2 {
			second := newCrew(t, store, key)
			synctest.Wait()
			require.Len(t, waitFor(t, store, journal.WaitWorker), 1)
			place, err := store.Newest(t.Context())
			require.NoError(t, err)
			require.NoError(t, second.Shutdown(context.Background()))
			third := newCrew(t, store, key)
			synctest.Wait()
			for range store.Changes(t.Context(), place) {
				t.Fatal("the head was written again")
			}
			require.NoError(t, third.Shutdown(context.Background()))
		}
	})
}

// The runs that wait for workers are counted as soon as the next engine begins, before it has loaded any, with the times since which they
// wait; runs that have ended are not.
func TestWaitingRunsAreCountedAtOnceAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := stays{memory.New()}
		key := workers.NewKey()
		first := newCrew(t, store, key)
		for i := range 100 {
			first.begin(oneCall, fmt.Sprint("r", i))
			time.Sleep(time.Second)
		}
		began := time.Now().Add(-100 * time.Second)
		demand := func(c *crew) workers.Demand {
			_, demands := c.Workers().List()
			require.Len(t, demands, 1)
			return demands[0]
		}
		require.Equal(t, 100, demand(first).Runs)
		require.True(t, began.Equal(demand(first).Since))
		for i := range 10 {
			run, err := first.Run(t.Context(), fmt.Sprint("r", i))
			require.NoError(t, err)
			require.NoError(t, run.Cancel(t.Context(), ""))
		}
		synctest.Wait()
		require.Equal(t, 90, demand(first).Runs, "a run that has ended waits no more")
		require.True(t, began.Add(10*time.Second).Equal(demand(first).Since))
		require.NoError(t, first.Shutdown(context.Background()))
		time.Sleep(time.Hour)

		second := newCrew(t, store, key)
		at := demand(second)
		require.Equal(t, 90, at.Runs)
		require.True(t, began.Add(10*time.Second).Equal(at.Since))
		require.True(t, time.Now().Equal(at.Unserved), "what was before is not known")
		synctest.Wait()
		require.Equal(t, at, demand(second))
		require.Equal(t, "r10", second.take(1, time.Minute)[0].Run, "who has waited longest comes first")
		require.Equal(t, 89, demand(second).Runs)
		require.Len(t, second.take(1000, time.Minute), 89)
		require.Zero(t, demand(second).Runs)
		require.Zero(t, demand(second).Since)
	})
}
