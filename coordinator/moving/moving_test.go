package moving_test

import (
	"context"
	"fmt"
	"log/slog"
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

// kept is a store that outlives its engine, like a disk.
type kept struct{ journal.Store }

func (k *kept) Close() error { return nil }

// engineOn returns an engine with operations and without a log.
func engineOn(t *testing.T, store journal.Store, list ...coordinator.Operation) *coordinator.Engine {
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: list, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	return e
}

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

// Calls that are under way when a run is moved go on, are not made again, and count under the new workflow, in which their steps have
// other places. The next steps are those of the new workflow, both live and after a restart.
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

// If moves to two versions come at the same time, with messages meanwhile, each move is carried out or refused as a whole.
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

// A run that is parked, because an operation that it has not called yet is missing, goes on when it is moved to a workflow without that
// operation.
func TestAParkedRunGoesOnWhenItIsMoved(t *testing.T) {
	store, there := &kept{memory.New()}, operation.Define("there", func(context.Context, any) (string, error) { return "there", nil })
	document := func(last string) *template.Workflow {
		return parsed(t, fmt.Sprintf(`{kind: Workflow, name: w, operations: {m: {wait: {message: m}}}, steps: [{operation: m}, {id: last, operation: %s}], output: "{{ steps.last.output }}"}`, last))
	}
	first := engineOn(t, store, operation.Define("gone", func(context.Context, any) (string, error) { return "gone", nil }))
	_, err := first.Start(t.Context(), document("gone"), nil, coordinator.WithID("a"))
	require.NoError(t, err)
	require.NoError(t, first.Shutdown(t.Context()))

	second := engineOn(t, store, there)
	run, err := second.Run(t.Context(), "a")
	require.NoError(t, err)
	require.ErrorIs(t, run.Send(t.Context(), "m", nil), coordinator.ErrParked)
	before := eventsOf(t, store, "a")
	_, err = run.Move(t.Context(), document("missing"))
	require.ErrorContains(t, err, `unknown operation "missing"`)
	_, err = run.Move(t.Context(), parsed(t, `{kind: Workflow, name: w, steps: [{operation: there}]}`))
	require.ErrorIs(t, err, coordinator.ErrNotPossible)
	require.ErrorIs(t, run.Send(t.Context(), "m", nil), coordinator.ErrParked, "a move that is refused leaves it parked")
	require.Equal(t, before, eventsOf(t, store, "a"))

	_, err = run.As("ann").Move(t.Context(), document("there"))
	require.NoError(t, err)
	require.NoError(t, run.Send(t.Context(), "m", nil))
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, "there", result.Output)
}

// A run that was moved and moved back follows its first workflow, in each process and at each moment.
func TestARunThatWasMovedBackIsOneOfItsFirstWorkflow(t *testing.T) {
	store := &kept{memory.New()}
	document := func(version, last string) *template.Workflow {
		return parsed(t, fmt.Sprintf(`{kind: Workflow, name: w, version: %s, operations: {m: {wait: {message: m}}, v: {value: "{{ input }}"}},
			steps: [{operation: m}, {id: last, operation: v, input: %s}], output: "{{ steps.last.output }}"}`, version, last))
	}
	a, b := document("a", "first"), document("b", "second")
	engine := engineOn(t, store)
	run, err := engine.Start(t.Context(), a, nil, coordinator.WithID("a"))
	require.NoError(t, err)
	for i, to := range []*template.Workflow{b, a, b, a} {
		_, err = run.Move(t.Context(), to)
		require.NoError(t, err)
		_, err = run.PreviewMove(t.Context(), to)
		require.ErrorContains(t, err, "follows this version of workflow w already")
		require.NoError(t, engine.Shutdown(t.Context()))
		engine = engineOn(t, store)
		run, err = engine.Run(t.Context(), "a")
		require.NoError(t, err)
		state, err := run.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, to.Version, state.Start.Version, i)
		report, err := run.Shadow(t.Context(), to)
		require.NoError(t, err)
		require.True(t, report.Same())
	}
	state, err := run.At(coordinator.Moment{Seq: 3}).State(t.Context())
	require.NoError(t, err)
	require.Equal(t, "b", state.Start.Version)
	require.NoError(t, run.Send(t.Context(), "m", nil))
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, "first", result.Output)
}
