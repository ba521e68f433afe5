package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

const twoScenarios = `
kind: Scenario
name: the answer counts
workflow: {kind: Workflow, name: w, steps: [{operation: ask}]}
operations: {ask: {after: PT1S, output: 1}}
expect: {run: completed, at: PT1S}
---
kind: Scenario
name: the answer is late
workflow: {kind: Workflow, name: w, steps: [{operation: ask, timing: {timeout: PT1S}}]}
operations: {ask: {after: PT2S, output: 1}}
expect: {run: completed}
`

// sluiceTest runs the verb and returns its output and exit code.
func sluiceTest(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&err)
	root.SetArgs(append([]string{"test"}, args...))
	at, failure := root.ExecuteC()
	code = cli.Report(&err, at, failure)
	return out.String(), err.String(), code
}

func writeScenarios(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "two.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestTestShowsDifferencesAndCounts(t *testing.T) {
	file := writeScenarios(t, twoScenarios)
	out, _, code := sluiceTest(t, file)
	require.Equal(t, cli.Failed, code)
	require.Equal(t, strings.ReplaceAll(`✓ the answer counts  FILE:2  PT1S
✗ the answer is late  FILE:8  PT1S
  run
    want  completed
    got   step_timeout (timeout: no answer in time)
    by    #4 run.finished at PT1S

2 scenarios: 1 passed, 1 failed
`, "FILE", file), out)
}

func TestTestRunsOnlyMatchingScenarios(t *testing.T) {
	file := writeScenarios(t, twoScenarios)
	out, _, code := sluiceTest(t, file, "--run", "counts$", "--crash", "--seed", "7")
	require.Equal(t, cli.Done, code)
	require.Contains(t, out, "1 scenario: 1 passed, 0 failed")
	_, stderr, code := sluiceTest(t, file, "--run", "nothing")
	require.Equal(t, cli.Refused, code)
	require.Contains(t, stderr, `matches "nothing"`)
	_, stderr, code = sluiceTest(t, file, "--run", "(")
	require.Equal(t, cli.Refused, code)
	require.Contains(t, stderr, "--run")
}

func TestTestPrintsAnObjectForEachScenario(t *testing.T) {
	out, _, code := sluiceTest(t, writeScenarios(t, twoScenarios), "-o", "json", "--crash")
	require.Equal(t, cli.Failed, code)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 2)
	var r struct {
		Scenario    string
		Passed      bool
		Crashes     int
		Differences []struct {
			Key, Want, Got string
			Event          struct {
				Type string
				Seq  int
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &r))
	require.Equal(t, "the answer is late", r.Scenario)
	require.False(t, r.Passed)
	require.Positive(t, r.Crashes)
	require.Len(t, r.Differences, 1)
	require.Equal(t, "run.finished", r.Differences[0].Event.Type)
}

func TestTestRefusesInvalidScenarios(t *testing.T) {
	_, stderr, code := sluiceTest(t, writeScenarios(t, "{kind: Scenario, nmae: x}"))
	require.Equal(t, cli.Refused, code)
	require.Contains(t, stderr, `unknown key "nmae" (did you mean "name"?)`)
	_, _, code = sluiceTest(t, "missing.yaml")
	require.Equal(t, cli.Refused, code)
	_, stderr, code = sluiceTest(t)
	require.Equal(t, cli.Refused, code)
	require.Contains(t, stderr, "usage")
}
