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

// queued returns a workflow whose call is to be taken within ten minutes.
func queued(timing string) string {
	return `{kind: Workflow, name: w, steps: [{operation: a, timing: {queue_timeout: PT10M` + timing + `}}], output: "{{ steps.a.output ?? 'none' }}"}`
}

// said returns the events of a run, with the codes of failures.
func said(t *testing.T, r *coordinator.Run) (list []string) {
	t.Helper()
	for e, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		text := e.Type.String()
		if e.Detail != nil && e.Detail.Failure != nil {
			text += " " + e.Detail.Failure.Code
		}
		list = append(list, text)
	}
	return list
}

// A call that no worker takes in time ends its step by on_timeout, at exactly that instant, although the run has left memory. It was
// never made, so it is not retried.
func TestACallThatIsNotTakenInTimeEndsItsStep(t *testing.T) {
	for timing, want := range map[string][]string{
		"": {"run.started", "step.failed queue_timeout", "run.finished queue_timeout"},
		", retry: {max_attempts: 3, backoff: PT1S}": {"run.started", "step.failed queue_timeout", "run.finished queue_timeout"},
		", on_timeout: skip":                        {"run.started", "call.skipped queue_timeout", "run.finished"},
		", on_timeout: abort_workflow":              {"run.started", "run.closed queue_timeout", "run.finished queue_timeout"},
		", timeout: PT1S":                           {"run.started", "step.failed queue_timeout", "run.finished queue_timeout"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCrew(t, memory.New(), workers.NewKey())
			began := time.Now()
			run := c.begin(queued(timing), "r")
			time.Sleep(5 * time.Minute)
			require.Zero(t, c.InMemory())
			x, err := run.Explain(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, "it may start, and waits for a worker: none serves a since 2000-01-01T00:00:00Z", x.Reasons[0].Text)
			require.Equal(t, "the end of waiting to be taken is due at 2000-01-01T00:10:00Z", x.Reasons[1].Text)
			result, err := run.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, 10*time.Minute, time.Since(began))
			require.Equal(t, want, said(t, run))
			if result.Failure == nil {
				require.Equal(t, "none", result.Output)
			} else {
				require.Equal(t, "step_timeout", string(result.Status), "the engine's timer ended it")
			}
			require.Empty(t, c.take(1, time.Minute))
		})
	}
}

// The time has no effect on a call that is taken in time; a retried call, by the engine or by a person, has the whole time again.
func TestEachAttemptHasItsTimeToBeTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		fail := func(lease string) {
			_, err := c.Workers().Give(t.Context(), bob, &workers.Delivery{Results: []workers.Result{{Lease: lease, Result: call.Result{
				Failure: &journal.Failure{Code: "busy", Retryable: true},
			}}}})
			require.NoError(t, err)
		}
		run := c.begin(queued(", retry: {max_attempts: 3, backoff: PT1M}"), "r")
		time.Sleep(9 * time.Minute)
		first := c.take(1, time.Minute)[0]
		for range 60 * 5 { // the worker holds it for longer than it might have waited
			time.Sleep(5 * time.Second)
			_, err := c.Workers().Give(t.Context(), bob, &workers.Delivery{Alive: []string{first.Lease}})
			require.NoError(t, err)
		}
		failed := time.Now()
		fail(first.Lease)
		require.Equal(t, "queue_timeout", c.failure(run))
		require.Equal(t, 11*time.Minute, time.Since(failed), "the backoff, and then the time to be taken")
		events := []string{"run.started", "call.requested", "call.error busy", "timer.fired", "step.failed queue_timeout", "run.finished queue_timeout"}
		require.Equal(t, events, said(t, run))

		time.Sleep(time.Hour)
		require.NoError(t, run.Retry(t.Context(), "a"))
		time.Sleep(9 * time.Minute)
		second := c.take(1, time.Minute)
		require.Len(t, second, 1)
		require.EqualValues(t, 2, second[0].Attempt)
		require.Equal(t, first.Key(), second[0].Key())
		require.Empty(t, c.give(second[0].Lease, "x").Late)
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "x", result.Output)
	})
}

// brittle is a store that accepts a number of appends of runs and then none, as if the process had ended.
type brittle struct {
	journal.Store
	left int
}

func (b *brittle) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if stream == "r" {
		if b.left == 0 {
			return 0, journal.ErrClosed
		}
		b.left--
	}
	return b.Store.Append(ctx, stream, after, events, head)
}

func (b *brittle) Close() error { return nil }

// A call is taken at the instant at which its time ends, or a moment before or after, and the process ends after any of its appends: the
// first stored event counts, and decides the end of the run.
func TestACallIsTakenAsItsTimeEnds(t *testing.T) {
	taken := []string{"run.started", "call.requested", "call.responded", "run.finished"}
	missed := []string{"run.started", "step.failed queue_timeout", "run.finished queue_timeout"}
	seen := map[string]int{}
	for _, off := range []time.Duration{-time.Nanosecond, 0, time.Nanosecond} {
		for appends := range 4 {
			for _, down := range []time.Duration{0, time.Second} {
				synctest.Test(t, func(t *testing.T) {
					store, key := &brittle{memory.New(), appends + 1}, workers.NewKey()
					c := newCrew(t, store, key)
					c.begin(queued(""), "r")
					time.Sleep(10*time.Minute + off)
					calls, _, _ := c.Workers().Take(t.Context(), bob, []string{"a"}, 1, time.Millisecond)
					for _, one := range calls {
						_, _ = c.Workers().Give(t.Context(), bob, &workers.Delivery{Results: []workers.Result{{Lease: one.Lease, Result: call.Result{Output: "x"}}}})
					}
					synctest.Wait()
					crash(t, c.Engine)
					stored := said(t, find(t, newCrew(t, &brittle{store.Store, 0}, key).Engine, "r"))

					time.Sleep(down)
					store.left = 100
					c = newCrew(t, store, key)
					run := find(t, c.Engine, "r")
					synctest.Wait()
					for _, one := range c.take(1, time.Minute) {
						require.Empty(t, c.give(one.Lease, "x").Late)
					}
					_, err := run.Wait(t.Context())
					require.NoError(t, err)
					events := said(t, run)
					require.Equal(t, stored, events[:len(stored)], "what was stored stays")
					require.Contains(t, [][]string{taken, missed}, events, "%v %d", off, appends)
					if len(stored) > 1 {
						seen[fmt.Sprint(off, " ", events[1])]++
					}
				})
			}
		}
	}
	require.Positive(t, seen["-1ns call.requested"], "%v", seen)
	require.Positive(t, seen["0s step.failed queue_timeout"], "%v", seen)
	require.Positive(t, seen["1ns step.failed queue_timeout"], "%v", seen)
}
