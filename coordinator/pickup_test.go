package coordinator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

func TestOnlyRunsThatArePickedUpGoOn(t *testing.T) {
	store := &kept{memory.New()}
	w := parse(t, "kind: Workflow\nname: w\nsteps: [{operation: work}]\n")
	begun := make(chan string, 2)
	stopped, done := context.WithCancel(t.Context())
	done()

	first, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{
		operation.Define("work", func(ctx context.Context, _ any) (any, error) {
			begun <- "first"
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}})
	require.NoError(t, err)
	for _, id := range []string{"mine", "theirs"} {
		_, err := first.Start(t.Context(), w, nil, coordinator.WithID(id))
		require.NoError(t, err)
		<-begun
	}
	require.NoError(t, first.Shutdown(stopped))

	calls := 0
	second, err := coordinator.New(t.Context(), store, coordinator.Config{
		PickUp: func(h journal.Head) bool { return h.Run == "mine" },
		Operations: []coordinator.Operation{
			operation.Define("work", func(context.Context, any) (any, error) { calls++; return nil, nil }),
		},
	})
	require.NoError(t, err)
	run, err := second.Run(t.Context(), "mine")
	require.NoError(t, err)
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, result.Err())
	require.NoError(t, second.Shutdown(t.Context()))
	require.Equal(t, 1, calls)

	open := map[string]bool{}
	for head, err := range store.Heads(t.Context(), "") {
		require.NoError(t, err)
		open[head.Run] = head.Open
	}
	require.Equal(t, map[string]bool{"mine": false, "theirs": true}, open)
}

// leftAlone starts runs with one engine, and returns another engine on the same store that drives none of them.
func leftAlone(t *testing.T, config coordinator.Config, texts map[string]string) (*coordinator.Engine, *kept) {
	store := &kept{memory.New()}
	first, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	for id, text := range texts {
		_, err := first.Start(t.Context(), parse(t, text), nil, coordinator.WithID(id))
		require.NoError(t, err)
	}
	require.NoError(t, first.Shutdown(t.Context()))
	second, err := coordinator.New(t.Context(), store, coordinator.Config{PickUp: func(journal.Head) bool { return false }})
	require.NoError(t, err)
	return second, store
}

var work = operation.Define("work", func(_ context.Context, in any) (any, error) { return in, nil })

const waits = `
kind: Workflow
name: waits
operations: {approval: {wait: {message: approve}}}
steps: [{operation: approval}, {operation: work, input: "{{ steps.approval.output }}"}]
output: "{{ steps.work.output }}"`

func TestACommandForARunThatIsNotPickedUpTakesEffectLater(t *testing.T) {
	config := coordinator.Config{Operations: []coordinator.Operation{work}}
	e, store := leftAlone(t, config, map[string]string{"r": waits})
	r, err := e.Run(t.Context(), "r")
	require.NoError(t, err)
	require.False(t, r.Driven())
	require.NoError(t, r.As("ann").Send(t.Context(), "approve", "yes"))
	state, err := r.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, reactive.Running, state.Steps[0].Status, "the engine lacks %q, and decides nothing", "work")
	require.NoError(t, e.Shutdown(t.Context()))

	e, err = coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r, err = e.Run(t.Context(), "r")
	require.NoError(t, err)
	require.True(t, r.Driven())
	require.Equal(t, "yes", wait(t, r).Output)
	require.NoError(t, e.Shutdown(t.Context()))
}

func TestACancelEndsARunThatIsNotPickedUp(t *testing.T) {
	e, _ := leftAlone(t, coordinator.Config{Operations: []coordinator.Operation{work}},
		map[string]string{"r": waits})
	r, err := e.Run(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, r.As("ann").Cancel(t.Context(), "enough"))
	result := wait(t, r)
	require.Equal(t, reactive.RunAborted, result.Status)
	for name, command := range commands {
		require.ErrorIs(t, command(t.Context(), r), coordinator.ErrFinished, name)
	}
	var actor string
	for event, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		if event.Type == journal.RunCancelled {
			actor = event.Detail.Actor
		}
	}
	require.Equal(t, "ann", actor)
	require.NoError(t, e.Shutdown(t.Context()))
	require.ErrorIs(t, r.Send(t.Context(), "approve", nil), coordinator.ErrShutdown)
}

// commands holds a call of every command of Run.
var commands = map[string]func(context.Context, *coordinator.Run) error{
	"send":   func(ctx context.Context, r *coordinator.Run) error { return r.Send(ctx, "approve", 1) },
	"cancel": func(ctx context.Context, r *coordinator.Run) error { return r.Cancel(ctx, "") },
	"pause":  func(ctx context.Context, r *coordinator.Run) error { return r.Pause(ctx, "") },
	"resume": func(ctx context.Context, r *coordinator.Run) error { return r.Resume(ctx) },
	"abort":  func(ctx context.Context, r *coordinator.Run) error { return r.Abort(ctx, "approval", "") },
	"retry":  func(ctx context.Context, r *coordinator.Run) error { return r.Retry(ctx, "approval") },
	"decide": func(ctx context.Context, r *coordinator.Run) error { return r.Decide(ctx, "approval", true, "") },
}

func TestARefusedCommandLeavesTheJournalAsItWas(t *testing.T) {
	e, _ := leftAlone(t, coordinator.Config{Operations: []coordinator.Operation{work}},
		map[string]string{"r": waits})
	r, err := e.Run(t.Context(), "r")
	require.NoError(t, err)
	events := func() (list []journal.Event) {
		for event, err := range r.Events(t.Context(), 1) {
			require.NoError(t, err)
			list = append(list, event)
		}
		return list
	}
	before := events()
	require.ErrorIs(t, r.Abort(t.Context(), "nobody", ""), coordinator.ErrStepNotFound)
	require.ErrorIs(t, r.Retry(t.Context(), "work"), coordinator.ErrNotPossible)
	require.ErrorIs(t, r.Decide(t.Context(), "approval", true, ""), coordinator.ErrNotPossible)
	require.ErrorIs(t, r.Resume(t.Context()), coordinator.ErrNotPossible)
	require.Error(t, r.Send(t.Context(), "approve", make(chan int)))
	require.Equal(t, before, events())
	require.NoError(t, e.Shutdown(t.Context()))
}

func TestOfEqualConcurrentCommandsOneIsJournaled(t *testing.T) {
	e, _ := leftAlone(t, coordinator.Config{Operations: []coordinator.Operation{work}},
		map[string]string{"r": waits})
	r, err := e.Run(t.Context(), "r")
	require.NoError(t, err)
	errs := make(chan error)
	for range 8 {
		go func() { errs <- r.Pause(t.Context(), "") }()
	}
	won := 0
	for range 8 {
		if err := <-errs; err == nil {
			won++
		} else {
			require.ErrorIs(t, err, coordinator.ErrNotPossible)
		}
	}
	require.Equal(t, 1, won)
	require.NoError(t, e.Shutdown(t.Context()))
}
