package control_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// A request that changes something, or would have, is recorded with its door, actor and effect; reads, previews and payloads are not.
func TestActsByTheSocketAreRecorded(t *testing.T) {
	dir := t.TempDir()
	log, err := audit.Open(dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	e := newEngine(t, memory.New())
	door, err := control.ServeAudited(dir, e, log)
	require.NoError(t, err)
	c, err := folder.Dial(dir)
	require.NoError(t, err)
	start(t, e, "first")
	const canary = "canary-7f3a"
	ask := func(req api.Request) error {
		_, err := c.Do(t.Context(), &req)
		return err
	}
	w, err := template.Parse("w.yaml", []byte("{kind: Workflow, name: w, operations: {o: {value: 1}}, steps: [{operation: o}]}"))
	require.NoError(t, err)
	p, err := parcel.Of(t.Context(), e, w)
	require.NoError(t, err)
	attached, err := (&api.Attachment{Parcel: p}).Encode()
	require.NoError(t, err)
	long := strings.Repeat("x", 2000)

	require.NoError(t, ask(api.Request{Verb: api.Publish, Actor: "ann", Attachment: attached}))
	require.NoError(t, ask(api.Request{Verb: api.Begin, Name: "w", ID: "second", Actor: "ann"}))
	require.NoError(t, ask(api.Request{Verb: api.Send, Run: "fir", Message: "other", Payload: []byte(`"` + canary + `"`), Actor: "bob"}))
	require.ErrorIs(t, ask(api.Request{Verb: api.Abort, Run: "first", Step: long, Reason: canary, Actor: "bob"}), coordinator.ErrStepNotFound)
	require.NoError(t, ask(api.Request{Verb: api.Cancel, Run: "first", Dry: true, Actor: "bob"}))
	_, err = c.Show(t.Context(), "first")
	require.NoError(t, err)
	_, err = c.Collect(t.Context(), api.Request{Dry: true}, func(*api.Gone) error { return nil })
	require.NoError(t, err)
	_, err = c.Collect(t.Context(), api.Request{Actor: "carol"}, func(*api.Gone) error { return nil })
	require.NoError(t, err)
	require.ErrorIs(t, c.Backup(t.Context(), filepath.Join(dir, "copy"), "carol"), coordinator.ErrNotPossible)
	require.NoError(t, ask(api.Request{Verb: api.Bulk, Act: "cancel", Query: "workflow:office", Expect: 1, Reason: canary, Actor: "ann"}))
	require.ErrorIs(t, ask(api.Request{Verb: api.Pause, Run: "none", Actor: long[:100]}), coordinator.ErrRunNotFound)
	require.NoError(t, door.Close())
	require.NoError(t, log.Close())

	page, err := log.Read(t.Context(), audit.Query{Limit: 100})
	require.NoError(t, err)
	var got [][]string
	for _, entry := range page.Items {
		require.Equal(t, audit.Act, entry.Kind)
		require.Equal(t, audit.Socket, entry.Door)
		require.False(t, entry.At.IsZero())
		got = append(got, []string{entry.Actor, entry.Route, entry.Run, entry.Step, entry.Name, entry.Code})
	}
	require.ElementsMatch(t, [][]string{ // each is recorded a moment after its answer, and the next request does not wait for that
		{"ann", "publish", "", "", "w", ""},
		{"ann", "start", "second", "", "w", ""},
		{"bob", "send", "first", "", "", ""},
		{"bob", "abort", "first", long[:512] + "…", "", "step_not_found"},
		{"carol", "collect", "", "", "", ""},
		{"carol", "backup", "", "", "", "not_possible"},
		{"ann", "bulk", "", "", "1", ""},
		{long[:100], "pause", "none", "", "", "run_not_found"},
	}, got)
	files, err := filepath.Glob(filepath.Join(dir, audit.Dir, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(text), canary)
	}
}
