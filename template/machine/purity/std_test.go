package purity

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package of the standard library that the table does not judge would be followed, or taken for pure.
func TestEveryStandardPackageIsJudged(t *testing.T) {
	out, err := exec.Command("go", "list", "std").Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	require.Greater(t, len(packages), 150)
	for _, path := range packages {
		_, ok := judged(path)
		require.True(t, ok, path)
	}
	for path := range standard {
		require.NotContains(t, path, ".", "modules are followed")
	}
}

// The table of the documentation has the fault and the advice of each message.
func TestTheDocumentationHasEveryKind(t *testing.T) {
	text, err := os.ReadFile("../../../docs/machinevet.md")
	require.NoError(t, err)
	kinds := map[*kind]bool{concurrent: true}
	for _, j := range standard {
		kinds[j.all] = true
		for _, k := range j.but {
			kinds[k] = true
		}
	}
	delete(kinds, nil)
	require.Len(t, kinds, 14)
	for k := range kinds {
		require.Contains(t, string(text), "| "+k.does+" | "+k.instead+" |")
	}
	require.Contains(t, string(text), "| "+keepIt+" |")
}
