package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/machine"
)

func TestLints(t *testing.T) {
	lints := func(w *machine.World) (list []string) {
		for _, lint := range w.Lints() {
			list = append(list, lint.Error())
		}
		return list
	}
	require.Equal(t, []string{`w.yaml:14:10: machines.users: machine "users" has no subscription: it never has a cell`}, lints(load(t, notes)))
	require.Equal(t, []string{
		`w.yaml:4:15: machines.m: machine "m" has no subscription: it never has a cell`,
	}, lints(load(t, "kind: World\nname: w\ntypes: {P: {record: {id: text}}}\nmachines: {m: {state: unit, event: [P], emits: []}, n: {state: unit, event: [], emits: []}}\n")))

	w := load(t, `
kind: World
name: w
types: {P: {record: {id: text}}, Q: {record: {id: text}}, V: {variant: {A: P, B: Q, R: Receipt}}}
effects: {e: {params: unit, receipt: unit}}
machines:
  m:
    state: unit
    event: V
    emits: [e, timer]
    rules:
      - {event: P, when: "{{ state == null }}"}
      - {event: P}
      - {event: e.x, when: true}
      - {event: P, when: true}
      - {event: e}
      - {event: V}
      - {event: Q}
      - {event: e.x}
      - {event: timer.a}
      - {event: timer.b}
      - {event: Receipt}
      - {event: timer.c}
routing: {subscriptions: [{event: V, machine: m}]}
`)
	require.Equal(t, []string{
		`w.yaml:15:9: machines.m.rules[3]: the rule is never taken: rules[1] is about "P" too, and always holds`,
		`w.yaml:18:9: machines.m.rules[6]: the rule is never taken: rules[5] is about "V" too, and always holds: "Q"`,
		`w.yaml:19:9: machines.m.rules[7]: the rule is never taken: rules[2] is about "e.x" too, and always holds`,
		`w.yaml:23:9: machines.m.rules[11]: the rule is never taken: rules[10] is about "Receipt" too, and always holds: "timer.c"`,
	}, lints(w))
}
