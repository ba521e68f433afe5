package registry_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template/document"
)

// TestLoadedDocumentsAreNotReadAgain: a registry made from the result of Load has the same entry, and the children as they were read,
// although the files are gone.
func TestLoadedDocumentsAreNotReadAgain(t *testing.T) {
	dir := t.TempDir()
	parent, child := filepath.Join(dir, "parent.yaml"), filepath.Join(dir, "child.yaml")
	require.NoError(t, os.WriteFile(parent, []byte(`
kind: Workflow
name: parent
operations: {below: {workflow: {path: child.yaml}}}
steps: [{operation: below}]`), 0o600))
	require.NoError(t, os.WriteFile(child, []byte("{kind: Workflow, name: child, operations: {nap: {sleep: {for: PT1S}}}, steps: [{operation: nap}]}"), 0o600))
	loaded, entry, err := registry.Load(parent)
	require.NoError(t, err)
	require.NoError(t, os.Remove(parent))
	require.NoError(t, os.Remove(child))
	store := memory.New()
	r, err := registry.New(store, registry.Config{Loaded: loaded})
	require.NoError(t, err)
	again, err := r.Add(entry.Plan.Workflow)
	require.NoError(t, err)
	require.Same(t, entry, again)
	children, err := r.Bundle(t.Context(), entry)
	require.NoError(t, err)
	require.Len(t, children, 1)
	for _, hash := range children {
		_, err := r.Find(t.Context(), hash, nil)
		require.NoError(t, err, "its definition is stored")
	}
}

func TestLoadReturnsAllFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.yaml")
	for text, want := range map[string]string{
		"{kind: Workflow, name: w, steps: [{operation: nowhere}]}":                                                      "nowhere",
		"{kind: Workflow, name: w, operations: {o: {workflow: {path: gone.yaml}}}, steps: [{operation: o}]}":            "gone.yaml",
		"{kind: Workflow, name: w, operations: {o: {sleep: {for: PT1S}}}, steps: [{operation: o, input: \"{{ 1 + \"}]}": "{{ 1 +",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, _, err := registry.Load(file)
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(*document.Error), "%s: it names the place", text)
	}
}
