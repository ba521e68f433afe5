package scenario_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario"
)

func TestLoadReportsEverythingWithItsPlace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a misspelt key", "expct: {}", `unknown key "expct" (did you mean "expect"?)`},
		{"no name", "expect: {run: completed}", "name is missing"},
		{"no workflow", "expect: {run: completed}", "workflow is missing"},
		{"no expectation", "name: x", "expect is missing"},
		{"an empty expectation", "expect: {}", "an expectation must expect something"},
		{"an unknown run status", "expect: {run: complete}", `did you mean "completed"?`},
		{"an unknown step status", "expect: {steps: {a: runing}}", `did you mean "running"?`},
		{"an unknown dispatch status", "expect: {dispatches: {a: [{participant: p, status: ok}]}}", "this must be one of pending"},
		{"a dispatch without a participant", "expect: {dispatches: {a: [{status: pending}]}}", "a dispatch has participant and status"},
		{"an invalid decision", "timeline: [{at: PT1S, decide: {step: a, status: yes}}]", "status must be fulfilled or not_fulfilled"},
		{"two answers in one", "operations: {a: {output: 1, never: true}}", "an answer has one of output, error, never, unreachable"},
		{"no answers", "operations: {a: []}", "a list of answers must not be empty"},
		{"an error without a code", "operations: {a: {error: {message: x}}}", "code is missing"},
		{"an unknown key of an answer", "operations: {a: {outptu: 1}}", `did you mean "output"?`},
		{"a duration", "operations: {a: {after: 5s}}", `invalid duration "5s"`},
		{"an entry without an instant", "timeline: [{pause: {}}]", "at is missing"},
		{"an entry without anything", "timeline: [{at: PT1S}]", "an entry has one of abort, cancel, crash, decide, directory, expect, message, messages, patch, pause, resume, retry, snapshot"},
		{"an entry with two commands", "timeline: [{at: PT1S, pause: {}, cancel: {}}]", "cannot be combined with"},
		{"a timeline that goes back", "timeline: [{at: PT2S, pause: {}}, {at: PT1S, resume: {}}]", "the timeline goes back: PT1S after PT2S"},
		{"an entry after the end", "timeline: [{at: PT2H, pause: {}}], until: PT1H", "this is after the end of the scenario, PT1H"},
		{"a command without its step", "timeline: [{at: PT1S, abort: {}}]", "step is missing"},
		{"a message without a name", "timeline: [{at: PT1S, message: {payload: 1}}]", "name is missing"},
		{"a patch of an invalid path", "timeline: [{at: PT1S, patch: {ctx: {a..b: 1}}}]", `"a..b" is not a path: write key or key.inner`},
		{"an invalid crash", "timeline: [{at: PT1S, crash: false}]", "crash must be true or say for how long"},
		{"an invalid start", "start: today", "start must be a time"},
		{"a start in the year 1", "start: 0001-01-01T00:00:00Z", "start must be a time after the start of 1970 and before 2262-04-11T23:47:16Z"},
		{"a start at no instant", "start: 1970-01-01T00:00:00Z", "start must be a time after the start of 1970"},
		{"a start in the year 9999", "start: 9999-12-31T23:59:59Z", "start must be a time after the start of 1970 and before 2262-04-11T23:47:16Z"},
		{"a start too late for its end", "start: 2262-04-01T00:00:00Z", "a scenario must end by 2262-04-11T23:47:16Z: start it by 2262-03-12T23:47:16Z"},
		{"an end beyond all instants", "until: P100000D", "a scenario must end by 2262-04-11T23:47:16Z"},
		{"a directory", "directory: {capabilities: {c: [{participnt: p}]}}", `unknown key "participnt" (did you mean "participant"?)`},
		{"a list where a mapping belongs", "operations: [a]", "operations must be a mapping, not a list"},
		{"an instant that is empty", `timeline: [{at: "", cancel: {}}]`, `invalid duration ""`},
		{"a number where a text belongs", "timeline: [{at: PT1S, abort: {step: 1}}]", "step must be a string, not an integer"},
		{"a text where a flag belongs", "operations: {a: {never: often}}", "never must be a boolean, not a string"},
		{"a text where a number belongs", "expect: {attempts: {a: one}}", "a must be a number of times"},
		{"a negative count", "expect: {attempts: {a: -1}}", "a must be at least 0, not -1"},
		{"an empty name", `name: ""`, "name must not be an empty text"},
		{"a number where a workflow belongs", "workflow: 3", "workflow must be a document or the path of one"},
		{"a timeline that is not a list", "timeline: {at: PT1S}", "timeline must be a list, not a mapping"},
		{"calls that are not a list", "expect: {calls: a}", "calls must be a list, not a string"},
		{"events that are not a list", "expect: {events: run.started}", "events must be a list, not a string"},
		{"inputs that are not a mapping", "expect: {inputs: [a]}", "inputs must be a mapping, not a list"},
		{"dispatches that are not a list", "expect: {dispatches: {a: pending}}", "a must be a list, not a string"},
		{"a patch with another key", "timeline: [{at: PT1S, patch: {context: {}}}]", `unknown key "context"`},
		{"a passport without a participant", "directory: {capabilities: {c: [{revoked: true}]}}", "participant is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "bad.yaml")
			require.NoError(t, os.WriteFile(file, []byte("{kind: Scenario, "+c.text+"}"), 0o600))
			_, err := scenario.Load(file)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "bad.yaml:1:")
		})
	}
}

func TestLoadReportsAllFilesAtOnce(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "b.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("{kind: Scenario, nam: x}"), 0o600))
	}
	_, err := scenario.Load(dir, filepath.Join(dir, "missing.yaml"))
	for _, want := range []string{"a.yaml:1:", "b.yaml:1:", "missing.yaml"} {
		require.ErrorContains(t, err, want)
	}
}

func TestDocumentsOfOtherKindsAreSkipped(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	write("flow.yaml", "{kind: Workflow, name: w, steps: []}")
	write("data.json", "[1, 2]")
	write("notes.txt", "kind: Scenario\nnmae: not read\n")
	_, err := scenario.Load(dir)
	require.ErrorContains(t, err, "no scenario")
	_, err = scenario.Load(filepath.Join(dir, "flow.yaml"))
	require.ErrorContains(t, err, "flow.yaml: no scenario: its kind is Workflow, which sluice validate checks and sluice run runs")
	_, err = scenario.Load(filepath.Join(dir, "data.json"))
	require.ErrorContains(t, err, "data.json: no scenario")
	write("deep/two.yaml", "{kind: Scenario, name: one, workflow: ../flow.yaml, expect: {run: completed}}\n---\n"+
		"{kind: Workflow, name: w, steps: []}\n---\n{kind: Scenario, name: two, workflow: ../flow.yaml, expect: {run: completed}}\n")
	all, err := scenario.Load(dir)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "two", all[1].Name)
	for _, s := range all {
		r := s.Run(scenario.Options{})
		require.True(t, r.Passed, r)
	}
}
