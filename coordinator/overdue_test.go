package coordinator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// timed holds formats of steps with all kinds of timers; the arguments are an index and a number of seconds.
var timed = []string{
	`{operation: letter, id: s%d, timing: {timeout: PT%dS}}`,
	`{operation: letter, id: s%d, timing: {timeout: PT%dS, on_timeout: skip}}`,
	`{operation: letter, id: s%d, timing: {timeout: PT%dS, on_timeout: abort_workflow}}`,
	`{operation: letter, id: s%d, timing: {timeout: PT%dS, retry: {max_attempts: 3, backoff: PT2S}}}`,
	`{operation: letter, id: s%d, timing: {total_timeout: PT%dS}}`,
	`{operation: broken, id: s%d, timing: {retry: {max_attempts: 2, backoff: PT%dS}}}`,
	`{operation: done, id: s%d, fulfillment: {policy: external_decision, decision_source: {kind: operator, timing: {timeout: PT%dS}}}}`,
	`{operation: rest, id: s%d, input: %d}`,
}

// timedWorkflow draws a workflow of such steps, in parallel or in sequence, perhaps with a deadline.
func timedWorkflow(t *rapid.T) string {
	text := "kind: Workflow\nname: timed\n"
	if rapid.Bool().Draw(t, "deadline") {
		text += fmt.Sprintf("deadline: PT%dS\n", rapid.IntRange(1, 20).Draw(t, "deadline in"))
	}
	if rapid.Bool().Draw(t, "abort all") {
		text += "failure_policy: abort-all\n"
	}
	text += `operations:
  letter: {wait: {message: letter}}
  broken: {fail: {code: broken}}
  done: {value: 1}
  rest: {sleep: {for: "PT{{ input }}S"}}
steps:
`
	var list []string
	for i := range rapid.IntRange(1, 4).Draw(t, "steps") {
		list = append(list, fmt.Sprintf(rapid.SampledFrom(timed).Draw(t, "step"), i, rapid.IntRange(1, 10).Draw(t, "seconds")))
	}
	block := rapid.SampledFrom([]string{"sequential", "parallel"}).Draw(t, "block")
	return text + "  - " + block + ": {steps: [" + strings.Join(list, ", ") + "]}\n"
}

// If any timers of a run have fallen due while no process drives it, its state equals that of its journal after the next command. A run
// that is shown as ended refuses commands, and ends in the same way when a process drives it.
func TestReadersAgreeOnASuspendedRun(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := timedWorkflow(r)
		pause := time.Duration(rapid.IntRange(0, 30_000).Draw(r, "milliseconds")) * time.Millisecond
		synctest.Test(t, func(t *testing.T) { checkSuspended(t, text, func() { time.Sleep(pause) }) })
		if t.Failed() {
			t.Fatalf("after %v of\n%s", pause, text)
		}
	})
}

// checkSuspended starts a run, ends its engine, lets time pass, and compares the states of it that later engines read.
func checkSuspended(t *testing.T, text string, pass func()) {
	store := &kept{memory.New()}
	first, err := coordinator.New(t.Context(), store, coordinator.Config{})
	require.NoError(t, err)
	defer first.Shutdown(t.Context())
	start(t, first, text, coordinator.WithID("r"))
	synctest.Wait()
	require.NoError(t, first.Shutdown(t.Context()))
	pass()

	e, err := coordinator.New(t.Context(), store, coordinator.Config{PickUp: func(journal.Head) bool { return false }})
	require.NoError(t, err)
	defer e.Shutdown(t.Context())
	r := find(t, e, "r")
	before := journalOf(t, r)
	said := standing(t, e, r)
	require.Equal(t, before, journalOf(t, r), "reading changes nothing")

	err = r.Pause(t.Context(), "")
	if said.Finished {
		require.ErrorIs(t, err, coordinator.ErrFinished)
		require.Equal(t, before, journalOf(t, r), "a refused command changes nothing")
		require.Equal(t, said.Status, wait(t, r).Status, "Wait returns")
	} else {
		require.NoError(t, err)
		journaled := standing(t, e, r)
		require.Equal(t, said.Steps, journaled.Steps)
		require.Equal(t, said.Due, journaled.Due)
		require.False(t, journaled.Late)
		require.Equal(t, said.Late, len(journalOf(t, r)) > len(before)+1)
	}
	require.NoError(t, e.Shutdown(t.Context()))
	if !said.Finished {
		return
	}
	last, err := coordinator.New(t.Context(), store, coordinator.Config{})
	require.NoError(t, err)
	defer last.Shutdown(t.Context())
	result := wait(t, find(t, last, "r"))
	require.Equal(t, []any{said.Status, said.Failure, said.Output}, []any{result.Status, result.Failure, result.Output})
}

// standing returns the state of a run, after comparing it with all other ways to read it.
func standing(t *testing.T, e *coordinator.Engine, r *coordinator.Run) *coordinator.State {
	s, err := r.State(t.Context())
	require.NoError(t, err)
	for head, err := range e.Runs(t.Context(), "") {
		require.NoError(t, err)
		head, late, err := e.Current(t.Context(), head)
		require.NoError(t, err)
		require.Equal(t, []any{string(s.Status), s.Finished, s.Late}, []any{head.Status, !head.Open, late})
		require.Equal(t, []any{s.Seq, s.Updated}, []any{head.Last, head.Updated})
	}
	x, err := r.Explain(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, string(s.Status), x.Status)
	require.Equal(t, s.Late, slices.ContainsFunc(x.Reasons, func(one coordinator.Reason) bool { return one.Kind == "late" }))
	require.True(t, x.Decided == nil || x.Decided.Seq <= s.Seq)
	for i := range s.Steps {
		x, err := r.Explain(t.Context(), s.Steps[i].Step)
		require.NoError(t, err)
		if !s.Steps[i].Pending {
			require.Equal(t, s.Steps[i].Status.String(), x.Status)
		}
	}
	return s
}

func journalOf(t *testing.T, r *coordinator.Run) (list []journal.Event) {
	for e, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		list = append(list, e)
	}
	return list
}

// suspended returns a run that no process goes on with, for use in a synctest bubble.
func suspended(t *testing.T, text string) (*coordinator.Engine, *coordinator.Run, journal.Store) {
	e, store := leftAlone(t, coordinator.Config{}, map[string]string{"r": text})
	return e, find(t, e, "r"), store
}

const patient = `
kind: Workflow
name: patient
operations: {letter: {wait: {message: letter}}}
steps: [{operation: letter, timing: {timeout: PT10S}}]
output: "{{ steps.letter.output }}"`

func TestATimeoutCountsThoughNoProcessGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, r, _ := suspended(t, patient)
		require.Equal(t, reactive.RunWaiting, standing(t, e, r).Status)
		time.Sleep(11 * time.Second)
		s := standing(t, e, r)
		require.Equal(t, reactive.RunStatus("step_timeout"), s.Status)
		require.True(t, s.Finished && s.Late)
		for name, command := range commands {
			if name != "retry" {
				require.ErrorIs(t, command(t.Context(), r), coordinator.ErrFinished, name)
			}
		}
		x, err := r.Explain(t.Context(), "letter")
		require.NoError(t, err)
		require.Equal(t, "failed", x.Status)
		require.Zero(t, x.Decided.Seq)
		require.NoError(t, r.Retry(t.Context(), "letter"), "as for any failed run")
		require.False(t, standing(t, e, r).Finished)
		require.NoError(t, e.Shutdown(t.Context()))
	})
}

// Wait for a run that no process drives returns when the run's time is over.
func TestWaitReturnsAtATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, r, _ := suspended(t, patient)
		began := time.Now()
		require.Equal(t, reactive.RunStatus("step_timeout"), wait(t, r).Status)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.NoError(t, e.Shutdown(t.Context()))
	})
}

// A message that was journaled in time is taken, even if a process goes on with the run only after the timeout.
func TestAMessageInTimeIsTakenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, r, store := suspended(t, patient)
		time.Sleep(9 * time.Second)
		require.NoError(t, r.Send(t.Context(), "letter", "dear"))
		time.Sleep(time.Hour)
		s := standing(t, e, r)
		require.NoError(t, e.Shutdown(t.Context()))
		require.Equal(t, []any{reactive.RunCompleted, "dear"}, []any{s.Status, s.Output})

		e, err := coordinator.New(t.Context(), store, coordinator.Config{})
		require.NoError(t, err)
		require.Equal(t, "dear", wait(t, find(t, e, "r")).Output)
		require.NoError(t, e.Shutdown(t.Context()))
	})
}

// Timers of a parked run do not count for readers, because its loop does not run.
func TestTimersOfAParkedRunStandStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Replace(patient, "]\noutput", ", {operation: work}]\noutput", 1)
		e, store := leftAlone(t, coordinator.Config{Operations: []coordinator.Operation{work}}, map[string]string{"r": text})
		require.NoError(t, e.Shutdown(t.Context()))
		time.Sleep(11 * time.Second)
		e, err := coordinator.New(t.Context(), store, coordinator.Config{})
		require.NoError(t, err)
		synctest.Wait()
		s := standing(t, e, find(t, e, "r"))
		require.ErrorIs(t, s.Parked, coordinator.ErrParked)
		require.Equal(t, reactive.RunWaiting, s.Status)
		require.False(t, s.Late)
		require.NoError(t, e.Shutdown(t.Context()))
	})
}
