package scenario

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario/program"
)

// executed runs a scenario of one step with an answer, and returns the execution.
func executed(t *testing.T, answer string) *execution {
	file := filepath.Join(t.TempDir(), "one.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
kind: Scenario
name: one
workflow: {kind: Workflow, name: w, steps: [{operation: a, timing: {retry: {max_attempts: 2}}}]}
operations: {a: `+answer+`}
expect: {run: completed}
`), 0o600))
	all, err := Load(file)
	require.NoError(t, err)
	g := newExecution(all[0], Options{}, program.NewLibrary())
	g.execute()
	return g
}

// The comparison of journals, which checks that crashes change nothing, reports every kind of change.
func TestJournalsThatDifferAreReported(t *testing.T) {
	plain := executed(t, "{after: PT1S, output: 1}")
	for _, c := range []struct{ name, answer, got, by string }{
		{"another output", "{after: PT1S, output: 2}", "another event than #3 call.responded a at PT1S", "#3 call.responded a at PT1S"},
		{"another instant", "{after: PT2S, output: 1}", "another event than #3 call.responded a at PT1S", "#3 call.responded a at PT2S"},
		{"an event less", "{never: true}", "no such event", "#3 call.responded a at PT1S"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := executed(t, c.answer)
			g.report.Differences = nil
			g.compare(plain)
			require.Len(t, g.report.Differences, 1)
			require.Equal(t, c.got, g.report.Differences[0].Got)
			require.Equal(t, c.by, g.report.Differences[0].Event.String())
		})
	}
	same := executed(t, "{after: PT1S, output: 1}")
	same.compare(plain)
	require.Empty(t, same.report.Differences)
	more := executed(t, "{never: true}")
	plain.compare(more)
	require.Equal(t, "one event more", plain.report.Differences[0].Got)
	more.report.Differences, more.tracks = nil, nil
	more.compare(plain)
	require.Equal(t, "1 fewer", more.report.Differences[0].Got)
	plain.report.Differences = nil
	plain.compare(more)
	require.Contains(t, plain.report.Differences[0].Got, "one more")
}
