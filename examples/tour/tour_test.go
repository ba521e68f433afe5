// Package tour tests the documents of this folder, with their scenarios and with real programs.
package tour

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario"
)

func TestScenarios(t *testing.T) { scenario.Run(t, ".") }

var numbered = regexp.MustCompile(`^[0-9]{2}-[a-z]+$`)

// The documents are numbered in reading order. Each has scenarios, and a comment with the command that runs it.
func TestEveryDocumentHasScenariosAndItsCommand(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	require.NoError(t, err)
	documents := 0
	for _, file := range files {
		name := strings.TrimSuffix(file, ".yaml")
		if strings.HasSuffix(name, ".scenario") {
			require.FileExists(t, strings.TrimSuffix(name, ".scenario")+".yaml")
			continue
		}
		documents++
		require.Regexp(t, numbered, name)
		require.FileExists(t, name+".scenario.yaml")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), "#   sluice run examples/tour/"+file)
	}
	require.Equal(t, 12, documents)
}
