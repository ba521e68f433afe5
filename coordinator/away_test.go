package coordinator_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// crew is an engine whose calls workers carry out.
type crew struct {
	*coordinator.Engine
	t   *testing.T
	key []byte
}

func newCrew(t *testing.T, store journal.Store, key []byte) *crew {
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Workers: key})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	return &crew{e, t, key}
}

var bob = workers.Worker{Token: "bob", Name: "bob-1"}

// take takes calls of the operation a.
func (c *crew) take(most int, wait time.Duration) []workers.Call {
	c.t.Helper()
	calls, _, err := c.Workers().Take(c.t.Context(), bob, []string{"a"}, most, wait)
	require.NoError(c.t, err)
	return calls
}

func (c *crew) give(lease string, output any) *workers.Thanks {
	c.t.Helper()
	thanks, err := c.Workers().Give(c.t.Context(), bob, &workers.Gift{Results: []workers.Result{{Lease: lease, Result: call.Result{Output: output}}}})
	require.NoError(c.t, err)
	return thanks
}

// begin starts a run, and returns it when it waits for a worker.
func (c *crew) begin(document, id string) *coordinator.Run {
	c.t.Helper()
	run, err := c.Start(c.t.Context(), parse(c.t, document), nil, coordinator.WithID(id))
	require.NoError(c.t, err)
	synctest.Wait()
	return run
}

func (c *crew) status(r *coordinator.Run, step string) string {
	c.t.Helper()
	x, err := r.Explain(c.t.Context(), step)
	require.NoError(c.t, err)
	return x.Status
}

const oneCall = `{kind: Workflow, name: w, steps: [{operation: a, input: 7}], output: "{{ steps.a.output }}"}`

func TestACallOfAWorkerIsRequestedWhenItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		run := c.begin(oneCall, "r")
		time.Sleep(time.Hour)
		require.Equal(t, "ready", c.status(run, "a"), "no worker has taken it")
		calls := c.take(5, time.Minute)
		require.Len(t, calls, 1)
		require.Equal(t, "r/a", calls[0].Key())
		require.EqualValues(t, 7, calls[0].Input)
		require.Equal(t, "running", c.status(run, "a"))
		require.Empty(t, c.give(calls[0].Lease, "x").Late)
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "x", result.Output)
		require.Equal(t, []workers.Late{{calls[0].Lease, "the run has ended"}}, c.give(calls[0].Lease, "y").Late)
	})
}

func TestAWaitingWorkerGetsACallAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		began := time.Now()
		took := make(chan []workers.Call)
		go func() { took <- c.take(5, time.Minute) }()
		synctest.Wait()
		c.begin(oneCall, "r")
		require.Len(t, <-took, 1)
		require.Equal(t, began, time.Now(), "in no time")
		for range 3 { // each run gets one
			c.begin(oneCall, fmt.Sprint(time.Now().UnixNano()))
			time.Sleep(1)
		}
		require.Len(t, c.take(2, time.Minute), 2)
		require.Len(t, c.take(2, time.Minute), 1)
	})
}
