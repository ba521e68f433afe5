//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// The runs of folders of earlier versions are exported, imported into a new folder and exported again: both exports are equal. The new and
// the old folder are sound; only opening may have changed the old one.
func TestFoldersOfEarlierVersionsAreExportedTheSame(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join("..", "..", "testdata", "stores", "*.tar.gz"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(archives), 5)
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "old"), 0o700))
			out, err := exec.Command("tar", "-xzf", archive, "-C", filepath.Join(dir, "old")).CombinedOutput()
			require.NoError(t, err, "%s", out)
			runToEnd(t, dir, cli.Done, "export", "--all", "--data", "old", "-o", "first.jsonl")
			runToEnd(t, dir, cli.Done, "import", "first.jsonl", "--data", "new")
			runToEnd(t, dir, cli.Done, "export", "--all", "--data", "new", "-o", "second.jsonl")
			first, err := os.ReadFile(filepath.Join(dir, "first.jsonl"))
			require.NoError(t, err)
			second, err := os.ReadFile(filepath.Join(dir, "second.jsonl"))
			require.NoError(t, err)
			require.NotEmpty(t, first)
			require.Equal(t, string(first), string(second))
			runToEnd(t, dir, cli.Done, "doctor", "--data", "new")
			runToEnd(t, dir, cli.Done, "doctor", "--data", "old")
			_, told := runToEnd(t, dir, cli.Done, "import", "first.jsonl", "--data", "old")
			require.Empty(t, told)
		})
	}
}
