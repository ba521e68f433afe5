package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
)

// TestAnActIsBegunOnceThoughItsHostEnds ends the host of a folder while a command carries out an act there on many failed runs. A second
// act would rerun every run once more. The command reports the outcome of the only act.
func TestAnActIsBegunOnceThoughItsHostEnds(t *testing.T) {
	const runs = 200
	dir := t.TempDir()
	failedRuns(t, dir, runs)
	host := launch(t, dir, "serve", "--data", dir)
	acts := func() (list []api.Act) {
		_ = folder.With(t.Context(), dir, coordinator.Config{}, func(c *folder.Client) error {
			list = nil
			return c.Acts(t.Context(), &api.Request{Verb: api.Acts}, func(r *api.Reply) error {
				list = append(list, *r.Act)
				return nil
			})
		})
		return list
	}
	eventually(t, "the host answers", func() bool { c, err := folder.Dial(dir); return err == nil && c.Held() })
	act := launch(t, dir, "bulk", "rerun", "--where", "failing status:failed", "--expect", fmt.Sprint(runs), "--failed", "--data", dir, "-o", "json")
	eventually(t, "the act has begun", func() bool { return len(acts()) > 0 })
	host.signal(syscall.SIGTERM)
	host.wait()
	code := act.wait()
	list := acts()
	require.Len(t, list, 1)
	said := api.Act{}
	lines := strings.Split(strings.TrimSpace(act.stdout.String()), "\n")
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &said), "%s", &act.stderr)
	require.Equal(t, list[0].ID, said.ID)
	require.Equal(t, map[bool]int{true: cli.Done, false: cli.Failed}[said.State == "completed"], code, "%+v", said)
}

// failedRuns makes runs that have failed.
func failedRuns(t *testing.T, dir string, n int) {
	s, err := disk.Open(dir, disk.Config{})
	require.NoError(t, err)
	e, err := coordinator.New(t.Context(), s, coordinator.Config{})
	require.NoError(t, err)
	w, err := template.Parse("failing.yaml", []byte(`{kind: Workflow, name: failing, operations: {one: {command: {argv: ["false"]}}}, steps: [{operation: one}]}`))
	require.NoError(t, err)
	for i := range n {
		run, err := e.Start(t.Context(), w, nil, coordinator.WithID(fmt.Sprint("failing-", i)))
		require.NoError(t, err)
		_, err = run.Wait(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, e.Shutdown(t.Context()))
}
