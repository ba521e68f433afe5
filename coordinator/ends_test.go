package coordinator_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// methods calls all methods of Engine and Run except those in answerless.
var methods = map[string]func(context.Context, testing.TB, *coordinator.Engine, *coordinator.Run) error{
	"Engine.Register": func(_ context.Context, t testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		return e.Register(parse(t, waits2))
	},
	"Engine.Start": func(ctx context.Context, t testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.Start(ctx, parse(t, waits2), nil)
		return err
	},
	"Engine.Run": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, r *coordinator.Run) error {
		_, err := e.Run(ctx, r.ID())
		return err
	},
	"Engine.Runs": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) (last error) {
		for _, err := range e.Runs(ctx, "") {
			last = err
		}
		return last
	},
	"Engine.List": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) (last error) {
		for _, err := range e.List(ctx, journal.Query{Index: journal.ByStart}) {
			last = err
		}
		return last
	},
	"Engine.Find": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) (last error) {
		for _, err := range e.Find(ctx, "status:waiting") {
			last = err
		}
		return last
	},
	"Engine.Newest": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.Newest(ctx)
		return err
	},
	"Engine.Changes": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) (last error) {
		place, err := e.Newest(ctx)
		if err != nil {
			return err
		}
		for _, err := range e.Changes(ctx, place) {
			last = err
		}
		return last
	},
	"Engine.Delete": func(ctx context.Context, t testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		err := e.Delete(ctx, "unknown")
		if errors.Is(err, coordinator.ErrRunNotFound) {
			return nil
		}
		return err
	},
	"Engine.Keep": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		return e.Keep(ctx, retention.Rule{Keep: time.Hour}, "ann")
	},
	"Engine.ClearKeep": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		return e.ClearKeep(ctx, "", true, "ann")
	},
	"Engine.PreviewDelete": func(ctx context.Context, t testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.PreviewDelete(ctx, "unknown")
		return unless(err, coordinator.ErrRunNotFound)
	},
	"Engine.PreviewKeep": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.PreviewKeep(ctx, retention.Rule{Keep: time.Hour}, "ann")
		return err
	},
	"Engine.PreviewClearKeep": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.PreviewClearKeep(ctx, "", true, "ann")
		return err
	},
	"Engine.Rules": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.Rules(ctx)
		return err
	},
	"Engine.Collect": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.Collect(ctx, retention.Collection{Dry: true})
		return err
	},
	"Engine.PreviewBulk": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.PreviewBulk(ctx, bulk.Act{Verb: "cancel", Where: "none"})
		return err
	},
	"Engine.BeginBulk": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.BeginBulk(ctx, bulk.Act{Verb: "cancel", Where: "none", Expect: 1})
		return unless(err, bulk.ErrCount)
	},
	"Engine.AwaitBulk": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.AwaitBulk(ctx, 7)
		return unless(err, bulk.ErrNotFound)
	},
	"Engine.StopBulk": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.StopBulk(ctx, 7, "ann")
		return unless(err, bulk.ErrNotFound)
	},
	"Engine.PreviewStopBulk": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.PreviewStopBulk(ctx, 7)
		return unless(err, bulk.ErrNotFound)
	},
	"Engine.BulkAct": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.BulkAct(ctx, 7)
		return unless(err, bulk.ErrNotFound)
	},
	"Engine.BulkActs": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) (last error) {
		for _, err := range e.BulkActs(ctx) {
			last = err
		}
		return last
	},
	"Engine.BulkOutcomes": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) (last error) {
		for _, err := range e.BulkOutcomes(ctx, 7) {
			last = unless(err, bulk.ErrNotFound)
		}
		return last
	},
	"Engine.Export": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, r *coordinator.Run) error {
		return e.Export(ctx, io.Discard, r.ID())
	},
	"Engine.Import": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.Import(ctx, strings.NewReader(""), "ann")
		if errors.Is(err, archive.ErrRefused) {
			return nil
		}
		return err
	},
	"Engine.Backup": func(ctx context.Context, t testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		return e.Backup(ctx, t.TempDir())
	},
	"Engine.Registry": func(_ context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.Registry()
		return err
	},
	"Engine.StartEntry": func(ctx context.Context, t testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		known, err := e.Registry()
		if err != nil {
			return err
		}
		entry, err := known.Add(parse(t, waits2))
		require.NoError(t, err)
		_, err = e.StartEntry(ctx, entry, nil)
		return err
	},
	"Run.CellsBy": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.CellsBy(ctx, cells.Index{Name: "status", Values: []any{"paid"}}, nil, 0)
		return err
	},
	"Engine.Parked": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, r *coordinator.Run) error {
		return e.Parked(ctx, &journal.Head{Run: r.ID(), Open: true})
	},
	"Engine.Current": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, r *coordinator.Run) error {
		_, _, err := e.Current(ctx, journal.Head{Run: r.ID(), Open: true, Due: 1})
		return err
	},
	"Run.Awaits": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Awaits(ctx, "approve")
	},
	"Run.Wait": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Wait(ctx)
		return err
	},
	"Run.Watch": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) (last error) {
		for _, err := range r.Watch(ctx, 1) {
			last = err
		}
		return last
	},
	"Run.Log": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) (last error) {
		for _, err := range r.Log(ctx, "") {
			last = err
		}
		return last
	},
	"Run.CheckStep": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.CheckStep(ctx, "")
	},
	"Run.History": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) (last error) {
		for _, err := range r.History(ctx, 1) {
			last = err
		}
		return last
	},
	"Run.Roots": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) (last error) {
		for _, err := range r.Roots(ctx) {
			last = err
		}
		return last
	},
	"Run.Output": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Output(ctx, "", "")
		return err
	},
	"Run.Last": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Last(ctx)
		return err
	},
	"Run.Events": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) (last error) {
		for _, err := range r.Events(ctx, 1) {
			last = err
		}
		return last
	},
	"Run.Views": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) (last error) {
		for _, err := range r.Views(ctx, 1) {
			last = err
		}
		return last
	},
	"Run.State": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.State(ctx)
		return err
	},
	"Run.CallGraph": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.CallGraph(ctx)
		return err
	},
	"Run.At": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.At(coordinator.Moment{Seq: 1}).State(ctx)
		return err
	},
	"Run.Explain": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Explain(ctx, "")
		return err
	},
	"Run.Parked": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Parked(ctx)
	},
	"Run.Cancel": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Cancel(ctx, "")
	},
	"Run.Abort": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Abort(ctx, "approval", "")
	},
	"Run.Retry": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Retry(ctx, "approval")
	},
	"Run.Send": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Send(ctx, "approve", 1)
	},
	"Run.Pause": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Pause(ctx, "")
	},
	"Run.Resume": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Resume(ctx)
	},
	"Run.Decide": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Decide(ctx, "approval", true, "")
	},
	"Run.SendMessage": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.SendMessage(ctx, cells.Message{Name: "m"})
		return err
	},
	"Run.PauseCell": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.PauseCell(ctx, "c", "")
	},
	"Run.ResumeCell": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.ResumeCell(ctx, "c")
	},
	"Run.Cell": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Cell(ctx, "c")
		return err
	},
	"Run.CellWaits": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.CellWaits(ctx, "c")
		return err
	},
	"Run.Cells": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Cells(ctx, nil, 0)
		return err
	},
	"Run.Await": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Await(ctx, "c", func(*cells.State) bool { return true })
		return err
	},
	"Run.Machines": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Machines(ctx)
		return err
	},
	"Run.NormalPayload": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.NormalPayload(ctx, "m", nil)
		return err
	},
	"Run.Snapshot": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Snapshot(ctx)
		return err
	},
	"Run.Sweep": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, _, err := r.Sweep(ctx, true)
		return err
	},
	"Run.Trim": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Trim(ctx, 0, true)
		return err
	},
	"Engine.AwaitChange": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		place, err := e.Newest(ctx)
		if err != nil {
			return err
		}
		return e.AwaitChange(ctx, place)
	},
	"Engine.Published": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) (last error) {
		for _, err := range e.Published(ctx, "") {
			last = err
		}
		return last
	},
	"Engine.RuleChanges": func(ctx context.Context, _ testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		for _, err := range e.RuleChanges(ctx) {
			return err
		}
		return nil
	},
	"Run.Rerun": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Rerun(ctx, coordinator.Rerun{From: "approval"})
		return err
	},
	"Run.PreviewRerun": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.PreviewRerun(ctx, coordinator.Rerun{From: "approval"})
		return err
	},
	"Engine.Diff": func(_ context.Context, t testing.TB, e *coordinator.Engine, _ *coordinator.Run) error {
		_, err := e.Diff(parse(t, waits2), parse(t, waits2))
		return err
	},
	"Run.Shadow": func(ctx context.Context, t testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Shadow(ctx, parse(t, waits2))
		return err
	},
	"Run.ShadowEntry": func(ctx context.Context, t testing.TB, e *coordinator.Engine, r *coordinator.Run) error {
		entry, err := entryOf(e, parse(t, waits2))
		if err != nil {
			return err
		}
		_, err = r.ShadowEntry(ctx, entry)
		return err
	},
	"Run.Move": func(ctx context.Context, t testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.Move(ctx, parse(t, waits2))
		return err
	},
	"Run.MoveEntry": func(ctx context.Context, t testing.TB, e *coordinator.Engine, r *coordinator.Run) error {
		entry, err := entryOf(e, parse(t, waits2))
		if err != nil {
			return err
		}
		_, err = r.MoveEntry(ctx, entry)
		return err
	},
	"Run.PreviewMove": func(ctx context.Context, t testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		_, err := r.PreviewMove(ctx, parse(t, waits2))
		return err
	},
	"Run.PreviewMoveEntry": func(ctx context.Context, t testing.TB, e *coordinator.Engine, r *coordinator.Run) error {
		entry, err := entryOf(e, parse(t, waits2))
		if err != nil {
			return err
		}
		_, err = r.PreviewMoveEntry(ctx, entry)
		return err
	},
	"Run.Patch": func(ctx context.Context, _ testing.TB, _ *coordinator.Engine, r *coordinator.Run) error {
		return r.Patch(ctx, map[string]any{"a": 1})
	},
}

// unless returns err, or nil if it is the wanted one.
func unless(err, wanted error) error {
	if errors.Is(err, wanted) {
		return nil
	}
	return err
}

// entryOf registers a workflow and returns its entry.
func entryOf(e *coordinator.Engine, w *template.Workflow) (*registry.Entry, error) {
	l, err := e.Registry()
	if err != nil {
		return nil, err
	}
	return l.Add(w)
}

// answerless names the methods that return no error or do their work once. InMemory is for tests.
var answerless = []string{"Engine.BeforeShutdown", "Engine.BeginCommand", "Engine.Held", "Engine.Incomplete", "Engine.InMemory", "Engine.Limits", "Engine.Logs", "Engine.Moving", "Engine.Shutdown", "Engine.Tally", "Engine.Uses", "Engine.Workers", "Run.As", "Run.Driven", "Run.Dry", "Run.Held", "Run.Incomplete", "Run.ID"}

func TestTheTableOfMethodsIsComplete(t *testing.T) {
	var want []string
	for _, typ := range []reflect.Type{reflect.TypeFor[*coordinator.Engine](), reflect.TypeFor[*coordinator.Run]()} {
		for i := range typ.NumMethod() {
			want = append(want, typ.Elem().Name()+"."+typ.Method(i).Name)
		}
	}
	slices.Sort(want)
	require.Equal(t, want, slices.Sorted(slices.Values(slices.Concat(answerless, slices.Collect(maps.Keys(methods))))))
}

func TestMethodsReturnErrShutdown(t *testing.T) {
	for name, store := range map[string]journal.Store{"closed": memory.New(), "open": &kept{memory.New()}} {
		e, err := coordinator.New(t.Context(), store, coordinator.Config{})
		require.NoError(t, err)
		ended := start(t, e, `{kind: Workflow, name: w, operations: {one: {value: 1}}, steps: [{operation: one}]}`)
		wait(t, ended)
		waiting := start(t, e, waits2)
		require.True(t, waiting.Driven())
		require.NoError(t, e.Shutdown(t.Context()))
		require.NoError(t, e.Shutdown(t.Context()), "a second call has no effect")
		for _, r := range []*coordinator.Run{ended, waiting} {
			require.False(t, r.Driven())
			for method, call := range methods {
				require.ErrorIs(t, call(t.Context(), t, e, r), coordinator.ErrShutdown, "%s, with a store that is %s", method, name)
			}
		}
	}
}

// Methods called before the shutdown return its error, too.
func TestWaitReturnsAtTheShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, pause := range []time.Duration{0, time.Hour} { // after an hour the run has left memory
			e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
			require.NoError(t, err)
			r := start(t, e, waits2)
			time.Sleep(pause)
			answered := make(chan error)
			for _, method := range []string{"Run.Wait", "Run.Watch", "Run.Log"} {
				go func() { answered <- methods[method](t.Context(), t, e, r) }()
			}
			synctest.Wait()
			require.NoError(t, e.Shutdown(t.Context()))
			for range 3 {
				err := <-answered
				require.ErrorIs(t, err, coordinator.ErrShutdown)
				require.NotErrorIs(t, err, context.Canceled, "the caller's context lasts")
			}
		}
	})
}

// The error of a method whose context has ended is the context's, and its cause.
func TestErrorsOfContextsHaveTheirCause(t *testing.T) {
	lunch := errors.New("lunch")
	synctest.Test(t, func(t *testing.T) {
		contexts := map[error]func() (context.Context, func()){
			context.Canceled: func() (context.Context, func()) {
				ctx, cancel := context.WithCancelCause(t.Context())
				return ctx, func() { cancel(lunch) }
			},
			context.DeadlineExceeded: func() (context.Context, func()) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, lunch)
				return ctx, func() { time.Sleep(time.Minute); cancel() }
			},
		}
		for want, begin := range contexts {
			for _, pause := range []time.Duration{0, time.Hour} { // after an hour the run has left memory
				e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
				require.NoError(t, err)
				r := start(t, e, waits2)
				time.Sleep(pause)
				for _, method := range []string{"Run.Wait", "Run.Watch", "Run.Log"} {
					ctx, end := begin()
					answered := make(chan error)
					go func() { answered <- methods[method](ctx, t, e, r) }()
					synctest.Wait()
					end()
					err := <-answered
					require.ErrorIs(t, err, want, method)
					require.ErrorIs(t, err, lunch, method)
				}
				ctx, end := begin()
				end()
				failed := 0
				for method, call := range methods {
					err := call(ctx, t, e, r)
					if err == nil || errors.Is(err, coordinator.ErrNotPossible) || errors.Is(err, coordinator.ErrFinished) || errors.Is(err, decide.ErrNotWorld) {
						continue // the method did not wait
					}
					failed++
					require.ErrorIs(t, err, want, method)
					require.ErrorIs(t, err, lunch, method)
				}
				require.Greater(t, failed, 5)
				require.NoError(t, e.Shutdown(t.Context()))
			}
		}
	})
}

// TestNilArguments: a nil argument is an error or has no effect, and an engine that has shut down reports that first.
func TestNilArguments(t *testing.T) {
	e := newEngine(t, coordinator.Config{})
	_, err := e.Start(t.Context(), nil, nil)
	require.EqualError(t, err, "coordinator: the workflow is nil")
	require.EqualError(t, e.Register(nil), "coordinator: the workflow is nil")
	r, err := e.Start(t.Context(), parse(t, waits2), nil, nil)
	require.NoError(t, err)
	require.ErrorIs(t, r.Retry(t.Context(), "nothing", nil), coordinator.ErrStepNotFound)
	require.Error(t, r.Send(t.Context(), "approve", func() {}))
	require.NoError(t, e.Shutdown(t.Context()))
	require.Equal(t, coordinator.ErrShutdown, r.Send(t.Context(), "approve", func() {}))
}
