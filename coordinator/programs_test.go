//go:build unix

package coordinator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// crowded has five programs, each of which ends once the file `go` exists, and a call that needs no program.
const crowded = `
kind: Workflow
name: crowded
operations: {hold: {command: {dir: DIR, shell: "echo x >> began; until [ -e go ]; do sleep 0.01; done"}}}
steps:
  - parallel:
      steps:
        - {operation: hold, id: a}
        - {operation: hold, id: b}
        - {operation: hold, id: c}
        - {operation: hold, id: d}
        - {operation: hold, id: e}
        - {operation: echo, id: other}`

// startCrowded starts crowded with room for two programs, and returns when the other call has ended.
func startCrowded(t *testing.T) (r *coordinator.Run, dir string) {
	t.Helper()
	dir = t.TempDir()
	e := newEngine(t, coordinator.Config{ProgramsMax: 2, Operations: []coordinator.Operation{echo}})
	r = start(t, e, strings.ReplaceAll(crowded, "DIR", dir))
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		for _, change := range u.Changes {
			if change.Step == "other" && change.To == reactive.Completed {
				return r, dir
			}
		}
	}
	require.Fail(t, "the other call was held up")
	return nil, ""
}

// statuses counts the steps of a run by status.
func statuses(t *testing.T, r *coordinator.Run) map[reactive.Status]int {
	t.Helper()
	state, err := r.State(t.Context())
	require.NoError(t, err)
	count := map[reactive.Status]int{}
	for _, s := range state.Steps {
		if len(s.Step) == 1 {
			count[s.Status]++
		}
	}
	return count
}

// TestProgramsAtATimeAreBounded: further programs stay ready, and other calls do not wait for them.
func TestProgramsAtATimeAreBounded(t *testing.T) {
	r, dir := startCrowded(t)
	require.Equal(t, map[reactive.Status]int{reactive.Running: 2, reactive.Ready: 3}, statuses(t, r))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	require.NoError(t, wait(t, r).Err())
	now := 0
	for event, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		switch {
		case event.Node == "other":
		case event.Type == journal.CallRequested:
			now++
			require.LessOrEqual(t, now, 2)
		case event.Type == journal.CallResponded:
			now--
		}
	}
}

// TestProgramsThatWaitCanBeStopped: a program that has not been started then never is.
func TestProgramsThatWaitCanBeStopped(t *testing.T) {
	r, dir := startCrowded(t)
	require.NoError(t, r.Abort(t.Context(), "d", ""))
	require.Equal(t, map[reactive.Status]int{reactive.Running: 2, reactive.Ready: 2, reactive.Aborted: 1}, statuses(t, r))
	require.NoError(t, r.Cancel(t.Context(), "enough"))
	require.Equal(t, reactive.RunAborted, wait(t, r).Status)
	began, err := os.ReadFile(filepath.Join(dir, "began"))
	if err == nil { // no program may have written the file
		require.LessOrEqual(t, strings.Count(string(began), "x"), 2)
	}
}

// TestParticipantsAndDecisionsThatArePrograms: with room for one program, participants are asked one after the other, and a
// program that is a decision source does not wait for programs of steps.
func TestParticipantsAndDecisionsThatArePrograms(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, coordinator.Config{ProgramsMax: 1, Operations: []coordinator.Operation{echo}})
	r := start(t, e, strings.ReplaceAll(`
kind: Workflow
name: w
operations:
  ask: {command: {dir: DIR, shell: "mkdir alone && sleep 0.01 && rmdir alone"}}
  decide: {command: {dir: DIR, output: json, shell: "touch decided; echo '{\"ok\": true}'"}}
  hold: {command: {dir: DIR, shell: "until [ -e decided ]; do sleep 0.01; done"}}
steps:
  - parallel:
      steps:
        - {operation: hold}
        - operation: echo
          fulfillment:
            policy: external_decision
            decision_source: {kind: automatic, operation: decide}
            result_match: {path: /ok, fulfilled_values: [true], not_fulfilled_values: [false]}
  - {operation: ask, target: {resolve: static, participants: [a, b, c]}, fan_in: {policy: all}}`, "DIR", dir))
	require.NoError(t, wait(t, r).Err())
}
