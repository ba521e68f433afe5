package net_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// TestAPatchWritesWhereADocumentCan: patches and documents accept the same texts as paths.
func TestAPatchWritesWhereADocumentCan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringOfN(rapid.RuneFrom([]rune("ab.. ~/")), 0, 6, -1).Draw(t, "path")
		doc := func(set string) string {
			return "apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\nworkflow: [{step: s, tool: {kind: work}, set: " + set + "}]\n"
		}
		_, err := kinds.Load("p.yaml", []byte(doc(fmt.Sprintf("{%q: 1}", "ctx."+path))), template.Known{Operation: func(string) bool { return true }})
		patch := lay(t, doc("{}")).command(journal.Event{Type: journal.ContextPatched, Value: map[string]any{path: int64(1)}})
		require.Equal(t, err == nil, patch == nil, "%q: %v, %v", path, err, patch)
	})
}
