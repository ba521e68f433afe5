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

func TestLintsOfWhatHasNoEffect(t *testing.T) {
	w := load(t, `
kind: World
name: w
types: {P: {record: {id: text, nothing: unit}}}
operations: {hear: {wait: {message: P}}}
effects:
  e: {params: {record: {n: nat}}, receipt: unit}
  own: {params: unit, receipt: unit, wait: {message: P}}
  shared: {params: unit, receipt: unit, operation: hear}
machines:
  m:
    key: text
    state: {record: {n: nat, memo: option<text>}}
    event: [P]
    emits: [e, timer]
    annotations: text
    rules:
      - {event: P, when: "{{ event.id == 'a' }}", set: {n: -1, memo: 3}}
      - {event: P, when: "{{ event.id == 'b' }}", emit: [{effect: e}, {effect: e, params: {n: 1, m: 2}}, {effect: e, params: {n: "{{ 0 - 1 }}"}}]}
      - {event: P, when: "{{ event.id == 'c' }}", raise: [{event: P, value: {id: 7, nothing: null}}], note: 3}
      - {event: P, when: "{{ event.id == 'd' }}", complete: true, emit: [{timer: t, for: PT1S}]}
      - {event: P, when: "{{ event.id == 'e' }}", delete: true, emit: [{effect: e, params: {n: 1}}]}
      - {event: P, set: {n: 1, memo: null}, emit: [{effect: e, params: {n: 1}}], note: fine}
  none: {key: unit, state: nat, event: [P], emits: []}
routing: {subscriptions: [{event: P, machine: m, key_field: id}, {event: P, machine: none, key_field: nothing}]}
`)
	var list []string
	for _, lint := range w.Lints() {
		list = append(list, lint.Error())
	}
	require.Equal(t, []string{
		`w.yaml:8:8: effects.own: the effect is never answered: it waits for a message, and the messages to a world go to its cells`,
		`w.yaml:9:11: effects.shared: the effect is never answered: it waits for a message, and the messages to a world go to its cells`,
		`w.yaml:21:9: machines.m.rules[3]: emit has no effect: the cell ends, and drops all its effects and timers`,
		`w.yaml:22:9: machines.m.rules[4]: emit has no effect: the cell ends, and drops all its effects and timers`,
		`w.yaml:18:9: machines.m.rules[0]: the rule always fails its cell: set.memo: must be a text, not an integer`,
		`w.yaml:18:9: machines.m.rules[0]: the rule always fails its cell: set.n: must be at least 0`,
		`w.yaml:19:9: machines.m.rules[1]: the rule always fails its cell: emit[0] e.params: must be an object, not null`,
		`w.yaml:19:9: machines.m.rules[1]: the rule always fails its cell: emit[1] e.params: /m: is not declared`,
		`w.yaml:19:9: machines.m.rules[1]: the rule always fails its cell: emit[2] e.params: /n: must be at least 0`,
		`w.yaml:20:9: machines.m.rules[2]: the rule always fails its cell: raise[0] P: /id: must be a text, not an integer`,
		`w.yaml:20:9: machines.m.rules[2]: the rule always fails its cell: note: must be a text, not an integer`,
		`w.yaml:24:9: machines.none: machine "none" has a key that is always null: it never has a cell`,
	}, list)
}
