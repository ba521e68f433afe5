package observe_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/reactivex/rxgo/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/observe"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var echo = operation.Define("echo", func(_ context.Context, in any) (any, error) { return in, nil })

func startRun(t testing.TB, ctx context.Context) *coordinator.Run {
	e, err := coordinator.New(ctx, memory.New(), coordinator.Config{Operations: []coordinator.Operation{echo}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	w, err := template.Parse("w.yaml", []byte(`{kind: Workflow, name: w, steps: [{operation: echo, id: a}, {operation: echo, id: b}]}`))
	require.NoError(t, err)
	run, err := e.Start(ctx, w, nil)
	require.NoError(t, err)
	return run
}

// startWaiting starts a run that waits for the message go.
func startWaiting(t testing.TB, ctx context.Context) *coordinator.Run {
	e, err := coordinator.New(ctx, memory.New(), coordinator.Config{Operations: []coordinator.Operation{echo}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	w, err := template.Parse("w.yaml", []byte(`
kind: Workflow
name: w
operations: {mail: {wait: {message: go}}}
steps:
  - {operation: mail}
  - parallel:
      steps:
        - {operation: echo, id: b, input: done}
        - map: {id: m, over: [1, 2], steps: [{operation: echo, id: each}]}`))
	require.NoError(t, err)
	run, err := e.Start(ctx, w, nil)
	require.NoError(t, err)
	for u, err := range run.Watch(ctx, 1) {
		require.NoError(t, err)
		if u.Status == reactive.RunWaiting {
			break
		}
	}
	return run
}

func seqOf(item rxgo.Item) uint64 { return item.V.(coordinator.Update).Event.Seq }

// dedup removes adjacent repetitions.
func dedup(list []string) []string { return slices.Compact(slices.Clone(list)) }

func TestTheObservableYieldsTheUpdatesOfWatch(t *testing.T) {
	ctx := t.Context()
	run := startRun(t, ctx)
	var want []string
	for u, err := range run.Watch(ctx, 1) {
		require.NoError(t, err)
		want = append(want, fmt.Sprint(u.Event.Seq, u.Event.Type, u.Changes))
	}
	var got []string
	for item := range observe.Run(ctx, run, 1).Observe() {
		require.NoError(t, item.E)
		u := item.V.(coordinator.Update)
		got = append(got, fmt.Sprint(u.Event.Seq, u.Event.Type, u.Changes))
	}
	require.Equal(t, want, got)
}

func TestAnObserverThatStopsEarlyLeaksNoGoroutine(t *testing.T) {
	run := startRun(t, t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	starts := observe.Run(ctx, run, 1).Filter(func(v any) bool {
		return v.(coordinator.Update).Event.Type == journal.RunStarted
	}, rxgo.WithContext(ctx))
	item := <-starts.Observe(rxgo.WithContext(ctx))
	require.NoError(t, item.E)
	cancel()
}

func TestAFailureToWatchIsAnErrorItem(t *testing.T) {
	run := startRun(t, t.Context())
	_, err := run.Wait(t.Context())
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for item := range observe.Run(ended, run, 1).Observe() {
		require.Error(t, item.E)
	}
}
