//go:build unix

package httpapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// The feed of the view log has the text that a program writes, while it runs, and resumes where it was left.
func TestWhatAProgramWritesIsFollowed(t *testing.T) {
	s := newSite(t, nil)
	gate := filepath.Join(t.TempDir(), "gate")
	require.NoError(t, syscall.Mkfifo(gate, 0o600))
	checked, err := kinds.Load("w.yaml", []byte(`{kind: Workflow, name: w, operations: {say: {command: {shell: "echo '<b>'; read x < `+gate+`; echo end >&2"}}, hold: {wait: {message: go}}},
		steps: [{operation: say}, {operation: hold}]}`), template.Known{})
	require.NoError(t, err)
	run, err := s.engine.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("said"))
	require.NoError(t, err)

	resp := s.do("GET", "/v1/runs/said/feed?view=log&step=say", "")
	defer resp.Body.Close()
	decoder := json.NewDecoder(resp.Body)
	next := func() (l line, b calllog.Batch) {
		t.Helper()
		require.NoError(t, decoder.Decode(&l))
		require.NoError(t, json.Unmarshal(l.Data, &b))
		return l, b
	}
	first, b := next()
	require.Equal(t, "log", first.Event)
	require.Equal(t, "<b>\n", b.Entries[0].Text)
	require.Equal(t, "stdout", b.Entries[0].Stream)
	require.NoError(t, os.WriteFile(gate, []byte("go\n"), 0))
	_, b = next()
	require.Equal(t, "end\n", b.Entries[0].Text)
	require.NoError(t, run.Send(t.Context(), "go", nil))
	l, _ := next()
	require.Equal(t, "end", l.Event)
	require.JSONEq(t, `{"status": "completed"}`, string(l.Data))

	rest := s.do("GET", "/v1/runs/said/feed?view=log", "", "Last-Event-ID", first.ID)
	defer rest.Body.Close()
	all := lines(t, rest.Body)
	require.Len(t, all, 2)
	require.NotContains(t, string(all[0].Data), "<b>")
	require.Contains(t, string(all[0].Data), "end")
	before := s.do("GET", "/v1/runs/said/feed?view=log", "", "Last-Event-ID", "other-7"+first.ID[strings.LastIndexByte(first.ID, '-'):])
	defer before.Body.Close()
	require.Contains(t, string(lines(t, before.Body)[0].Data), `"lost":true`, "of another process")

	for _, id := range []string{"7", "-1", "x-y", first.ID + "999", "other-7", first.ID[:strings.LastIndexByte(first.ID, '-')] + "-other"} {
		s.refused(CodeBadRequest, "GET", "/v1/runs/said/feed?view=log", "", "Last-Event-ID", id)
	}
	s.refused(CodeBadRequest, "GET", "/v1/runs/said/feed?step=say", "")
	s.refused(CodeBadRequest, "GET", "/v1/feed?view=log&run=said", "")
	s.refused("step_not_found", "GET", "/v1/runs/said/feed?view=log&step=none", "")
	s.refused("run_not_found", "GET", "/v1/runs/none/feed?view=log", "")
}
