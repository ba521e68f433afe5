package coordinator_test

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// relay records the goroutine that makes each call, takes each turn (it reads the clock then), and appends each batch. If two consecutive
// ones differ, a goroutine was woken.
type relay struct {
	journal.Store
	mu    sync.Mutex
	last  string
	woken int
}

func (r *relay) note() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := goroutine(); now != r.last {
		r.last = now
		r.woken++
	}
}

func (r *relay) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	r.note()
	return r.Store.Append(ctx, stream, after, events, head)
}

// started returns the number of goroutines that the process has started.
func started() int {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// A step of a chain wakes no goroutine and starts none: the one that has made a call takes the turn that follows, appends the
// events of the turn, and makes the next call. Each call waits until all other goroutines sleep, so that the result does not depend on
// those still awake.
func TestAStepOfAChainWakesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const steps = 200
		r := &relay{Store: memory.New()}
		coordinator.SetClock(t, func() (wall, steady int64) {
			r.note()
			return time.Now().UnixNano(), time.Now().UnixNano()
		})
		var woken, begun [2]int // at the first call, and at the last
		calls := 0
		op := operation.Define("step", func(context.Context, any) (any, error) {
			synctest.Wait()
			r.note()
			switch calls++; calls {
			case 1:
				woken[0], begun[0] = r.woken, started()
			case steps:
				woken[1], begun[1] = r.woken, started()
			}
			return nil, nil
		})
		w := &template.Workflow{Name: "chain"}
		for i := range steps {
			w.Steps = append(w.Steps, &template.Step{ID: fmt.Sprint("s", i), Operation: "step"})
		}
		e, err := coordinator.New(t.Context(), r, coordinator.Config{Operations: []coordinator.Operation{op}})
		require.NoError(t, err)
		defer e.Shutdown(context.Background())
		require.Equal(t, reactive.RunCompleted, run(t, e, w, nil).Status)
		require.Equal(t, steps, calls)
		require.Zero(t, woken[1]-woken[0], "goroutines were woken")
		require.Less(t, begun[1]-begun[0], steps/10, "goroutines were started") // those of the runtime among them
	})
}
