package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive"
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

func (c *crew) give(lease string, output any) *workers.Acknowledgement {
	c.t.Helper()
	ack, err := c.Workers().Give(c.t.Context(), bob, &workers.Delivery{Results: []workers.Result{{Lease: lease, Result: call.Result{Output: output}}}})
	require.NoError(c.t, err)
	return ack
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
		x, err := run.Explain(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, "ready", x.Status, "no worker has taken it")
		require.Equal(t, "worker", x.Reasons[0].Kind)
		require.Equal(t, "it may start, and waits for a worker: none serves a since 2000-01-01T00:00:00Z", x.Reasons[0].Text)
		calls := c.take(5, time.Minute)
		require.Len(t, calls, 1)
		require.Equal(t, "r/a", calls[0].Key())
		require.EqualValues(t, 7, calls[0].Input)
		require.Equal(t, "running", c.status(run, "a"))
		require.Empty(t, c.give(calls[0].Lease, "x").Late)
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "x", result.Output)
		require.Equal(t, []workers.Late{{Lease: calls[0].Lease, Was: "the run has ended"}}, c.give(calls[0].Lease, "y").Late)
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
		for range 3 { // each run gets one worker
			c.begin(oneCall, fmt.Sprint(time.Now().UnixNano()))
			time.Sleep(time.Nanosecond)
		}
		require.Len(t, c.take(2, time.Minute), 2)
		require.Len(t, c.take(2, time.Minute), 1)
	})
}

const onceOnly = `{kind: Workflow, name: w, steps: [{operation: a, idempotent: false}], output: "{{ steps.a.output }}"}`

func (c *crew) failure(r *coordinator.Run) string {
	c.t.Helper()
	result, err := r.Wait(c.t.Context())
	require.NoError(c.t, err)
	require.NotNil(c.t, result.Failure)
	return result.Failure.Code
}

func TestALeaseThatRunsOutIsAskedAgainOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		run := c.begin(oneCall, "r")
		first := c.take(1, time.Minute)[0]
		for range 10 { // heartbeats keep it
			time.Sleep(workers.LeaseTime - time.Second)
			ack, err := c.Workers().Give(t.Context(), bob, &workers.Delivery{Alive: []string{first.Lease}})
			require.NoError(t, err)
			require.Empty(t, ack.Late)
		}
		silent := time.Now()
		second := c.take(1, time.Minute)[0]
		require.InDelta(t, workers.LeaseTime, time.Since(silent), float64(time.Second))
		require.Equal(t, first.Key(), second.Key())
		require.Equal(t, first.Attempt, second.Attempt)
		ack, err := c.Workers().Give(t.Context(), bob, &workers.Delivery{Alive: []string{first.Lease}})
		require.NoError(t, err)
		require.Equal(t, []workers.Late{{Lease: first.Lease, Was: "taken by another worker"}}, ack.Late)
		require.Empty(t, c.give(first.Lease, "one").Late, "the first answer counts, whoever gives it")
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "one", result.Output)
		require.NotEmpty(t, c.give(second.Lease, "two").Late)

		run = c.begin(onceOnly, "once")
		c.take(1, time.Minute)
		require.Equal(t, "interrupted", c.failure(run))
		require.Empty(t, c.take(1, time.Minute))
	})
}

func TestAWorkerOutlivesTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, key := &kept{memory.New()}, workers.NewKey()
		c := newCrew(t, store, key)
		runs := map[string]string{}
		for id, document := range map[string]string{"given": onceOnly, "alive": onceOnly, "silent": onceOnly, "again": oneCall} {
			c.begin(document, id)
			runs[id] = c.take(1, time.Minute)[0].Lease
		}
		c.begin(onceOnly, "queued")
		begun := time.Now()
		require.NoError(t, c.Shutdown(t.Context()))
		require.Equal(t, begun, time.Now(), "the end does not wait for workers")
		_, err := c.Workers().Give(t.Context(), bob, &workers.Delivery{Alive: []string{runs["given"]}})
		require.ErrorIs(t, err, workers.ErrClosed)

		c = newCrew(t, store, key)
		run := func(id string) *coordinator.Run { r, err := c.Run(t.Context(), id); require.NoError(t, err); return r }
		require.Empty(t, c.give(runs["given"], "x").Late)
		for range 5 {
			time.Sleep(workers.LeaseTime / 3)
			ack, err := c.Workers().Give(t.Context(), bob, &workers.Delivery{Alive: []string{runs["alive"]}})
			require.NoError(t, err)
			require.Empty(t, ack.Late)
		}
		result, err := run("given").Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "x", result.Output)
		require.Equal(t, "interrupted", c.failure(run("silent")))
		require.Empty(t, c.give(runs["alive"], "y").Late)
		result, err = run("alive").Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "y", result.Output)
		took := c.take(5, time.Minute)
		require.Len(t, took, 2, "what was silent, and what was queued")
		for _, call := range took {
			require.Contains(t, []string{"again", "queued"}, call.Run)
			require.Empty(t, c.give(call.Lease, call.Run).Late)
		}
		require.NotEmpty(t, c.give(runs["given"], "z").Late, "gives twice")
		require.NotEmpty(t, c.give(runs["silent"], "z").Late, "was interrupted")
		for _, other := range []workers.Worker{{Token: "eve", Name: "bob-1"}, {Token: "bob", ID: "another of that name", Name: "bob-1"}} {
			_, err = c.Workers().Give(t.Context(), other, &workers.Delivery{Alive: []string{runs["again"]}})
			require.ErrorIs(t, err, workers.ErrLease)
		}
	})
}

func TestACancelReachesTheWorkerAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		run := c.begin(oneCall, "r")
		call := c.take(1, time.Minute)[0]
		told := make(chan []workers.Cancel)
		go func() {
			_, cancels, err := c.Workers().Take(t.Context(), bob, []string{"b"}, 1, time.Minute)
			require.NoError(t, err)
			told <- cancels
		}()
		synctest.Wait()
		now := time.Now()
		require.NoError(t, run.Cancel(t.Context(), "enough"))
		require.Equal(t, call.Lease, (<-told)[0].Lease)
		require.Equal(t, now, time.Now())
		require.NotEmpty(t, c.give(call.Lease, "x").Late)

		run = c.begin(`{kind: Workflow, name: w, steps: [{operation: a, timing: {timeout: PT5S}}]}`, "timeout")
		time.Sleep(time.Hour)
		call = c.take(1, time.Minute)[0]
		taken := time.Now()
		require.Equal(t, taken.Add(5*time.Second).UnixNano(), call.Deadline.UnixNano())
		_, cancels, err := c.Workers().Take(t.Context(), bob, []string{"b"}, 1, time.Minute)
		require.NoError(t, err)
		require.Equal(t, call.Lease, cancels[0].Lease)
		require.Equal(t, 5*time.Second, time.Since(taken), "time runs from the taking")
		require.Equal(t, "timeout", c.failure(run))
	})
}

// A run whose calls are all with workers, or wait for one, leaves memory, and comes back for the answer.
func TestRunsOfWorkersLeaveMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		waits := c.begin(`{kind: Workflow, name: w, steps: [{operation: b}]}`, "waits")
		run := c.begin(onceOnly, "r")
		call := c.take(1, time.Minute)[0]
		require.Equal(t, 2, c.InMemory())
		for range 10 {
			time.Sleep(10 * time.Second)
			_, err := c.Workers().Give(t.Context(), bob, &workers.Delivery{Alive: []string{call.Lease}})
			require.NoError(t, err)
		}
		require.Zero(t, c.InMemory())
		require.Equal(t, "ready", c.status(waits, "b"))
		require.NoError(t, waits.Pause(t.Context(), "loads it"))
		require.Empty(t, c.give(call.Lease, "x").Late)
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "x", result.Output)
		calls, _, err := c.Workers().Take(t.Context(), bob, []string{"b"}, 1, time.Minute)
		require.NoError(t, err)
		require.Empty(t, calls, "the run is paused")
		require.NoError(t, waits.Resume(t.Context()))
		calls, _, err = c.Workers().Take(t.Context(), bob, []string{"b"}, 1, time.Minute)
		require.NoError(t, err)
		require.Len(t, calls, 1)
	})
}

// The answer of a worker to a call whose attempt has ended is kept, once, and changes nothing.
func TestTheOutputOfAnEndedAttemptIsKeptAsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		run := c.begin(`{kind: Workflow, name: w, operations: {hold: {wait: {message: go}}},
			steps: [{operation: a, timing: {timeout: PT5S, on_timeout: skip}}, {operation: hold}], output: "{{ steps.a.output ?? 'none' }}"}`, "r")
		lease := c.take(1, time.Minute)[0].Lease
		time.Sleep(6 * time.Second)
		for range 3 {
			require.Equal(t, []workers.Late{{Lease: lease, Was: "skipped"}}, c.give(lease, "too late").Late)
		}
		kept := 0
		for u, err := range run.History(t.Context(), 1) {
			require.NoError(t, err)
			if u.Event.Type == journal.CallResponded {
				require.Equal(t, reactive.Late, u.Outcome)
				require.Equal(t, "too late", u.Event.Value)
				kept++
			}
		}
		require.Equal(t, 1, kept)
		require.NoError(t, run.Send(t.Context(), "go", nil))
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "none", result.Output)
		last, err := run.Last(t.Context())
		require.NoError(t, err)

		failed := c.begin(oneCall, "failed")
		lease = c.take(1, time.Minute)[0].Lease
		require.NoError(t, failed.Cancel(t.Context(), "no"))
		require.Equal(t, "the run has ended", c.give(lease, 1).Late[0].Was)
		again, err := run.Last(t.Context())
		require.NoError(t, err)
		require.Equal(t, last, again)
	})
}

// Only an engine with workers accepts operations without an implementation.
func TestWithoutWorkersAnUnknownOperationParksARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &kept{memory.New()}
		c := newCrew(t, store, workers.NewKey())
		c.begin(oneCall, "r")
		require.NoError(t, c.Shutdown(t.Context()))
		e, err := coordinator.New(t.Context(), store, coordinator.Config{})
		require.NoError(t, err)
		defer e.Shutdown(context.Background())
		require.Nil(t, e.Workers())
		require.ErrorContains(t, e.Register(parse(t, oneCall)), `unknown operation "a"`)
		run, err := e.Run(t.Context(), "r")
		require.NoError(t, err)
		_, err = run.Wait(t.Context())
		require.ErrorIs(t, err, coordinator.ErrParked)
		require.ErrorIs(t, err, coordinator.ErrMissing)
	})
}

func TestWorkersReportAndFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		run := c.begin(`{kind: Workflow, name: w, steps: [{operation: a, timing: {retry: {max_attempts: 2, backoff: PT1S}}}]}`, "r")
		give := func(g *workers.Delivery) *workers.Acknowledgement {
			ack, err := c.Workers().Give(t.Context(), bob, g)
			require.NoError(t, err)
			return ack
		}
		call1 := c.take(1, time.Minute)[0]
		require.Empty(t, give(&workers.Delivery{
			Reports: []workers.Report{{Lease: call1.Lease, Kind: "half", Payload: int64(50)}, {Lease: call1.Lease, Kind: "most", Payload: int64(90)}},
			Logs:    []workers.Log{{Lease: call1.Lease, Text: "on it"}},
			Results: []workers.Result{{Lease: call1.Lease, Result: call.Result{Failure: &journal.Failure{Code: "busy", Retryable: true}}}},
		}).Late)
		call2 := c.take(1, time.Minute)[0]
		require.EqualValues(t, 2, call2.Attempt)
		require.Equal(t, "attempt 1", fmt.Sprint("attempt ", call1.Attempt))
		require.NotEmpty(t, give(&workers.Delivery{Reports: []workers.Report{{Lease: call1.Lease, Kind: "late"}}}).Late)
		give(&workers.Delivery{Results: []workers.Result{{Lease: call2.Lease, Result: call.Result{Failure: &journal.Failure{Code: "busy", Retryable: true}}}}})
		require.Equal(t, "busy", c.failure(run))
		var reports []string
		for e, err := range run.Events(t.Context(), 1) {
			require.NoError(t, err)
			if e.Type == journal.CallReported {
				reports = append(reports, fmt.Sprintf("%d %s %v", e.Detail.Count, e.Detail.Name, e.Value))
			}
		}
		require.Equal(t, []string{"1 half 50", "2 most 90"}, reports)
	})
}

// A step of one operation does not delay the steps of another, within a run or across runs.
func TestOperationsDoNotHoldEachOtherUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		c.begin(`{kind: Workflow, name: w, steps: [{parallel: {steps: [{id: one, operation: b}, {id: two, operation: c}, {id: three, operation: a}, {id: four, operation: a}]}}]}`, "r")
		calls := c.take(10, time.Minute)
		require.Len(t, calls, 2)
		require.Equal(t, []string{"three", "four"}, []string{calls[0].Node, calls[1].Node})
		both, _, err := c.Workers().Take(t.Context(), bob, []string{"b", "c"}, 10, time.Minute)
		require.NoError(t, err)
		require.Len(t, both, 2)
	})
}

// A call that was answered is not asked again, and its answer is journaled once, although the engine learns of the call only by the
// answer, and the worker lists the call as alive after its answer.
func TestAnAnswerToTheNextEngineEndsTheCall(t *testing.T) {
	for _, document := range []string{oneCall, onceOnly} {
		for _, alive := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				store, key := &kept{memory.New()}, workers.NewKey()
				c := newCrew(t, store, key)
				c.begin(strings.Replace(document, "]", ", {operation: b}]", 1), "r")
				g := workers.Delivery{Results: []workers.Result{{Lease: c.take(1, time.Minute)[0].Lease, Result: call.Result{Output: "x"}}}}
				if alive {
					g.Alive = []string{g.Results[0].Lease}
				}
				for restart := range 2 {
					require.NoError(t, c.Shutdown(t.Context()))
					c = newCrew(t, store, key)
					for again := range 2 {
						ack, err := c.Workers().Give(t.Context(), bob, &g)
						require.NoError(t, err)
						require.Equal(t, restart+again > 0, len(ack.Late) > 0)
					}
					require.Empty(t, c.take(1, time.Minute))
					run, err := c.Run(t.Context(), "r")
					require.NoError(t, err)
					var events []string
					for e, err := range run.Events(t.Context(), 1) {
						require.NoError(t, err)
						events = append(events, e.Type.String()+" "+e.Node)
					}
					require.Equal(t, []string{"run.started ", "call.requested a", "call.responded a"}, events)
				}
			})
		}
	}
}
