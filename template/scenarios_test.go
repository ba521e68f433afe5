package template_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// refusedLater are scenarios whose refusal does not follow from the document alone.
var refusedLater = []string{
	"a cycle through needs is refused and shown",                            // found when the graph is compiled
	"an input without a required property is refused and nothing is called", // of the input, not of the document
	"an input of the wrong type is refused and the message names where",     // of the input, not of the document
	"a fan-out inside the child workflow of a fan-out is refused",           // found when the child is resolved
}

// Every workflow of the scenarios is read and checked: it is accepted, or refused with the texts that the scenario expects.
func TestWorkflowsOfScenariosAreAcceptedOrRefusedAsTheyExpect(t *testing.T) {
	scenarios := 0
	eachScenario(t, func(t *testing.T, file string, scenario *document.Node) {
		workflow := workflowOf(t, file, scenario)
		if workflow == nil {
			return
		}
		scenarios++
		known := template.Known{Operations: keysOf(scenario.Get("operations"))}
		known.Operation = func(name string) bool { return slices.Contains(known.Operations, name) }
		expected := texts(scenario.Get("expect").Get("invalid"))
		if len(expected) == 0 {
			known.Lenient = true // answers may be scripted by step
		}
		w, readErr := template.ParseNode(workflow)
		_, checkErr := template.Check(w, known)
		err := document.Join(readErr, checkErr)
		if len(expected) == 0 || slices.Contains(refusedLater, texts(scenario.Get("name"))[0]) {
			require.NoError(t, err)
			requireRoundTrip(t, w)
			return
		}
		require.Error(t, err)
		for _, text := range expected {
			require.ErrorContains(t, err, text)
		}
		for _, line := range strings.Split(err.Error(), "\n") {
			require.Regexp(t, `^[^:]+\.yaml:\d+:\d+: workflow[^ ]*: `, line)
		}
	})
	require.Greater(t, scenarios, 100)
}

func eachScenario(t *testing.T, check func(t *testing.T, file string, scenario *document.Node)) {
	for _, folder := range []string{"workflows", "calls"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			nodes, err := document.Parse(file, data, document.Limits{})
			require.NoError(t, err)
			for _, n := range nodes {
				t.Run(filepath.Base(file)+"/"+texts(n.Get("name"))[0], func(t *testing.T) { check(t, file, n) })
			}
		}
	}
}

// workflowOf returns the workflow of a scenario, inline or in a file, or nil if it has another kind.
func workflowOf(t *testing.T, file string, scenario *document.Node) *document.Node {
	n := scenario.Get("workflow")
	if path, ok := n.Text(); ok {
		file = filepath.Join(filepath.Dir(file), path)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		nodes, err := document.Parse(file, data, document.Limits{})
		require.NoError(t, err)
		n = nodes[0]
	}
	if kind, _ := n.Get("kind").Text(); kind != template.Kind {
		return nil
	}
	return n
}

// texts returns the text, or the list of texts, of a node; nil for nil.
func texts(n *document.Node) []string {
	if n == nil {
		return nil
	}
	if text, ok := n.Text(); ok {
		return []string{text}
	}
	var list []string
	for _, item := range n.Items() {
		list = append(list, texts(item)...)
	}
	return list
}

func keysOf(n *document.Node) []string {
	var keys []string
	if n != nil {
		for e := range n.Entries() {
			keys = append(keys, e.Key)
		}
	}
	return keys
}
