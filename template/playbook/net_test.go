package playbook_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/dag/petri"
)

// arcs describes a net: the inputs and outputs of each transition.
func arcs(n *petri.Net) []string {
	name := func(ids []int32) string {
		names := make([]string, len(ids))
		for i, id := range ids {
			names[i] = "(" + n.Place(id) + ")"
		}
		return strings.Join(names, " ")
	}
	var all []string
	for id := range int32(n.Transitions()) {
		all = append(all, strings.TrimSpace(name(n.In(id))+" ["+n.Transition(id)+"] "+name(n.Out(id))))
	}
	return all
}

func TestAPlaybookIsANet(t *testing.T) {
	_, book := load(t, steps(
		"- {step: a, next: {arcs: [{step: b, when: '{{ ctx.x }}'}, {step: c}, {step: a}]}}",
		"- {step: b, next: {spec: {mode: inclusive}, arcs: [{step: c}, {step: c, when: '{{ ctx.x }}'}, {step: a, when: false}]}}",
		"- {step: c, spec: {join: {mode: count, n: 2}, policy: {admit: {rules: [{when: '{{ ctx.ok }}', then: {allow: true}}]}}}, next: {arcs: [{step: a, when: '{{ ctx.x }}'}]}}",
		"- {step: d, tool: {kind: noop}}"))
	n := book.Net()
	require.Equal(t, []string{
		"(a) [a] (a ended)",
		"(b) [b] (b ended [0]) (b ended [1]) (b ended [2])",
		"(c) [c] (c ended)",
		"(d) [d]",
		"(a ended) [a -> b [0]] (b)",
		"(a ended) [a -> c [1]] (c)",
		"(b ended [0]) [b -> c [0]] (c)",
		"(b ended [1]) [b -> c [1]] (c)",
		"(b ended [1]) [b, not c [1]]",
		"(b ended [2]) [b, not a [2]]",
		"(c ended) [c -> a [0]] (a)",
		"(c ended) [c, no arc]",
	}, arcs(n))
	require.Equal(t, petri.Marking{1, 0, 0, 0}, n.Initial()[:4], "the entry has the token")
	require.Equal(t, []bool{false, false, true, false}, []bool{n.IsGate(0), n.IsGate(1), n.IsGate(2), n.IsGate(3)})
	require.Equal(t, 2, n.Takes(2))
}

func TestAPlaybookIsDrawnWithItsGuards(t *testing.T) {
	text := steps(
		"- {step: a, next: {arcs: [{step: b, when: '{{ ctx.x }}'}, {step: c, when: '{{ ctx.y }}'}, {step: b}, {step: d, when: true}]}}",
		"- {step: b, next: {spec: {mode: inclusive}, arcs: [{step: c}, {step: c, when: '{{ ctx.x }}'}, {step: d, when: '{{ ctx.y }}'}, {step: d, when: '{{ ctx.z }}'}]}}",
		"- {step: c, next: {arcs: [{step: a}]}}",
		"- {step: d, tool: {kind: noop}}")
	_, book := load(t, text)
	g, err := book.Graph()
	require.NoError(t, err)
	var got []string
	for e := range g.Edges() {
		got = append(got, g.Key(e.From)+" -> "+g.Key(e.To)+" "+e.Attrs.Type.String()+" "+strings.ReplaceAll(e.Attrs.Label(), "\n", ", "))
	}
	require.Equal(t, []string{
		"a -> b conditional if (ctx.x) || !(ctx.x) && !(ctx.y)",
		"a -> c conditional if ctx.y",
		"a -> d conditional if true",
		"b -> c sequential ",
		"b -> d conditional if (ctx.y) || (ctx.z)",
		"c -> a sequential ",
	}, got)
	require.Equal(t, dag.TemplateGraph, g.Kind())
	require.True(t, slices.Equal([]string{"a", "b", "c", "d"}, slices.Collect(func(yield func(string) bool) {
		for _, key := range g.Nodes() {
			if !yield(key) {
				return
			}
		}
	})))
}
