package coordinator_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
)

func TestAMessageThatNoStepWaitsForIsLogged(t *testing.T) {
	const one = `{operation: letter}`
	for name, c := range map[string]struct{ operations, steps, message, want string }{
		"awaited":      {`letter: {wait: {message: letter}}`, one, "letter", ""},
		"a misspelt":   {`letter: {wait: {message: letter}}`, one, "leter", `waits for message "leter" (did you mean "letter"?)`},
		"none is near": {`letter: {wait: {message: letter}}`, one, "x", `waits for message "x", but for "letter"`},
		"several": {`letter: {wait: {message: b}}, other: {wait: {message: a}}`, one + `, {operation: other}`, "xyz",
			`waits for message "xyz", but for "a", "b"`},
		"none at all":   {`letter: {value: 1}`, one, "letter", `waits for message "letter", or for any other`},
		"not of a step": {`letter: {value: 1}, idle: {wait: {message: idle}}`, one, "idle", `waits for message "idle", or for any other`},
		"by its input":  {`letter: {wait: {message: "{{ input.name }}"}}`, `{operation: letter, input: {name: letter}}`, "leter", `did you mean "letter"?`},
		"by an input that is computed": {`letter: {wait: {message: "{{ input.name }}"}}`, `{operation: letter, input: {name: "{{ run.id }}"}}`,
			"anything", ""},
		"computed":   {`letter: {wait: {message: "for-{{ run.id }}"}}`, one, "anything", ""},
		"a constant": {`letter: {wait: {message: "{{ 'let' + 'ter' }}"}}`, one, "letters", `did you mean "letter"?`},
		"in a branch": {`letter: {value: 1}, late: {wait: {message: late}}`,
			one + `, {conditional: {test: "{{ steps.letter.output == 2 }}", then: [{operation: late}]}}`, "late", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			e := newEngine(t, coordinator.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			r := start(t, e, "{kind: Workflow, name: w, operations: {"+c.operations+"}, steps: ["+c.steps+"]}")
			err := r.Awaits(t.Context(), c.message)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var unawaited *coordinator.UnawaitedError
			require.ErrorAs(t, err, &unawaited)
			require.ErrorContains(t, err, "no step of workflow w ")
			require.ErrorContains(t, err, c.want)
			before := len(journalOf(t, r))
			if err := r.Send(t.Context(), c.message, 1); err == nil {
				require.Len(t, journalOf(t, r), before+1, "the message is journaled")
				require.Contains(t, log.String(), "level=WARN")
			}
		})
	}
}

func TestAMessageForAPlaybookThatNoStepWaitsFor(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	r := begin(t, e, once(`
      - {name: hear, kind: wait, message: approve}`), nil)
	require.NoError(t, r.Awaits(t.Context(), "approve"))
	require.ErrorContains(t, r.Awaits(t.Context(), "approved"), `did you mean "approve"?`)
	r = begin(t, e, once(`
      - {name: hear, kind: wait, message: "for {{ execution_id }}"}`), nil)
	require.NoError(t, r.Awaits(t.Context(), "anything"))
}
