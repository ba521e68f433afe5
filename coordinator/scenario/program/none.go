package program

import (
	"fmt"

	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template/document"
)

// NoScenario returns the error about a file or folder without a scenario. If a file holds another document, the error names the
// kind of the document.
func NoScenario(path string) error {
	data, err := readfile.Regular(path, document.BytesMax)
	if err != nil {
		return fmt.Errorf("%s: no scenario", path)
	}
	nodes, _ := document.Parse(path, data, document.Limits{})
	for _, n := range nodes {
		if kind := n.Get("kind"); kind != nil && kind.Kind == document.String {
			text, _ := kind.Text()
			return fmt.Errorf("%s: no scenario: its kind is %s, which sluice validate checks and sluice run runs", path, document.Clip(text))
		}
	}
	return fmt.Errorf("%s: no scenario", path)
}
