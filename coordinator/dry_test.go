package coordinator_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// dryCommands are all commands. Each state of a run refuses some of them.
var dryCommands = map[string]func(context.Context, *coordinator.Run) error{
	"cancel":       func(ctx context.Context, r *coordinator.Run) error { return r.Cancel(ctx, "enough") },
	"pause":        func(ctx context.Context, r *coordinator.Run) error { return r.Pause(ctx, "lunch") },
	"resume":       func(ctx context.Context, r *coordinator.Run) error { return r.Resume(ctx) },
	"send":         func(ctx context.Context, r *coordinator.Run) error { return r.Send(ctx, "approve", 1) },
	"send nowhere": func(ctx context.Context, r *coordinator.Run) error { return r.Send(ctx, "nobody", 1) },
	"send again": func(ctx context.Context, r *coordinator.Run) error {
		return r.Send(ctx, "hello", 1, coordinator.WithKey("k"))
	},
	"send to cells": func(ctx context.Context, r *coordinator.Run) error {
		return r.Send(ctx, "Set", map[string]any{"id": "a", "n": 7})
	},
	"send badly": func(ctx context.Context, r *coordinator.Run) error {
		return r.Send(ctx, "Set", map[string]any{"id": 7})
	},
	"decide":         func(ctx context.Context, r *coordinator.Run) error { return r.Decide(ctx, "check", true, "seen") },
	"decide nowhere": func(ctx context.Context, r *coordinator.Run) error { return r.Decide(ctx, "nowhere", true, "seen") },
	"patch":          func(ctx context.Context, r *coordinator.Run) error { return r.Patch(ctx, map[string]any{"a": 1}) },
	"abort":          func(ctx context.Context, r *coordinator.Run) error { return r.Abort(ctx, "check", "enough") },
	"abort a cell":   func(ctx context.Context, r *coordinator.Run) error { return r.Abort(ctx, "clock[a]", "enough") },
	"retry":          func(ctx context.Context, r *coordinator.Run) error { return r.Retry(ctx, "check") },
	"retry nowhere":  func(ctx context.Context, r *coordinator.Run) error { return r.Retry(ctx, "nowhere") },
	"pause a cell":   func(ctx context.Context, r *coordinator.Run) error { return r.PauseCell(ctx, "clock[a]", "") },
	"resume a cell":  func(ctx context.Context, r *coordinator.Run) error { return r.ResumeCell(ctx, "clock[a]") },
	"snapshot": func(ctx context.Context, r *coordinator.Run) error {
		_, err := r.Snapshot(ctx)
		return err
	},
	"as nobody": func(ctx context.Context, r *coordinator.Run) error {
		return r.As(string(make([]byte, coordinator.ActorMax+1))).Pause(ctx, "")
	},
	"without limits": func(ctx context.Context, r *coordinator.Run) error { return r.Pause(ctx, string(make([]byte, 2<<20))) },
}

// dryStates begin runs in states in which commands differ.
var dryStates = map[string]func(*testing.T, *coordinator.Engine) *coordinator.Run{
	"waiting": func(t *testing.T, e *coordinator.Engine) *coordinator.Run { return start(t, e, waits2) },
	"told":    told,
	"paused": func(t *testing.T, e *coordinator.Engine) *coordinator.Run {
		r := start(t, e, waits2)
		require.NoError(t, r.Pause(t.Context(), ""))
		return r
	},
	"undecided": func(t *testing.T, e *coordinator.Engine) *coordinator.Run {
		return start(t, e, `{kind: Workflow, name: w, operations: {one: {value: 1}}, steps: [{operation: one, id: check, fulfillment: {policy: requester_confirmation}}]}`)
	},
	"ended": func(t *testing.T, e *coordinator.Engine) *coordinator.Run {
		return start(t, e, `{kind: Workflow, name: w, operations: {one: {value: 1}}, steps: [{operation: one, id: check}]}`)
	},
	"failed": func(t *testing.T, e *coordinator.Engine) *coordinator.Run {
		return start(t, e, `{kind: Workflow, name: w, operations: {no: {fail: {code: no, message: no}}}, steps: [{operation: no, id: check}]}`)
	},
	"cancelled": func(t *testing.T, e *coordinator.Engine) *coordinator.Run {
		r := start(t, e, waits2)
		require.NoError(t, r.Cancel(t.Context(), ""))
		return r
	},
	"busy": func(t *testing.T, e *coordinator.Engine) *coordinator.Run {
		return start(t, e, `{kind: Workflow, name: w, steps: [{operation: stay, id: check}]}`)
	},
	"world": func(t *testing.T, e *coordinator.Engine) *coordinator.Run {
		checked, err := kinds.Load("alarm.yaml", []byte(alarmWorld), template.Known{})
		require.NoError(t, err)
		r, err := e.Start(t.Context(), checked.Workflow, nil)
		require.NoError(t, err)
		_, err = r.SendMessage(t.Context(), cells.Message{Name: "Set", Payload: map[string]any{"id": "a", "n": 1}})
		require.NoError(t, err)
		return r
	},
}

// told begins a run that has taken a message with a key.
func told(t *testing.T, e *coordinator.Engine) *coordinator.Run {
	r := start(t, e, waits2)
	require.NoError(t, r.Send(t.Context(), "hello", 1, coordinator.WithKey("of two, the last counts"), coordinator.WithKey("k")))
	return r
}

// TestADryCommandSaysWhatTheCommandDoes, or returns the same refusal, and changes nothing, both if the process drives the run and if it
// does not.
func TestADryCommandSaysWhatTheCommandDoes(t *testing.T) {
	for state, begin := range dryStates {
		for command, do := range dryCommands {
			for _, driven := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) { dryAgrees(t, state+", "+command, begin, do, driven) })
			}
		}
	}
}

func dryAgrees(t *testing.T, name string, begin func(*testing.T, *coordinator.Engine) *coordinator.Run, do func(context.Context, *coordinator.Run) error, driven bool) {
	ctx, store := t.Context(), &kept{memory.New()}
	stay := operation.Define("stay", func(ctx context.Context, _ any) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
	config := coordinator.Config{Operations: []coordinator.Operation{stay}}
	engine := func() *coordinator.Engine {
		e, err := coordinator.New(ctx, store, config)
		require.NoError(t, err)
		return e
	}
	e := engine()
	run := begin(t, e)
	synctest.Wait()
	if !driven {
		shutdownSoon(e)
		config.NotesOnly, config.PickUp = true, func(journal.Head) bool { return false }
		e = engine()
		var err error
		run, err = e.Run(ctx, run.ID())
		require.NoError(t, err)
	}
	defer func() { shutdownSoon(e) }()
	before := journaled(t, store, run.ID())
	var would []journal.Event
	dry := run.As("ann").Dry(func(e journal.Event) { would = append(would, e) })
	refused := do(ctx, dry)
	synctest.Wait()
	require.Equal(t, before, journaled(t, store, run.ID()), "%s: a dry command changes nothing", name)

	err := do(ctx, run.As("ann"))
	synctest.Wait()
	if refused != nil || err != nil {
		require.EqualError(t, err, refusedText(refused), "%s, driven %v", name, driven)
		require.Empty(t, would, name)
		return
	}
	is := journaled(t, store, run.ID())[len(before):]
	require.GreaterOrEqual(t, len(is), len(would), name)
	require.True(t, len(would) > 0 || len(is) == 0, "%s: what is journaled was said", name)
	for i := range would {
		require.Equal(t, plainEvent(is[i]), plainEvent(would[i]), name)
	}
}

// shutdownSoon ends an engine, and stops calls that do not end by themselves.
func shutdownSoon(e *coordinator.Engine) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = e.Shutdown(ctx) // its error: calls were stopped
}

// refusedText returns the text of an error; "no error" of nil.
func refusedText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// plainEvent returns an event without its own instants.
func plainEvent(e journal.Event) journal.Event {
	e.At = 0
	if e.Detail != nil {
		d := *e.Detail
		d.Received = 0
		e.Detail = &d
	}
	return e
}

func journaled(t *testing.T, store journal.Store, run string) (list []journal.Event) {
	for e, err := range store.Read(t.Context(), run, 1) {
		require.NoError(t, err)
		list = append(list, e)
	}
	return list
}

// TestADryHandleStartsNothing: it refuses a rerun and a move, which it cannot preview.
func TestADryHandleStartsNothing(t *testing.T) {
	e := newEngine(t, coordinator.Config{})
	r := start(t, e, waits2)
	_, err := r.Dry(nil).Rerun(t.Context(), coordinator.Rerun{From: "approval"})
	require.ErrorIs(t, err, coordinator.ErrNotPossible)
	_, err = r.Dry(nil).Move(t.Context(), parse(t, waits2))
	require.ErrorIs(t, err, coordinator.ErrNotPossible)
	require.NoError(t, r.Dry(nil).Cancel(t.Context(), ""))
	require.NoError(t, r.Pause(t.Context(), ""))
}

// TestADryDeleteNamesTheRuns that would be deleted, or returns the reason that none would.
func TestADryDeleteNamesTheRuns(t *testing.T) {
	ctx, store := t.Context(), memory.New()
	e, err := coordinator.New(ctx, store, coordinator.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
	open := start(t, e, waits2)
	_, refused := e.PreviewDelete(ctx, open.ID())
	require.EqualError(t, e.Delete(ctx, open.ID()), refused.Error())

	dir := written(t, map[string]string{
		"top.yaml":   "{kind: Workflow, name: top, operations: {sub: {workflow: {path: child.yaml}}}, steps: [{operation: sub, id: sub}]}",
		"child.yaml": "{kind: Workflow, name: child, operations: {one: {value: 1}}, steps: [{operation: one}]}",
	})
	ended, err := e.Start(ctx, loaded(t, filepath.Join(dir, "top.yaml")), nil, coordinator.WithID("r"))
	require.NoError(t, err)
	wait(t, ended)
	runs, err := e.PreviewDelete(ctx, "r")
	require.NoError(t, err)
	require.Equal(t, []string{"r", "r/sub#1"}, runs)
	_, err = e.Run(ctx, "r")
	require.NoError(t, err, "it is still there")
	_, refused = e.PreviewDelete(ctx, "r/sub#1")
	require.EqualError(t, e.Delete(ctx, "r/sub#1"), refused.Error())
	require.NoError(t, e.Delete(ctx, "r"))
	for gone, why := range map[string]error{"r": journal.ErrDeleted, "nowhere": coordinator.ErrRunNotFound, "": coordinator.ErrRunNotFound, journal.RetentionStream: coordinator.ErrRunNotFound} {
		_, refused = e.PreviewDelete(ctx, gone)
		require.ErrorIs(t, refused, why)
		require.ErrorIs(t, e.Delete(ctx, gone), why)
	}
}
