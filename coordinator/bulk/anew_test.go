package bulk_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// shop fails at the second of three steps until the bank is back.
const shop = `{kind: Workflow, name: shop, steps: [{id: list, operation: list}, {id: pay, operation: charge, idempotent: false}, {id: ship, operation: list}]}`

func ended(t *testing.T, e *coordinator.Engine, run string) *coordinator.Result {
	r, err := e.Run(t.Context(), run)
	require.NoError(t, err)
	result, err := r.Wait(t.Context())
	require.NoError(t, err)
	return result
}

// A rerun of many runs starts one run for each, which keeps results of the old one; the outcome names the new run, or the reason that a
// run cannot be rerun.
func TestRerunRepeatsEachRunOnce(t *testing.T) {
	c, listed := &charge{}, atomic.Int32{}
	list := operation.Define("list", func(context.Context, any) (any, error) { listed.Add(1); return 1, nil })
	s := memory.New()
	e := engineOn(t, s, c.operation(), list)
	started(t, e, shop, "s", 3)
	for i := range 3 {
		require.Equal(t, reactive.RunFailed, ended(t, e, fmt.Sprintf("s%d", i)).Status)
	}
	play, err := kinds.Load("p.yaml", []byte(`{apiVersion: sluice/v1, kind: Playbook, metadata: {name: play}, workflow: [{step: start, tool: {kind: charge}}]}`),
		template.Known{Lenient: true})
	require.NoError(t, err)
	_, err = e.Start(t.Context(), play.Workflow, nil, coordinator.WithID("play"))
	require.NoError(t, err)
	require.Equal(t, reactive.RunFailed, ended(t, e, "play").Status)
	c.back.Store(true)

	act := bulk.Act{Verb: "rerun", Where: "status:failed", Rerun: &coordinator.Rerun{Failed: true}, Actor: "ann"}
	p, err := e.PreviewBulk(t.Context(), act)
	require.NoError(t, err)
	require.Equal(t, [6]int{4, 3, 1, 6, 0, 3}, [6]int{p.Count, p.Will, p.Refused, p.Steps, p.May, p.Kept})
	require.Equal(t, []bulk.Again{{Workflow: "shop", Step: "pay", Count: 3}}, p.Again)
	require.Equal(t, []string{"it is a playbook, which is rerun from one of its events: sluice rerun RUN --at N"}, p.Reasons())

	before := listed.Load()
	got, report := done(t, e, act)
	require.Equal(t, [3]int{3, 0, 1}, [3]int{got.Done, got.Already, got.Refused})
	require.Equal(t, "failed", got.How)
	require.Contains(t, report["play"].Why, "it is a playbook")
	require.Empty(t, report["play"].New)
	for _, run := range []string{"s0", "s1", "s2"} {
		require.Equal(t, reactive.RunCompleted, ended(t, e, report[run].New).Status)
		require.Equal(t, reactive.RunFailed, statusOf(t, e, run), "it stays as it is")
		for first, err := range s.Read(t.Context(), report[run].New, 1) {
			require.NoError(t, err)
			require.Equal(t, run, first.Detail.Start.From.Run)
			require.Equal(t, "ann", first.Detail.Start.Actor)
			require.Equal(t, "#bulk/1", first.Detail.ID)
			break
		}
	}
	require.Equal(t, int32(3), listed.Load()-before, "the result of the first step is kept")
}

// A move of many runs moves those whose past fits the other workflow; the outcomes of the others have the reasons.
func TestMoveTakesThoseWhosePastFits(t *testing.T) {
	s := memory.New()
	e := engineOn(t, s)
	started(t, e, waiting, "w", 3)
	r, err := e.Run(t.Context(), "w1")
	require.NoError(t, err)
	require.NoError(t, r.Cancel(t.Context(), ""))
	ended(t, e, "w1")
	for i := range 3 { // until its step is requested
		for u, err := range mustRun(t, e, fmt.Sprintf("w%d", i)).Watch(t.Context(), 1) {
			require.NoError(t, err)
			if u.Event.Type == journal.CallRequested {
				break
			}
		}
	}
	act := bulk.Act{Verb: "move", Where: "workflow:waiting", Workflow: parse(t, waitingMore), Actor: "ann", Reason: "more"}
	p, err := e.PreviewBulk(t.Context(), act)
	require.NoError(t, err)
	require.Equal(t, [3]int{2, 1, 0}, [3]int{p.Will, p.Already, p.Refused})
	got, report := done(t, e, act)
	require.Equal(t, [3]int{2, 1, 0}, [3]int{got.Done, got.Already, got.Refused})
	require.Contains(t, got.How, "workflow waiting ")
	require.Equal(t, "it has ended: aborted", report["w1"].Why)
	var moved *journal.Event
	for e, err := range s.Read(t.Context(), "w0", 1) {
		require.NoError(t, err)
		if e.Type == journal.RunMoved {
			moved = &e
		}
	}
	require.NotNil(t, moved)
	require.Equal(t, [3]string{"ann", "more", "#bulk/1"}, [3]string{moved.Detail.Actor, moved.Detail.Reason, moved.Detail.ID})

	got, report = done(t, e, act)
	require.Equal(t, 3, got.Already)
	require.Equal(t, "it follows this version already", report["w2"].Why)

	act.Workflow = parse(t, `{kind: Workflow, name: waiting, operations: {go: {wait: {message: stop}}}, steps: [{id: w, operation: go}]}`)
	p, err = e.PreviewBulk(t.Context(), act)
	require.NoError(t, err)
	require.Equal(t, [3]int{0, 1, 2}, [3]int{p.Will, p.Already, p.Refused})
	require.Contains(t, p.Reasons()[0], "its history differs under the new workflow: ")
}

func mustRun(t *testing.T, e *coordinator.Engine, id string) *coordinator.Run {
	r, err := e.Run(t.Context(), id)
	require.NoError(t, err)
	return r
}

// An act with a fault that does not depend on the run is refused as a whole, and nothing is journaled.
func TestWhatIsWrongWithAnActIsRefusedAsAWhole(t *testing.T) {
	s := memory.New()
	e := engineOn(t, s)
	started(t, e, waiting, "w", 1)
	other := parse(t, waitingMore)
	for want, act := range map[string]bulk.Act{
		"say what runs again: from a step":                  {Verb: "rerun"},
		"say what runs again in one way":                    {Verb: "rerun", Rerun: &coordinator.Rerun{Failed: true, From: "w"}},
		"event 3 is another moment in each run":             {Verb: "rerun", Rerun: &coordinator.Rerun{Failed: true, At: 3}},
		`"w.output" cannot be set: write steps.STEP.output`: {Verb: "rerun", Rerun: &coordinator.Rerun{Set: map[string]any{"w.output": 1}}},
		"input: value": {Verb: "rerun", Rerun: &coordinator.Rerun{Input: func() {}}},
		"the workflow of a rerun is said with what runs again":     {Verb: "rerun", Rerun: &coordinator.Rerun{Failed: true}, Workflow: other},
		"under which workflow do the runs go on?":                  {Verb: "move"},
		`to move has nothing run again: "rerun" does`:              {Verb: "move", Workflow: other, Rerun: &coordinator.Rerun{Failed: true}},
		"to cancel takes no workflow":                              {Verb: "cancel", Workflow: other},
		`to cancel has nothing run again: "rerun" does`:            {Verb: "cancel", Rerun: &coordinator.Rerun{Failed: true}},
		"to pause takes no folder":                                 {Verb: "pause", Dir: "/tmp"},
		"the query is empty, and would select every run":           {Verb: "pause", Where: " "},
		`"mvoe" is none of cancel, retry, rerun, move, delete, pa`: {Verb: "mvoe"},
	} {
		if act.Where == "" {
			act.Where = "workflow:waiting"
		}
		act.Expect = 1
		_, err := e.PreviewBulk(t.Context(), act)
		require.ErrorIs(t, err, bulk.ErrAct, want)
		require.ErrorContains(t, err, want)
		_, err = e.BeginBulk(t.Context(), act)
		require.ErrorIs(t, err, bulk.ErrAct, want)
		require.ErrorContains(t, err, want)
	}
	for range e.BulkActs(t.Context()) {
		t.Fatal("an act that was refused is journaled")
	}
}

// An act whose workflow needs an operation waits in a process that lacks it, and goes on in one that has it.
func TestAnActWaitsForAProcessThatHasWhatItsWorkflowNeeds(t *testing.T) {
	c := &charge{}
	s := &mortal{Store: memory.New()}
	s.left.Store(immortal)
	e := engineOn(t, s, c.operation())
	bulk.SetSlice(e.Acts, 1)
	started(t, e, waiting, "w", 3)
	more := parse(t, `{kind: Workflow, name: waiting, operations: {go: {wait: {message: go}}}, steps: [{id: w, operation: go}, {id: x, operation: charge}]}`)
	s.left.Store(6) // definition, act, choice; a move, its record and the next move
	id, err := e.BeginBulk(t.Context(), bulk.Act{Verb: "move", Where: "workflow:waiting", Expect: 3, Workflow: more})
	require.NoError(t, err)
	_, err = e.AwaitBulk(t.Context(), id)
	require.ErrorIs(t, err, errDead)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Shutdown(gone)
	s.left.Store(immortal)

	lacks, err := coordinator.New(t.Context(), s, coordinator.Config{NotesOnly: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	_, err = lacks.BeginBulk(t.Context(), bulk.Act{Verb: "pause", Where: "workflow:waiting", Expect: 3})
	require.ErrorIs(t, err, coordinator.ErrMissing)
	require.ErrorContains(t, err, "act 1 cannot go on in this process")
	status, err := lacks.BulkAct(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, bulk.Suspended, status.State)
	require.NoError(t, lacks.Shutdown(t.Context()))

	e = engineOn(t, s, c.operation())
	status, err = e.AwaitBulk(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, [2]any{bulk.Completed, 3}, [2]any{status.State, status.Done})
}

// The definition of the workflow of an act stays as long as the act is kept, even if a collection runs meanwhile.
func TestTheWorkflowOfAnActIsKept(t *testing.T) {
	s := &mortal{Store: memory.New()}
	s.left.Store(immortal)
	e := engineOn(t, s)
	started(t, e, waiting, "w", 1)
	s.left.Store(4) // definition, act, choice; a move
	_, err := e.BeginBulk(t.Context(), bulk.Act{Verb: "move", Where: "workflow:waiting", Expect: 1, Workflow: parse(t, waitingMore)})
	require.NoError(t, err)
	_, err = e.AwaitBulk(t.Context(), 1)
	require.ErrorIs(t, err, errDead, "it has not ended, and nothing goes on with it")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Shutdown(gone)
	s.left.Store(immortal)
	require.NoError(t, s.SweepStreams(t.Context(), &journal.StreamSweep{Found: func(stream string, _ int64) { t.Errorf("%s is deleted", stream) }}))
	e = engineOn(t, s)
	status, err := e.AwaitBulk(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 1, status.Done)
}
