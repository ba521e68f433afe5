package bulk_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

const waiting = `{kind: Workflow, name: waiting, operations: {go: {wait: {message: go}}}, steps: [{id: w, operation: go}]}`

// waitingMore is another version of waiting, to which waiting runs can be moved.
const waitingMore = `{kind: Workflow, name: waiting, operations: {go: {wait: {message: go}}}, steps: [{id: w, operation: go}, {id: x, operation: go}]}`

func parse(t testing.TB, document string) *template.Workflow {
	w, err := template.Parse("w.yaml", []byte(document))
	require.NoError(t, err)
	return w
}

// engineOn starts an engine that is shut down at the end.
func engineOn(t testing.TB, s journal.Store, ops ...coordinator.Operation) *coordinator.Engine {
	e, err := coordinator.New(t.Context(), s, coordinator.Config{Operations: ops, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	return e
}

// started starts n runs of a workflow, with ids that have a common prefix.
func started(t testing.TB, e *coordinator.Engine, document, prefix string, n int) {
	w := parse(t, document)
	for i := range n {
		_, err := e.Start(t.Context(), w, nil, coordinator.WithID(fmt.Sprintf("%s%d", prefix, i)))
		require.NoError(t, err)
	}
}

// done acts on runs, waits for the end, and returns the report.
func done(t testing.TB, e *coordinator.Engine, act bulk.Act) (bulk.Status, map[string]bulk.Outcome) {
	p, err := e.PreviewBulk(t.Context(), act)
	require.NoError(t, err)
	act.Expect = p.Count
	id, err := e.BeginBulk(t.Context(), act)
	require.NoError(t, err)
	s, err := e.AwaitBulk(t.Context(), id)
	require.NoError(t, err)
	return s, reportOf(t, e, id)
}

func reportOf(t testing.TB, e *coordinator.Engine, id uint64) map[string]bulk.Outcome {
	report := map[string]bulk.Outcome{}
	for o, err := range e.BulkOutcomes(t.Context(), id) {
		require.NoError(t, err)
		report[o.Run] = o
	}
	return report
}

func statusOf(t testing.TB, e *coordinator.Engine, run string) reactive.RunStatus {
	r, err := e.Run(t.Context(), run)
	require.NoError(t, err)
	state, err := r.State(t.Context())
	require.NoError(t, err)
	return state.Status
}

func TestEachVerbDoesWhatAPersonWouldAsk(t *testing.T) {
	e := engineOn(t, memory.New())
	started(t, e, waiting, "a", 300)
	started(t, e, waiting, "b", 3)
	s, report := done(t, e, bulk.Act{Verb: "pause", Where: "b", Actor: "ann", Reason: "closed"})
	require.Equal(t, 3, s.Done)
	require.Equal(t, bulk.Completed, s.State)
	require.Equal(t, bulk.Outcome{Run: "b1", Result: bulk.Done}, report["b1"])
	require.Equal(t, reactive.RunPaused, statusOf(t, e, "b1"))

	s, report = done(t, e, bulk.Act{Verb: "pause", Where: "b"})
	require.Equal(t, 3, s.Already)
	require.Equal(t, "it is paused", report["b2"].Why)

	s, _ = done(t, e, bulk.Act{Verb: "resume", Where: "b"})
	require.Equal(t, 3, s.Done)
	require.Equal(t, reactive.RunWaiting, statusOf(t, e, "b1"))

	s, report = done(t, e, bulk.Act{Verb: "delete", Where: "b"})
	require.Equal(t, 3, s.Refused)
	require.Contains(t, report["b0"].Why, "cancel it first")

	s, _ = done(t, e, bulk.Act{Verb: "cancel", Where: "workflow:waiting", Actor: "ann", Reason: "closed"})
	require.Equal(t, 303, s.Done)
	require.Equal(t, reactive.RunAborted, statusOf(t, e, "a7"))

	s, report = done(t, e, bulk.Act{Verb: "cancel", Where: "b"})
	require.Equal(t, 3, s.Already)
	require.Equal(t, "it has ended: aborted", report["b0"].Why)

	s, _ = done(t, e, bulk.Act{Verb: "delete", Where: "b"})
	require.Equal(t, 3, s.Done)
	_, err := e.Run(t.Context(), "b0")
	require.ErrorIs(t, err, journal.ErrDeleted)
}

func TestRetryAsksEachFailedStepAgain(t *testing.T) {
	fails := true
	op := operation.Define("charge", func(context.Context, any) (any, error) {
		if fails {
			return nil, fmt.Errorf("no")
		}
		return 1, nil
	})
	e := engineOn(t, memory.New(), op)
	started(t, e, `{kind: Workflow, name: pay, steps: [{parallel: {steps: [{id: x, operation: charge, idempotent: false}, {id: y, operation: charge}]}}]}`, "p", 3)
	for i := range 3 {
		r, err := e.Run(t.Context(), fmt.Sprintf("p%d", i))
		require.NoError(t, err)
		_, err = r.Wait(t.Context())
		require.NoError(t, err)
	}
	p, err := e.PreviewBulk(t.Context(), bulk.Act{Verb: "retry", Where: "status:failed"})
	require.NoError(t, err)
	t.Logf("%+v", p)
	fails = false
	s, report := done(t, e, bulk.Act{Verb: "retry", Where: "status:failed"})
	require.Equal(t, 3, s.Done, report)
}
