package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/template/wfformat"
)

// TestRecordedRunsRunAgain imports recorded runs, those of testdata and of the folder that SLUICE_INSTANCES names, and
// runs them: every task completes, and no task begins before all its parents have completed.
func TestRecordedRunsRunAgain(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "template", "wfformat", "testdata", "*.json"))
	require.NoError(t, err)
	if dir := os.Getenv("SLUICE_INSTANCES"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, more, "SLUICE_INSTANCES=%s", dir)
		files = append(files, more...)
	}
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			instance, err := wfformat.Parse(data)
			require.NoError(t, err)
			document := filepath.Join(t.TempDir(), "w.yaml")
			require.Equal(t, cli.Done, execute([]string{"convert", "wfformat", file, "--speed", "100000", "-o", document}))
			out, err := exec.Command(program(t), "run", document, "-o", "json").Output()
			require.NoError(t, err)
			checkOrder(t, instance, out)
		})
	}
}

// checkOrder checks the updates of a run: every task of the instance completes, after all its parents. The ids of steps are the ids of
// tasks without invalid characters.
func checkOrder(t *testing.T, instance *wfformat.Instance, feed []byte) {
	completed := map[string]bool{}
	parents := map[string][]string{}
	step := strings.NewReplacer("/", "_", " ", "_", "#", "_", "[", "_", "]", "_").Replace
	for _, task := range instance.Tasks {
		for _, parent := range task.Parents {
			parents[step(task.ID)] = append(parents[step(task.ID)], step(parent))
		}
	}
	scan := bufio.NewScanner(bytes.NewReader(feed))
	scan.Buffer(nil, 1<<20)
	status := ""
	edges := 0
	for scan.Scan() {
		var line struct {
			api.Update
			Result *struct{ Status string }
		}
		require.NoError(t, json.Unmarshal(scan.Bytes(), &line))
		if line.Result != nil {
			status = line.Result.Status
		}
		for _, c := range line.Changes {
			switch c.To {
			case "running":
				for _, parent := range parents[c.Step] {
					require.True(t, completed[parent], "%s began before %s had completed", c.Step, parent)
					edges++
				}
			case "completed":
				completed[c.Step] = true
			case "failed", "aborted", "skipped":
				t.Fatalf("%s is %s", c.Step, c.To)
			}
		}
	}
	require.NoError(t, scan.Err())
	require.Equal(t, "completed", status)
	require.Len(t, completed, len(instance.Tasks))
	want := 0
	for _, list := range parents {
		want += len(list)
	}
	require.Equal(t, want, edges, "every edge was checked")
}
