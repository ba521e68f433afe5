package coordinator_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// parsed returns the workflow of a document.
func parsed(t *testing.T, text string) *template.Workflow {
	w, err := template.Parse("", []byte(text))
	require.NoError(t, err)
	return w
}

// eventsOf returns the types of the events of a run.
func eventsOf(t *testing.T, store journal.Store, run string) (list []string) {
	for e, err := range store.Read(t.Context(), run, 1) {
		require.NoError(t, err)
		list = append(list, e.Type.String())
	}
	return list
}

// Calls that are under way when a run is moved go on, are not made again, and count under the other workflow, in which their steps
// have other places. What comes next is what that says, live and after a restart alike.
func TestCallsUnderWayGoOnAfterAMove(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, store := t.Context(), &kept{memory.New()}
				var made [4]atomic.Int32
				call := func(i int, name string) coordinator.Operation {
					return operation.Define(name, func(ctx context.Context, _ any) (any, error) {
						made[i].Add(1)
						select {
						case <-time.After(time.Hour):
							return name, nil
						case <-ctx.Done():
							return nil, ctx.Err()
						}
					})
				}
				config := coordinator.Config{Operations: []coordinator.Operation{call(0, "slow"), call(1, "other"), call(2, "first"), call(3, "last")}}
				engine, err := coordinator.New(ctx, store, config)
				require.NoError(t, err)
				old := parsed(t, `{kind: Workflow, name: w, steps: [{parallel: {steps: [{operation: other}, {operation: slow, idempotent: false}]}}]}`)
				now := parsed(t, `{kind: Workflow, name: w, steps: [{parallel: {steps: [{operation: first}, {operation: slow, idempotent: false},
					{operation: other}]}}, {operation: last}], output: "{{ steps.slow.output }} {{ steps.other.output }}"}`)
				run, err := engine.Start(ctx, old, nil, coordinator.WithID("a"))
				require.NoError(t, err)
				synctest.Wait()
				report, err := run.As("ann").Move(ctx, now)
				require.NoError(t, err)
				require.Nil(t, report.Past())
				synctest.Wait()
				if restart {
					time.Sleep(90 * time.Minute)
					synctest.Wait()
					require.NoError(t, engine.Shutdown(ctx))
					engine, err = coordinator.New(ctx, store, config)
					require.NoError(t, err)
					run, err = engine.Run(ctx, "a")
					require.NoError(t, err)
				}
				result, err := run.Wait(ctx)
				require.NoError(t, err)
				require.Equal(t, "completed", string(result.Status), "%v", result.Failure)
				require.Equal(t, "slow other", result.Output)
				require.EqualValues(t, 1, made[0].Load(), "a call is not made again")
				require.EqualValues(t, 1, made[1].Load())
				require.EqualValues(t, 1, made[2].Load())
				require.Positive(t, made[3].Load())
				state, err := run.State(ctx)
				require.NoError(t, err)
				require.Equal(t, now.Name, state.Start.Name)
				require.Len(t, state.Steps, 4)
				for _, step := range state.Steps {
					require.Equal(t, "completed", step.Status.String(), step.Step)
				}
				past := run.At(coordinator.Moment{Seq: 3})
				before, err := past.State(ctx)
				require.NoError(t, err)
				require.Len(t, before.Steps, 2, "a moment before the move has the old workflow")
				require.NoError(t, engine.Shutdown(ctx))
			})
		})
	}
}

// Of moves to two versions at the same time, and messages meanwhile, each is carried out or refused as a whole.
func TestMovesBesideOtherCommands(t *testing.T) {
	ctx, store := t.Context(), memory.New()
	engine, err := coordinator.New(ctx, store, coordinator.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Shutdown(context.Background())) }()
	w := parsed(t, `{kind: Workflow, name: w, operations: {m: {wait: {message: m}}, v: {value: "{{ input }}"}},
		steps: [{id: a, operation: m}, {id: b, operation: m}, {id: c, operation: m}, {id: v, operation: v, input: "{{ 0 }}"}]}`)
	run, err := engine.Start(ctx, w, nil)
	require.NoError(t, err)
	next := func(n int) *template.Workflow {
		return parsed(t, fmt.Sprintf(`{kind: Workflow, name: w, operations: {m: {wait: {message: m}}, v: {value: "{{ input }}"}},
			steps: [{id: a, operation: m}, {id: b, operation: m}, {id: c, operation: m}, {id: v, operation: v, input: "{{ %d }}"}], output: "{{ steps.v.output }}"}`, n))
	}
	done := make(chan error)
	for n := 1; n <= 8; n++ {
		go func() {
			_, err := run.Move(ctx, next(n))
			done <- err
		}()
	}
	for range 3 {
		go func() { done <- run.Send(ctx, "m", nil) }()
	}
	moved := 0
	for range 11 {
		if err := <-done; err != nil {
			require.ErrorIs(t, err, coordinator.ErrFinished)
		}
	}
	result, err := run.Wait(ctx)
	require.NoError(t, err)
	for _, of := range eventsOf(t, store, run.ID()) {
		if of == "run.moved" {
			moved++
		}
	}
	state, err := run.State(ctx)
	require.NoError(t, err)
	require.Equal(t, "completed", string(state.Status))
	if moved > 0 {
		require.NotNil(t, result.Output)
	}
}
