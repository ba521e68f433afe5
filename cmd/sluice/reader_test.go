//go:build unix

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template"
)

// A slow reader of the output, such as a pager, does not keep other processes from opening the folder.
func TestASlowReaderDoesNotBlockOtherProcesses(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	engine, err := sluice.Open(t.Context(), data, coordinator.Config{})
	require.NoError(t, err)
	w, err := template.Parse("patient.yaml", []byte(patientText))
	require.NoError(t, err)
	run, err := engine.Start(t.Context(), w, nil, coordinator.WithID("r1"))
	require.NoError(t, err)
	large := strings.Repeat("x", 200<<10) // more than a pipe holds
	require.NoError(t, run.Send(t.Context(), "other", large))
	require.NoError(t, engine.Shutdown(t.Context()))

	for _, args := range [][]string{{"runs", "events", "r1"}, {"runs", "watch", "r1"}} {
		p := &process{t: t, cmd: exec.Command(program(t), append(args, "--data", data, "-o", "jsonl")...)}
		read, write, err := os.Pipe()
		require.NoError(t, err)
		p.cmd.Stdout, p.cmd.Stderr = write, &p.stderr
		require.NoError(t, p.cmd.Start())
		require.NoError(t, write.Close())
		lines := bufio.NewReaderSize(read, 1<<10)
		_, err = lines.ReadString('\n') // the command prints
		require.NoError(t, err)
		engine, err := sluice.Open(t.Context(), data, coordinator.Config{})
		require.NoError(t, err, args)
		require.NoError(t, engine.Shutdown(context.Background()))
		require.NoError(t, p.cmd.Process.Kill())
		require.Equal(t, -1, p.wait())
		require.NoError(t, read.Close())
	}
}
