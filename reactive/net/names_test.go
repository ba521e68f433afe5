package net_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Variables that a gate reads without a prefix are reported, in whatever scope they are found.
func TestWhatAGateReadsWithoutAPrefixIsToldToo(t *testing.T) {
	b := lay(t, `
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: gate}
workload: {least: 3}
executor: {spec: {policy: {on_blocked: wait}}}
workflow:
  - {step: a, tool: {kind: noop}, set: {order: {paid: false, lines: [1]}}, next: {arcs: [{step: g, args: {n: 2}}]}}
  - step: g
    spec: {policy: {admit: {rules: [{when: '{{ n >= least or order.paid or approved }}', then: {allow: true}}]}}}
    tool: {kind: noop}
`)
	waits := b.net().Waits()
	require.Len(t, waits, 1)
	require.Equal(t, map[string]any{"n": int64(2), "least": int64(3), "order.paid": false, "approved": nil}, waits[0].Reads)
	b.play(journal.Event{Type: journal.ContextPatched, Value: map[string]any{"approved": true}})
	require.Equal(t, "completed", b.root.Finished().Detail.State)
}
