package coordinator_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
)

// goroutine returns the number of the calling goroutine.
func goroutine() string {
	stack := make([]byte, 64)
	return string(bytes.Fields(stack[:runtime.Stack(stack, false)])[1])
}

// The goroutine that has made a call takes the next turn and makes the next call: no other goroutine is woken. Occasionally the run's
// loop is still awake, and starts a worker.
func TestAChainIsOneGoroutinesWork(t *testing.T) {
	const steps = 200
	store, err := disk.Open(t.TempDir(), disk.Config{})
	require.NoError(t, err)
	var mu sync.Mutex
	made := map[string]int{}
	w := &template.Workflow{Name: "chain"}
	op := operation.Define("step", func(context.Context, any) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		made[goroutine()]++
		return nil, nil
	})
	for i := range steps {
		w.Steps = append(w.Steps, &template.Step{ID: fmt.Sprint("s", i), Operation: "step"})
	}
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{op}})
	require.NoError(t, err)
	defer e.Shutdown(context.Background())
	r, err := e.Start(t.Context(), w, nil)
	require.NoError(t, err)
	result, err := r.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, reactive.RunCompleted, result.Status)
	require.Less(t, len(made), steps/2, "number of goroutines")
}

// TestPoolTakesTurns: on a goroutine of the pool that takes a turn, code that ends the goroutine fails only its step, and a timer
// that is due before the loop would wake fires in time.
func TestPoolTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exits := operation.DefinePure("exits", func(any) (any, error) { runtime.Goexit(); return nil, nil })
		echoes := operation.Define("echoes", func(_ context.Context, in any) (any, error) { return in, nil })
		hangs := operation.Define("hangs", func(ctx context.Context, _ any) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
		e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{exits, echoes, hangs}})
		defer e.Shutdown(context.Background())

		r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: echoes}, {operation: exits}]}`)
		result, err := r.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, reactive.RunFailed, result.Status)

		began := time.Now()
		r = start(t, e, `{kind: Workflow, name: w, steps: [{operation: echoes}, {operation: hangs, timing: {timeout: PT2S}}]}`)
		result, err = r.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, reactive.RunStepTimeout, result.Status)
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

// After a call that waits, its goroutine makes the next one itself if that is quick: no worker is started for it.
func TestAQuickCallAfterOneThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := operation.Define("slow", func(context.Context, any) (any, error) { <-time.After(time.Second); return nil, nil })
		quick := operation.Define("quick", func(context.Context, any) (any, error) { return nil, nil })
		e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{slow, quick}})
		var took time.Duration
		for range 2 { // the first run marks the operation as waiting
			began := time.Now()
			r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: slow}, {operation: quick, id: a}, {operation: slow, id: b}, {operation: quick, id: c}]}`)
			_, err := r.Wait(t.Context())
			require.NoError(t, err)
			took = time.Since(began)
		}
		require.Equal(t, 2*time.Second, took)
	})
}
