package coordinator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// reportsOf returns the making, number, kind and payload of each report in a run's journal.
func reportsOf(t *testing.T, r *coordinator.Run) (list [][]any) {
	for e, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		if e.Type == journal.CallReported {
			list = append(list, []any{e.Detail.Making, e.Detail.Count, e.Detail.Name, e.Value})
		}
	}
	return list
}

// TestReportsAreDurableAndDistinguished: a report is in the journal when Report returns; a call that is repeated after a crash
// repeats its reports, which have the same numbers and another making.
func TestReportsAreDurableAndDistinguished(t *testing.T) {
	g := newGate()
	var store *memory.Store
	crawl := operation.Define("crawl", func(ctx context.Context, _ any) (string, error) {
		for n := range 2 {
			if err := operation.Report(ctx, "page", n); err != nil {
				return "", err
			}
			kept := 0
			for e, err := range store.Read(ctx, "r", 1) {
				if err == nil && e.Type == journal.CallReported {
					kept++
				}
			}
			if kept <= n {
				return "", operation.Permanent(context.DeadlineExceeded)
			}
		}
		g.entered <- operation.CallOf(ctx)
		select {
		case <-g.leave:
			return "done", operation.Report(ctx, "end", nil)
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	store = memory.New()
	config := coordinator.Config{Operations: []coordinator.Operation{crawl}}
	e, err := coordinator.New(t.Context(), &kept{store}, config)
	require.NoError(t, err)
	start(t, e, `{kind: Workflow, name: w, steps: [{operation: crawl}], output: "{{ map(steps.crawl.reports, .number) }}"}`, coordinator.WithID("r"))
	<-g.entered
	crash(t, e)
	e, err = coordinator.New(t.Context(), &kept{store}, config)
	require.NoError(t, err)
	<-g.entered
	g.leave <- nil
	r := find(t, e, "r")
	result := wait(t, r)
	require.NoError(t, result.Err())
	require.Equal(t, []any{int64(1), int64(2), int64(3)}, result.Output, "repeated reports count once")
	require.Equal(t, [][]any{
		{int32(1), int32(1), "page", int64(0)}, {int32(1), int32(2), "page", int64(1)},
		{int32(2), int32(1), "page", int64(0)}, {int32(2), int32(2), "page", int64(1)}, {int32(2), int32(3), "end", nil},
	}, reportsOf(t, r))
	require.NoError(t, e.Shutdown(t.Context()))
}

func TestReportsThatAreRefused(t *testing.T) {
	require.ErrorIs(t, operation.Report(t.Context(), "k", nil), operation.ErrNoCall)
	errs := make(chan error, 8)
	left := make(chan context.Context, 1)
	tell := operation.Define("tell", func(ctx context.Context, _ any) (int, error) {
		errs <- operation.Report(ctx, "large", strings.Repeat("x", reactive.ReportBytesMax))
		errs <- operation.Report(ctx, strings.Repeat("k", 300), nil)
		errs <- operation.Report(ctx, "no value", make(chan int))
		errs <- operation.ReportAt(ctx, 0, "zero", nil)
		errs <- operation.ReportAt(ctx, reactive.ReportsMax+1, "beyond", nil)
		errs <- operation.ReportAt(ctx, reactive.ReportsMax, "last", 1)
		errs <- operation.ReportAt(ctx, 7, "said before", 1)
		left <- ctx
		return 1, nil
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{tell, echo}})
	r := start(t, e, `{kind: Workflow, name: w, operations: {mail: {wait: {message: go}}}, steps: [{operation: tell}, {operation: mail}]}`)
	require.ErrorIs(t, <-errs, operation.ErrReportTooLarge)
	require.ErrorIs(t, <-errs, operation.ErrReportTooLarge)
	require.ErrorContains(t, <-errs, `payload of report "no value"`)
	require.ErrorContains(t, <-errs, "a number is from 1 to 10000")
	require.ErrorContains(t, <-errs, "a number is from 1 to 10000")
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
	require.NoError(t, untilStatus(t, r, reactive.RunWaiting))
	require.Error(t, operation.Report(<-left, "late", nil), "the call has ended")
	require.Len(t, reportsOf(t, r), 2)
	require.NoError(t, r.Send(t.Context(), "go", nil))
	require.NoError(t, wait(t, r).Err())
}

// TestAReportThatComesLate: after the call has ended, Report returns the context's error, even if the run has left memory.
func TestAReportThatComesLate(t *testing.T) {
	var late context.Context
	op := operation.Define("op", func(ctx context.Context, _ any) (any, error) { late = ctx; return nil, nil })
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{op}})
	r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: op}]}`)
	require.NoError(t, wait(t, r).Err())
	<-late.Done()
	require.Equal(t, context.Cause(late), operation.Report(late, "late", 1))
}

// TestAnOperationCannotRedirectItsCall: if an operation changes the fields of its Call, its reports and result are still those of
// its own step.
func TestAnOperationCannotRedirectItsCall(t *testing.T) {
	sly := operation.Define("sly", func(ctx context.Context, _ any) (int, error) {
		c := operation.CallOf(ctx)
		c.Node, c.Run, c.Attempt = "mail", "another", 7
		return 1, operation.Report(ctx, "k", nil)
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{sly}})
	r := start(t, e, `{kind: Workflow, name: w, operations: {mail: {wait: {message: go}}},
  steps: [{parallel: {steps: [{operation: mail}, {operation: sly}]}}], output: "{{ [len(steps.sly.reports), steps.sly.output] }}"}`)
	require.NoError(t, untilStatus(t, r, reactive.RunWaiting))
	require.NoError(t, r.Send(t.Context(), "go", nil))
	result := wait(t, r)
	require.NoError(t, result.Err())
	require.Equal(t, []any{int64(1), int64(1)}, result.Output)
}

// TestAnIdentityReachesOperations: operations of the run and of its child runs receive it.
func TestAnIdentityReachesOperations(t *testing.T) {
	seen := make(chan *journal.Identity, 2)
	who := operation.Define("who", func(ctx context.Context, _ any) (int, error) {
		seen <- operation.CallOf(ctx).Identity
		return 0, nil
	})
	dir := written(t, map[string]string{
		"top.yaml":   "{kind: Workflow, name: top, operations: {sub: {workflow: {path: child.yaml}}}, steps: [{operation: who}, {operation: sub}]}",
		"child.yaml": "{kind: Workflow, name: child, steps: [{operation: who}]}",
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{who}})
	scopes := []string{"pay"}
	r, err := e.Start(t.Context(), loaded(t, dir+"/top.yaml", "who"), nil,
		coordinator.WithIdentity(journal.Identity{ID: "ann", Scopes: scopes, Resources: map[string]int{"limit": 5}}))
	require.NoError(t, err)
	scopes[0] = "everything"
	require.NoError(t, wait(t, r).Err())
	want := &journal.Identity{ID: "ann", Scopes: []string{"pay"}, Resources: map[string]any{"limit": int64(5)}}
	require.Equal(t, want, <-seen)
	require.Equal(t, want, <-seen)
}
