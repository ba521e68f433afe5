package playbook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/playbook"
)

// Every playbook of the scenarios is accepted, or refused with the texts that the scenario expects.
func TestPlaybooksOfScenariosAreAcceptedOrRefusedAsTheyExpect(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "scenarios", "playbooks", "*.yaml"))
	require.NoError(t, err)
	read, refused := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		scenarios, err := document.Parse(filepath.Base(file), data, document.Limits{})
		require.NoError(t, err)
		for _, n := range scenarios {
			name, _ := n.Get("name").Text()
			if kind, _ := n.Get("workflow").Get("kind").Text(); kind != playbook.Kind {
				continue
			}
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				w, err := playbook.ParseNode(n.Get("workflow"))
				checked, checkErr := template.Check(w, template.Known{Lenient: true})
				err = document.Join(err, checkErr)
				if invalid := n.Get("expect").Get("invalid"); invalid != nil {
					refused++
					text, _ := invalid.Text()
					require.ErrorContains(t, err, text)
					for _, line := range strings.Split(err.Error(), "\n") {
						require.Regexp(t, `^[^:]+\.yaml:\d+:\d+: workflow[^ ]*: `, line)
					}
					return
				}
				read++
				require.NoError(t, err)
				requireRoundTrip(t, checked)
			})
		}
	}
	require.Greater(t, read, 60)
	require.Greater(t, refused, 10)
}
