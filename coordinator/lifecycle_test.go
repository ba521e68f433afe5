package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gate is an operation whose calls wait for the test.
type gate struct {
	entered chan *operation.Call
	leave   chan error
}

func newGate() *gate { return &gate{make(chan *operation.Call, 100), make(chan error, 100)} }

func (g *gate) define(name string) coordinator.Operation {
	return operation.Define(name, func(ctx context.Context, in any) (string, error) {
		g.entered <- operation.CallOf(ctx)
		select {
		case err := <-g.leave:
			return name + " done", err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
}

var echo = operation.Define("echo", func(_ context.Context, in any) (any, error) { return in, nil })

func start(t testing.TB, e *coordinator.Engine, text string, opts ...coordinator.Option) *coordinator.Run {
	r, err := e.Start(t.Context(), parse(t, text), nil, opts...)
	require.NoError(t, err)
	return r
}

func wait(t testing.TB, r *coordinator.Run) *coordinator.Result {
	result, err := r.Wait(t.Context())
	require.NoError(t, err)
	return result
}

func TestCancelStopsCallsInProgress(t *testing.T) {
	g := newGate()
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{g.define("slow")}})
	r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: slow}]}`)
	call := <-g.entered
	require.NoError(t, r.Cancel(t.Context(), "enough"))
	result := wait(t, r)
	require.Equal(t, reactive.RunAborted, result.Status)
	require.Equal(t, "enough", result.Failure.Message)
	<-call.Done()
	require.ErrorIs(t, r.Cancel(t.Context(), "again"), coordinator.ErrFinished)
}

func TestAbortOfAStepIsCaughtByAConditionalThatReadsIt(t *testing.T) {
	g := newGate()
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{g.define("slow"), echo}})
	r := start(t, e, `
kind: Workflow
name: w
steps:
  - {operation: slow}
  - conditional: {test: slow, then: [], else: [{operation: echo, input: rescued}]}
output: "{{ steps.echo.output ?? null }}"`)
	<-g.entered
	require.ErrorIs(t, r.Abort(t.Context(), "nobody", ""), coordinator.ErrStepNotFound)
	require.NoError(t, r.Abort(t.Context(), "slow", "too slow"))
	result := wait(t, r)
	require.NoError(t, result.Err())
	require.Equal(t, "rescued", result.Output)
}

func TestAMessageEndsAWait(t *testing.T) {
	e := newEngine(t, coordinator.Config{})
	r := start(t, e, `
kind: Workflow
name: w
operations: {approval: {wait: {message: approve}}}
steps: [{operation: approval}]
output: "{{ steps.approval.output.by }}"`)
	require.NoError(t, r.Send(t.Context(), "approve", map[string]string{"by": "ann"}))
	result := wait(t, r)
	require.Equal(t, "ann", result.Output)
	require.ErrorIs(t, r.Send(t.Context(), "approve", nil), coordinator.ErrFinished)
}

func TestAPausedRunStartsNothing(t *testing.T) {
	g := newGate()
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{g.define("slow"), echo}})
	r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: slow}, {operation: echo}]}`)
	<-g.entered
	require.NoError(t, r.Pause(t.Context(), "lunch"))
	require.ErrorIs(t, r.Pause(t.Context(), "lunch"), coordinator.ErrNotPossible)
	g.leave <- nil
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if u.Event.Type == journal.CallResponded {
			require.Equal(t, reactive.RunPaused, u.Status)
			require.Equal(t, []string{"slow running completed", "echo waiting ready"}, describe(u.Changes))
			break
		}
	}
	require.NoError(t, r.Resume(t.Context()))
	require.NoError(t, wait(t, r).Err())
}

func describe(changes []coordinator.StepChange) []string {
	var list []string
	for _, c := range changes {
		list = append(list, fmt.Sprintf("%s %s %s", c.Step, c.From, c.To))
	}
	return list
}

func TestWatchYieldsTheSameFromAnySequence(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	r := start(t, e, `
kind: Workflow
name: w
steps:
  - map: {id: each, over: [1, 2, 3], max_concurrency: 1, steps: [{operation: echo, input: "{{ item }}"}]}`)
	var all []string
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		all = append(all, fmt.Sprint(u.Event.Seq, u.Event.Type, describe(u.Changes)))
	}
	require.NoError(t, wait(t, r).Err())
	require.Contains(t, strings.Join(all, "\n"), "echo[2] waiting ready")
	for from := range all {
		var tail []string
		for u, err := range r.Watch(t.Context(), uint64(from+1)) {
			require.NoError(t, err)
			tail = append(tail, fmt.Sprint(u.Event.Seq, u.Event.Type, describe(u.Changes)))
		}
		require.Equal(t, all[from:], tail)
	}
}

func TestATimeoutEndsTheCallAndIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		slow := operation.Define("slow", func(ctx context.Context, _ any) (string, error) {
			if calls.Add(1) == 1 {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "second", nil
		})
		e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{slow}})
		begin := time.Now()
		r := start(t, e, `
kind: Workflow
name: w
steps: [{operation: slow, timing: {timeout: PT1M, retry: {max_attempts: 2, backoff: PT30S}}}]
output: "{{ steps.slow.output }}"`)
		result := wait(t, r)
		require.Equal(t, "second", result.Output)
		require.Equal(t, 90*time.Second, time.Since(begin))
		e.Shutdown(t.Context())
	})
}

func TestTheDeadlineEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{g.define("slow")}})
		begin := time.Now()
		r := start(t, e, `{kind: Workflow, name: w, deadline: PT1H, steps: [{operation: slow}]}`)
		result := wait(t, r)
		require.Equal(t, reactive.RunDeadlineExceeded, result.Status)
		require.Equal(t, time.Hour, time.Since(begin))
		e.Shutdown(t.Context())
	})
}

func TestASleepingRunLeavesMemoryAndWakesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, coordinator.Config{IdleTimeout: time.Second})
		begin := time.Now()
		r := start(t, e, `
kind: Workflow
name: w
operations: {nap: {sleep: {for: PT24H}}}
steps: [{operation: nap}]`)
		synctest.Wait()
		require.Equal(t, 1, e.InMemory())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Zero(t, e.InMemory(), "the run has left memory")
		result := wait(t, r)
		require.NoError(t, result.Err())
		require.Equal(t, 24*time.Hour, time.Since(begin))
		e.Shutdown(t.Context())
	})
}

func TestAMessageWakesARunThatHasLeftMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, coordinator.Config{IdleTimeout: time.Second})
		r := start(t, e, `
kind: Workflow
name: w
operations: {approval: {wait: {message: approve}}}
steps: [{operation: approval}]`)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Zero(t, e.InMemory())
		require.NoError(t, r.Send(t.Context(), "approve", true))
		require.NoError(t, wait(t, r).Err())
		e.Shutdown(t.Context())
	})
}

func TestStartingTheSameRunTwiceReturnsThatRun(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	const text = `{kind: Workflow, name: w, steps: [{operation: echo, input: "{{ input }}"}], output: "{{ steps.echo.output }}"}`
	w := parse(t, text)
	for range 2 {
		r, err := e.Start(t.Context(), w, 1, coordinator.WithID("same"))
		require.NoError(t, err)
		require.EqualValues(t, 1, wait(t, r).Output)
	}
	_, err := e.Start(t.Context(), w, 2, coordinator.WithID("same"))
	require.ErrorIs(t, err, coordinator.ErrRunExists)
	_, err = e.Start(t.Context(), w, 2, coordinator.WithID("not/valid"))
	require.ErrorContains(t, err, "not/valid")
	_, err = e.Run(t.Context(), "nobody")
	require.ErrorIs(t, err, coordinator.ErrRunNotFound)
}

func TestAnInputThatTheSchemaRefusesIsNotJournaled(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	w := parse(t, `
kind: Workflow
name: w
input: {type: object, required: [lines], properties: {lines: {type: array, items: {type: integer}}}}
steps: [{operation: echo}]`)
	_, err := e.Start(t.Context(), w, map[string]any{"lines": []any{1, "two"}}, coordinator.WithID("bad"))
	var invalid *coordinator.InputError
	require.ErrorAs(t, err, &invalid)
	require.ErrorContains(t, err, "/lines/1")
	_, err = e.Start(t.Context(), w, map[string]any{}, coordinator.WithID("bad"))
	require.ErrorContains(t, err, "lines")
	_, err = e.Run(t.Context(), "bad")
	require.ErrorIs(t, err, coordinator.ErrRunNotFound)
}

func TestAnInputThatTheWorkloadRefusesIsNotJournaled(t *testing.T) {
	e := newEngine(t, coordinator.Config{})
	w := routes(t, `
workload: {share: "{{ 8 / workload.parts }}"}
workflow: [{step: a, tool: {kind: noop}}]`)
	_, err := e.Start(t.Context(), w, map[string]any{"parts": 0}, coordinator.WithID("bad"))
	var invalid *coordinator.InputError
	require.ErrorAs(t, err, &invalid)
	require.ErrorContains(t, err, "input of p: workload.share: ")
	_, err = e.Start(t.Context(), w, []any{1}, coordinator.WithID("bad"))
	require.ErrorAs(t, err, &invalid)
	require.ErrorContains(t, err, "input of p: /: ")
	_, err = e.Run(t.Context(), "bad")
	require.ErrorIs(t, err, coordinator.ErrRunNotFound)
}

// flaky is a store whose appends fail with the errors of its hooks.
type flaky struct {
	journal.Store
	mu   sync.Mutex
	fail func(stream string, after uint64, events []journal.Event) error
}

func (f *flaky) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	f.mu.Lock()
	fail := f.fail
	f.mu.Unlock()
	if fail != nil {
		if err := fail(stream, after, events); err != nil {
			return 0, err
		}
	}
	return f.Store.Append(ctx, stream, after, events, head)
}

func (f *flaky) Heads(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return f.Store.Heads(ctx, after)
}

// TestAFailedAppendLosesNothing lets every append fail once: the run is recovered from its journal, keeps the answers that have
// arrived, and makes no call twice.
func TestAFailedAppendLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		count := operation.Define("count", func(_ context.Context, n int) (int, error) { return n + int(calls.Add(1)), nil })
		failed := map[uint64]bool{}
		store := &flaky{Store: memory.New()}
		store.fail = func(stream string, after uint64, _ []journal.Event) error {
			if stream == "r" && after > 0 && !failed[after] {
				failed[after] = true
				return errors.New("the disk failed")
			}
			return nil
		}
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{count}})
		require.NoError(t, err)
		r := start(t, e, `
kind: Workflow
name: w
steps: [{operation: count, id: a, input: 0}, {operation: count, id: b, input: "{{ steps.a.output }}"}, {operation: count, id: c, input: "{{ steps.b.output }}"}]
output: "{{ steps.c.output }}"`, coordinator.WithID("r"))
		result := wait(t, r)
		require.NoError(t, result.Err())
		require.EqualValues(t, 1+2+3, result.Output)
		require.EqualValues(t, 3, calls.Load())
		require.NotEmpty(t, failed)
		require.NoError(t, e.Shutdown(t.Context()))
	})
}

// TestAConflictStopsTheRunHere: a conflict means that another process drives the run.
func TestAConflictStopsTheRunHere(t *testing.T) {
	g := newGate()
	store := &flaky{Store: memory.New()}
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{g.define("slow")}})
	require.NoError(t, err)
	r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: slow}]}`)
	call := <-g.entered
	store.mu.Lock()
	store.fail = func(string, uint64, []journal.Event) error { return journal.ErrConflict }
	store.mu.Unlock()
	g.leave <- nil
	_, err = r.Wait(t.Context())
	require.ErrorIs(t, err, journal.ErrConflict)
	<-call.Done()
	require.NoError(t, e.Shutdown(context.Background()))
}

// TestAnotherEngineGoesOn ends an engine during a call: the next engine makes it again, with the same request and key, and
// repeats no answered call.
func TestAnotherEngineGoesOn(t *testing.T) {
	g := newGate()
	var firsts atomic.Int32
	first := operation.Define("first", func(context.Context, any) (int, error) { return int(firsts.Add(1)), nil })
	config := coordinator.Config{Operations: []coordinator.Operation{g.define("slow"), first}}
	store := &kept{Store: memory.New()}
	e, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: first}, {operation: slow}], output: "{{ steps.slow.output }}"}`)
	before := <-g.entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Shutdown(ended))
	_, err = r.Wait(t.Context())
	require.ErrorIs(t, err, coordinator.ErrShutdown)
	require.ErrorIs(t, r.Cancel(t.Context(), ""), coordinator.ErrShutdown)

	e, err = coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	after := <-g.entered
	require.Equal(t, before.Attempt, after.Attempt)
	require.Equal(t, before.Key(), after.Key())
	g.leave <- nil
	r, err = e.Run(t.Context(), r.ID())
	require.NoError(t, err)
	require.Equal(t, "slow done", wait(t, r).Output)
	require.EqualValues(t, 1, firsts.Load())
	require.NoError(t, e.Shutdown(t.Context()))
}

// kept is a store that outlives its engine, like a disk.
type kept struct{ journal.Store }

func (k *kept) Close() error { return nil }

func TestACallThatMayNotBeMadeTwiceIsInterrupted(t *testing.T) {
	g := newGate()
	config := coordinator.Config{Operations: []coordinator.Operation{g.define("slow")}}
	store := &kept{Store: memory.New()}
	e, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: slow, idempotent: false}]}`)
	<-g.entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Shutdown(ended))

	e, err = coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r, err = e.Run(t.Context(), r.ID())
	require.NoError(t, err)
	require.Equal(t, reactive.CodeInterrupted, wait(t, r).Failure.Code)
	require.NoError(t, e.Shutdown(t.Context()))
}

func TestARunThatLacksAnOperationDoesNotChange(t *testing.T) {
	g := newGate()
	store := &kept{Store: memory.New()}
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{g.define("slow")}})
	require.NoError(t, err)
	r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: slow}]}`)
	<-g.entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Shutdown(ended))

	e, err = coordinator.New(t.Context(), store, coordinator.Config{})
	require.NoError(t, err)
	r, err = e.Run(t.Context(), r.ID())
	require.NoError(t, err)
	require.ErrorIs(t, r.Cancel(t.Context(), ""), coordinator.ErrMissing)
	require.NoError(t, e.Shutdown(t.Context()))
}

// The engine may stop between the return of a call and the turn that journals it: many attempts cover both orders.
func TestShutdownLetsCallsReturn(t *testing.T) {
	for range 2000 {
		synctest.Test(t, shutDownDuringACall)
	}
}

func shutDownDuringACall(t *testing.T) {
	g := newGate()
	config := coordinator.Config{Operations: []coordinator.Operation{g.define("slow"), echo}}
	store := &kept{Store: memory.New()}
	e, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: slow}, {operation: echo}]}`)
	<-g.entered
	done := make(chan error)
	go func() { done <- e.Shutdown(context.Background()) }()
	synctest.Wait()
	g.leave <- nil
	require.NoError(t, <-done)
	var last journal.Event
	for event, err := range store.Read(t.Context(), r.ID(), 1) {
		require.NoError(t, err)
		last = event
	}
	require.Equal(t, journal.CallResponded, last.Type, "the answer is journaled, and no step was started after it")
}

func TestGoFunctionsThatWaitDoNotHoldUpOthers(t *testing.T) {
	g := newGate()
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{g.define("slow"), echo}})
	w := &template.Workflow{Name: "wide", Steps: []template.Node{&template.Parallel{}}}
	all := w.Steps[0].(*template.Parallel)
	for i := range 200 {
		all.Steps = append(all.Steps, &template.Step{ID: fmt.Sprint("s", i), Operation: "slow"})
	}
	r, err := e.Start(t.Context(), w, nil)
	require.NoError(t, err)
	for range 200 { // all are in progress, although none has returned
		<-g.entered
	}
	for range 200 {
		g.leave <- nil
	}
	require.NoError(t, wait(t, r).Err())
}

func TestARunBeyondItsLimitsFails(t *testing.T) {
	e := newEngine(t, coordinator.Config{
		Operations: []coordinator.Operation{echo}, Limits: coordinator.Limits{NodesMax: 3, MapItemsMax: 2, EventsMax: 6},
	})
	_, err := e.Start(t.Context(), parse(t, `
{kind: Workflow, name: w, steps: [{operation: echo, id: a}, {operation: echo, id: b}, {operation: echo, id: c}, {operation: echo, id: d}]}`), nil)
	require.ErrorIs(t, err, coordinator.ErrLimit)
	result := wait(t, start(t, e, `
{kind: Workflow, name: w, steps: [{map: {id: m, over: [1, 2, 3], steps: [{operation: echo}]}}]}`))
	require.Equal(t, reactive.CodeLimit, result.Failure.Code)
	result = wait(t, start(t, e, `
{kind: Workflow, name: w, steps: [{operation: echo, id: a}, {operation: echo, id: b}, {operation: echo, id: c}]}`))
	require.Equal(t, reactive.RunFailed, result.Status)
	require.Equal(t, reactive.CodeLimit, result.Failure.Code)
}

func TestTheItemsOfARunAreCountedBeforeTheyAreMade(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}, Limits: coordinator.Limits{InstancesMax: 100}})
	r := start(t, e, `
kind: Workflow
name: w
steps: [{map: {id: a, over: "{{ 1..20 }}", steps: [{map: {id: b, over: "{{ 1..20 }}", steps: [{id: c, operation: echo}]}}]}}]`)
	result := wait(t, r)
	require.Equal(t, reactive.CodeLimit, result.Failure.Code)
	require.Contains(t, result.Failure.Message, "a list of 20 items makes 103 steps")
	state, err := r.State(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, len(state.Steps), 100)
	require.Greater(t, len(state.Steps), 40)
}

// TestAbortedCallsAreNotMade: beside a step that fails at once, the run ends before any call is made.
func TestAbortedCallsAreNotMade(t *testing.T) {
	var calls atomic.Int32
	count := operation.Define("count", func(context.Context, any) (any, error) { calls.Add(1); return nil, nil })
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{count}, CallsMax: 1})
	for range 3 { // the room that was reserved for the calls is free again
		result := wait(t, start(t, e, `
kind: Workflow
name: w
failure_policy: abort-all
operations: {stop: {fail: {code: stop, message: now}}}
steps: [{parallel: {steps: [{operation: count}, {operation: stop}]}}]`))
		require.Equal(t, "stop", result.Failure.Code)
	}
	require.Zero(t, calls.Load())
	require.NoError(t, wait(t, start(t, e, `{kind: Workflow, name: w, steps: [{operation: count}]}`)).Err())
	require.EqualValues(t, 1, calls.Load())
}

func TestARetryLetsAFinishedRunGoOn(t *testing.T) {
	var calls atomic.Int32
	flaky := operation.Define("flaky", func(context.Context, any) (int, error) {
		if n := calls.Add(1); n > 1 {
			return int(n), nil
		}
		return 0, errors.New("not yet")
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{flaky, echo}})
	r := start(t, e, `
kind: Workflow
name: w
steps: [{operation: flaky}, {operation: echo, input: "{{ steps.flaky.output }}"}]
output: "{{ steps.echo.output }}"`)
	require.Equal(t, reactive.RunFailed, wait(t, r).Status)
	require.ErrorIs(t, r.Retry(t.Context(), "nobody"), coordinator.ErrStepNotFound)
	require.ErrorIs(t, r.Retry(t.Context(), "echo"), coordinator.ErrNotPossible)
	require.Equal(t, reactive.RunFailed, wait(t, r).Status)

	require.NoError(t, r.Retry(t.Context(), "flaky"))
	result := wait(t, r)
	require.NoError(t, result.Err())
	require.EqualValues(t, 2, result.Output)
	var types []string
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		types = append(types, u.Event.Type.String())
	}
	require.Contains(t, types, "run.reopened")
	require.Equal(t, "run.finished", types[len(types)-1])

	r = start(t, e, `{kind: Workflow, name: w, steps: [{operation: echo}]}`)
	wait(t, r)
	require.ErrorIs(t, r.Abort(t.Context(), "echo", ""), coordinator.ErrFinished)
}
