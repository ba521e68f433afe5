package playbook_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/playbook"
)

// FuzzLoad: no document causes a panic; a refused one has errors with places; an accepted one can be stored, read again,
// compiled, checked as a net and drawn.
func FuzzLoad(f *testing.F) {
	whole, err := os.ReadFile(filepath.Join("testdata", "whole.yaml"))
	require.NoError(f, err)
	f.Add(string(whole))
	f.Add(tool("{kind: http, url: x, params: {a: 1}, headers: {b: c}}"))
	f.Add(tool("[{a: {kind: command, argv: [ls]}}, {kind: workbook, task: w}, {name: null, kind: 1}]"))
	f.Add(head + "workbook: {tasks: {w: {tool: {kind: sleep, for: PT1S}}}}\nworkflow: [{step: s, tool: {kind: workbook, name: w, input: {for: 1}}}]")
	f.Add(steps("- {step: a, next: {arcs: [{step: a}, {step: b, when: false}]}}", "- {step: b, loop: {in: x}, tool: {kind: noop}}", "- {tool: {kind: workflow}}", "- 1"))
	f.Add("keychain: [{name: a, kind: env, data: {b: V}}, {name: c, kind: http, endpoint: '{{ keychain.a.b }}', headers: {x: 1}, data: [], auto_renew: true}]\n" +
		tool("{kind: http, url: '{{ keychain.c.d }}'}"))
	f.Add(rules("{when: true}, {else: }, {else: 1}, {then: 1}, {when: [], then: {do: jump, to: previous, set: {a: {from: x}}}}"))
	f.Add("{kind: Playbook, apiVersion: noetl.io/v2, metadata: {name: j}, workload: {a: 1}, workflow: [{step: s, tool: {kind: noop}, set: {b: '{{ a | default(2) }}'}}]}")
	f.Add(steps("- {step: a, spec: {join: {mode: count, n: 2147483648}}, tool: {kind: noop}}"))
	f.Fuzz(func(t *testing.T, text string) {
		checked, err := playbook.Load("p.yaml", []byte(text), template.Known{Lenient: true})
		if err != nil {
			require.Nil(t, checked)
			faults, ok := err.(document.Errors)
			require.True(t, ok)
			for _, fault := range faults {
				require.Equal(t, "p.yaml", fault.File, "%v", fault)
				require.NotEmpty(t, fault.Msg)
			}
			return
		}
		requireRoundTrip(t, checked)
		book, _ := playbook.Of(checked.Workflow)
		for _, problem := range book.Net().Check() {
			require.NotEmpty(t, book.Net().Describe(problem))
		}
		_, err = book.Graph()
		require.NoError(t, err)
	})
}
