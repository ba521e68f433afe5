package net_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestWhatIsEqualStaysEqual: runs with equal digests that resulted from different orders of answers stay equal for all
// further events.
func TestWhatIsEqualStaysEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawFanOuts(t).document()
		t.Log(text)
		ok := map[string]bool{} // outcomes of calls
		give := func(b *table, calls ...string) {
			for _, call := range calls {
				if slices.Contains(b.calls(), call) {
					b.answer(call, ok[call])
				}
			}
		}
		var given []string
		one, other := lay(t, text), lay(t, text)
		for calls := one.calls(); len(calls) > 0 && len(given) < 40; calls = one.calls() {
			for _, call := range calls {
				if _, known := ok[call]; !known {
					ok[call] = rapid.SampledFrom([]bool{true, true, true, false}).Draw(t, "ok")
				}
			}
			next := []string{rapid.SampledFrom(calls).Draw(t, "call")}
			if len(calls) == 1 || rapid.Bool().Draw(t, "same") {
				give(one, next...)
				give(other, next...)
				require.Equal(t, one.digest(one.root), other.digest(other.root))
				given = append(given, next...)
				continue
			}
			next = append(next, rapid.SampledFrom(slices.DeleteFunc(calls, func(c string) bool { return c == next[0] })).Draw(t, "then"))
			give(one, next...)
			give(other, next[1], next[0])
			given = append(given, next...)
			if one.digest(one.root) != other.digest(other.root) {
				other = lay(t, text)
				give(other, given...)
			}
		}
	})
}

// TestTheOrderOfFanOutsIsPartOfTheDigest: a join takes the older of two fan-outs opened behind one arc first.
func TestTheOrderOfFanOutsIsPartOfTheDigest(t *testing.T) {
	play := func(first, second string) *table {
		b := lay(t, `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: siblings}
workflow:
  - {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: j}]}}
  - {step: b, next: {spec: {mode: inclusive}, arcs: [{step: d}, {step: e}]}}
  - {step: d, tool: {kind: work}, next: {arcs: [{step: k}]}}
  - {step: e, tool: {kind: work}, next: {arcs: [{step: l}]}}
  - {step: k, spec: {join: {mode: any}}, next: {spec: {mode: inclusive}, arcs: [{step: p}, {step: end}]}}
  - {step: l, spec: {join: {mode: any}}, next: {spec: {mode: inclusive}, arcs: [{step: q}, {step: end}]}}
  - {step: p, tool: {kind: work}, next: {arcs: [{step: r}]}}
  - {step: q, tool: {kind: work}, next: {arcs: [{step: j}]}}
  - {step: r, tool: {kind: work}, next: {arcs: [{step: j}]}}
  - {step: end, tool: {kind: noop}}
  - {step: j, spec: {join: {mode: all}}, tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {from: "{{ map(args.joined, #.from) }}"}}}}]}}}}
`)
		b.answer(first, true)
		b.answer(second, true)
		b.answer("p@1.p_task", true)
		return b
	}
	one, other := play("d@1.d_task", "e@1.e_task"), play("e@1.e_task", "d@1.d_task")
	require.Equal(t, one.calls(), other.calls())
	require.NotEqual(t, one.digest(one.root), other.digest(other.root))
	for _, b := range []*table{one, other} {
		b.answer("q@1.q_task", true)
		b.answer("r@1.r_task", true)
	}
	require.Equal(t, []any{"r", "q", "a"}, one.net().Context()["from"])
	require.Equal(t, []any{"q", "r", "a"}, other.net().Context()["from"])
}
