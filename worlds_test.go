package sluice_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario"
)

// The first world of docs/worlds.md ends as its scenario there expects.
func TestTheWorldOfTheGuide(t *testing.T) {
	blocks := strings.Split(read(t, "docs/worlds.md"), "\n```yaml\n")
	dir := t.TempDir()
	for i, name := range []string{"tally.yaml", "tally.scenario.yaml"} {
		text, _, ok := strings.Cut(blocks[i+1], "```\n")
		require.True(t, ok)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	scenario.Run(t, filepath.Join(dir, "tally.scenario.yaml"))
}

func TestTheLinksOfTheGuidesLeadSomewhere(t *testing.T) {
	for _, guide := range []string{"docs/worlds.md", "examples/shop/README.md"} {
		links := regexp.MustCompile(`\]\(([^)#:"]+)\)`).FindAllStringSubmatch(read(t, guide), -1)
		require.NotEmpty(t, links)
		for _, link := range links {
			_, err := os.Stat(filepath.Join(filepath.Dir(guide), filepath.FromSlash(link[1])))
			require.NoError(t, err, guide)
		}
	}
}
