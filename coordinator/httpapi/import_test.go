package httpapi

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/catalog"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// exported returns a file with a run of a document that came to its engine from this machine.
func exported(t *testing.T, document string) string {
	t.Helper()
	e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Shutdown(t.Context())) }()
	checked, err := kinds.Load("w.yaml", []byte(document), template.Known{})
	require.NoError(t, err)
	_, err = e.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("brought"))
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, e.Export(t.Context(), &file, "brought"))
	return file.String()
}

// A file of runs contains no workflow that the client may not send: its runs would go on, and be repeated.
func TestAFileOfRunsUsesWhatIsAllowed(t *testing.T) {
	const ask = "{kind: Workflow, name: w, operations: {ask: {wait: {message: go}}, "
	files := map[string]string{
		"":              exported(t, ask+"v: {value: 1}}, steps: [{operation: ask}, {operation: v, input: '{{ steps.ask.output }}'}]}"),
		catalog.Command: exported(t, ask+"v: {command: {argv: [touch, here]}}}, steps: [{operation: ask}, {operation: v, input: '{{ steps.ask.output }}'}]}"),
	}
	s := newSite(t, nil)
	s.token = "admin"
	p := s.refused(CodeNotAllowed, "POST", "/v1/import", files[catalog.Command])
	require.Contains(t, p.Detail, `operation "v" runs a program`)
	s.refused("run_not_found", "GET", "/v1/runs/brought", "")
	broken := s.refused("refused_file", "POST", "/v1/import", strings.Replace(files[""], `"brought"`, `"sent"`, 1))
	require.Contains(t, broken.Detail, "the file:")
	require.NotContains(t, broken.Detail, os.TempDir())
	require.Equal(t, "brought", ok[ImportList](s, "POST", "/v1/import", files[""]).Items[0].Run)

	s = newSite(t, func(c *Config) { c.Allow = catalog.Allow{catalog.Command} })
	s.token = "admin"
	require.True(t, ok[ImportList](s, "POST", "/v1/import", files[catalog.Command]).Items[0].Held)
}
