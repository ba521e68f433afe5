package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
	"github.com/sluiceflow/sluice/template/value"
)

// notes is a world whose machines subscribe to variants in all ways.
const notes = `
kind: World
name: notes
types:
  Opened: {record: {id: text, by: {option: {record: {who: option<text>}}}}}
  Edited: {record: {id: text, by: {option: {record: {who: option<text>}}}}}
  Event: {variant: {Open: Opened, Edit: Edited, Told: Receipt}}
  Both: {variant: {A: Edited, B: Edited}}
machines:
  variant: {key: text, state: unit, event: Event, emits: []}
  list: {key: text, state: unit, event: [Event, Edited, Both], emits: []}
  arms: {state: unit, event: Event, emits: []}
  inline: {state: unit, event: {variant: {X: Edited}}, emits: []}
  users: {key: text, state: unit, event: [Opened, Edited], emits: []}
routing:
  subscriptions:
    - {event: Event, machine: list, key_field: $value.id}
    - {event: Edited, machine: list, key_field: id}
    - {event: Edited, machine: variant, key_field: id}
    - {event: Event, machine: variant, key_field: $value.id}
    - {event: Opened, machine: arms}
    - {event: Edited, machine: inline}
    - {event: Both, machine: list, key_field: $value.id}
`

// routed is a delivery in words.
type routed struct {
	cell, event string
	value       value.Value
}

func route(t *testing.T, w *machine.World, name string, payload value.Value) []routed {
	r, err := w.Route(name, payload)
	require.NoError(t, err)
	require.Equal(t, name, r.Name)
	var list []routed
	for _, d := range r.To {
		require.Equal(t, machine.Message, d.Event.Kind)
		require.Equal(t, d.Event, w.Arrival(d.Machine, d.Key, name, r.Payload))
		list = append(list, routed{machine.Address(d.Machine, d.Key), d.Event.Name, d.Event.Value})
	}
	return list
}

// A message named as the variant goes to the subscribers of the variant; one named as the type of an arm also to the subscribers of the
// type. Each cell takes it once.
func TestVariantsAreRouted(t *testing.T) {
	w := load(t, notes)
	one := map[string]any{"id": "a", "by": nil}
	edit := map[string]any{"$tag": "Edit", "$value": one}
	require.Equal(t, []routed{{"list[a]", "Event", edit}, {"variant[a]", "Edited", one}, {"inline", "Edited", one}},
		route(t, w, "Edited", map[string]any{"id": "a"}))
	require.Equal(t, []routed{{"list[a]", "Event", edit}, {"variant[a]", "Edited", one}},
		route(t, w, "Event", map[string]any{"Edit": map[string]any{"id": "a"}}))
	require.Equal(t, []routed{{"list[a]", "Event", map[string]any{"$tag": "Open", "$value": one}}, {"variant[a]", "Opened", one}, {"arms", "Opened", one}},
		route(t, w, "Opened", one))
	require.Equal(t, []routed{{"list[a]", "Both", map[string]any{"$tag": "B", "$value": one}}},
		route(t, w, "Both", map[string]any{"B": one}), "an arm whose type another arm has cannot be told")
}

func TestMessagesThatAreRefused(t *testing.T) {
	w := load(t, `
kind: World
name: w
types:
  Seen: {record: {who: {option: {record: {id: option<text>}}}}}
  Event: {variant: {Open: Seen, Told: Receipt}}
machines:
  all: {state: unit, event: [Seen], emits: []}
  one: {key: text, state: unit, event: [Seen], emits: []}
  any: {key: text, state: unit, event: Event, emits: []}
routing:
  subscriptions:
    - {event: Seen, machine: all}
    - {event: Seen, machine: one, key_field: who.id}
    - {event: Event, machine: any, key_field: $value.who.id}
`)
	seen := func(who value.Value) value.Value { return map[string]any{"who": who} }
	for _, c := range []struct {
		name    string
		payload value.Value
		want    string
	}{
		{"Sen", nil, `unknown type "Sen" (did you mean "Seen"?)`},
		{"sys/EffectReceiptEnvelope@1", nil, `unknown type "sys/EffectReceiptEnvelope@1"`},
		{"Seen", nil, "must be an object, not null"},
		{"Seen", map[string]any{"x": int64(1)}, "/x: is not declared"},
		{"Seen", map[string]any{}, `/who/id: is the key of machine "one" and must not be null`},
		{"Seen", seen(nil), `/who/id: is the key of machine "one" and must not be null`},
		{"Seen", seen(map[string]any{}), `/who/id: is the key of machine "one" and must not be null`},
		{"Event", map[string]any{"Open": seen(nil)}, `/$value/who/id: is the key of machine "any" and must not be null`},
		{"Event", map[string]any{"Told": nil}, "is made by the run itself"},
		{"Event", map[string]any{"$tag": "Tld", "$value": nil}, "has no arm"},
	} {
		r, err := w.Route(c.name, c.payload)
		require.ErrorContains(t, err, c.want)
		require.Nil(t, r)
	}
}

func TestTwoKeysOfOneMessage(t *testing.T) {
	w := load(t, `
kind: World
name: w
types: {Moved: {record: {from: text, to: text}}}
machines: {m: {key: text, state: unit, event: [Moved], emits: []}}
routing: {subscriptions: [{event: Moved, machine: m, key_field: from}, {event: Moved, machine: m, key_field: to}]}
`)
	moved := func(from, to string) value.Value { return map[string]any{"from": from, "to": to} }
	require.Equal(t, []routed{{"m[a]", "Moved", moved("a", "b")}, {"m[b]", "Moved", moved("a", "b")}}, route(t, w, "Moved", moved("a", "b")))
	require.Equal(t, []routed{{"m[a]", "Moved", moved("a", "a")}}, route(t, w, "Moved", moved("a", "a")))
}

func TestAddresses(t *testing.T) {
	w := load(t, `
kind: World
name: w
machines:
  one: {state: unit, event: [], emits: []}
  com.acme/order@1: {key: text, state: unit, event: [], emits: []}
  n: {key: nat, state: unit, event: [], emits: []}
  r: {key: {record: {hall: text, side: int}}, state: unit, event: [], emits: []}
  u: {key: uuid, state: unit, event: [], emits: []}
  v: {key: {variant: {A: text}}, state: unit, event: [], emits: []}
`)
	for _, c := range []struct {
		machine string
		key     value.Value
		address string
	}{
		{"one", nil, "one"},
		{"com.acme/order@1", "a/b [1] 50%", "com.acme%2Forder@1[a%2Fb%20%5B1%5D%2050%25]"},
		{"com.acme/order@1", "", "com.acme%2Forder@1[]"},
		{"com.acme/order@1", "é\t\u00a0#", "com.acme%2Forder@1[é%09%C2%A0%23]"},
		{"n", int64(12), "n[12]"},
		{"r", map[string]any{"side": int64(1), "hall": "a b"}, `r[{"hall":"a%20b","side":1}]`},
		{"u", "00000000-0000-4000-8000-00000000000a", `u["00000000-0000-4000-8000-00000000000a"]`},
		{"v", map[string]any{"$tag": "A", "$value": "x"}, `v[{"$tag":"A","$value":"x"}]`},
	} {
		require.Equal(t, c.address, machine.Address(w.Machine(c.machine), c.key))
		data, err := machine.KeyBytes(w.Machine(c.machine), c.key)
		require.NoError(t, err)
		if c.machine == "one" {
			require.Empty(t, data)
		} else {
			again, err := machine.KeyOf(data)
			require.NoError(t, err)
			require.Equal(t, c.key, again)
			_, err = machine.KeyOf(data[1:])
			require.Error(t, err)
		}
		m, key, err := w.ParseAddress(c.address)
		require.NoError(t, err, c.address)
		require.Equal(t, c.machine, m.Name)
		require.Equal(t, c.key, key)
	}
	for address, want := range map[string]string{
		"onne":                     `unknown machine "onne" (did you mean "one"?)`,
		"one[a]":                   `machine "one" has no key: its cell is one`,
		"n":                        `machine "n" is keyed: a cell of it is n[KEY]`,
		"n[1":                      `machine "n" is keyed: a cell of it is n[KEY]`,
		"n[-1]":                    `invalid key of machine "n" in "n[-1]": must be at least 0`,
		"n[x]":                     `invalid key of machine "n" in "n[x]"`,
		"u[x]":                     `invalid key of machine "u" in "u[x]"`,
		"n[7.0]":                   `invalid address "n[7.0]": this cell is n[7]`,
		"n[%207]":                  `invalid address "n[%207]": this cell is n[7]`,
		`r[{"side":1,"hall":"a"}]`: `this cell is r[{"hall":"a","side":1}]`,
		`v[{"A":"x"}]`:             `this cell is v[{"$tag":"A","$value":"x"}]`,
		"u[00000000-0000-4000-8000-00000000000a]":   `this cell is u["00000000-0000-4000-8000-00000000000a"]`,
		`u["00000000-0000-4000-8000-00000000000A"]`: `this cell is u["00000000-0000-4000-8000-00000000000a"]`,
		"com.acme%2Forder@1[a b]":                   `invalid address "a b": white space and / [ ] # % are written %XX, and nothing else is`,
		"com.acme%2Forder@1[%61]":                   `invalid address "%61": white space`,
		"com.acme%2Forder@1[%6]":                    `invalid address "%6": %XX stands for a byte`,
		"com.acme%2Forder@1[%zz]":                   `invalid address "%zz": %XX stands for a byte`,
		"com.acme%2Forder@1[%2f]":                   `invalid address "%2f": white space`,
		"com.acme%2Forder@1[a][b]]":                 `invalid address "a][b]": white space`,
	} {
		_, _, err := w.ParseAddress(address)
		require.ErrorContains(t, err, want)
	}
}

// A machine is tried without a run.
func TestStepAlone(t *testing.T) {
	checked, err := machine.Load("w.yaml", []byte(notes), template.Known{Lenient: true})
	require.NoError(t, err)
	message := func(name string, v value.Value) machine.Event {
		return machine.Event{Kind: machine.Message, Name: name, Value: v}
	}
	out, err := attempt.Step(checked.Workflow, "variant[a]", nil, message("Event", map[string]any{"Edit": map[string]any{"id": "a"}}))
	require.NoError(t, err)
	require.True(t, out.Ignored)
	for _, c := range []struct {
		cell  string
		state value.Value
		event machine.Event
		want  string
	}{
		{"varian[a]", nil, message("Edited", nil), `unknown machine "varian" (did you mean "variant"?)`},
		{"variant[a]", int64(1), message("Edited", nil), "state of variant[a]: must be null, not an integer"},
		{"variant[a]", nil, message("Both", nil), `event "Both" is no arm of machine "variant"`},
		{"variant[a]", nil, message("Edited", nil), "event Edited: must be an object, not null"},
	} {
		_, err := attempt.Step(checked.Workflow, c.cell, c.state, c.event)
		require.EqualError(t, err, c.want)
	}
	_, err = attempt.Step(&template.Workflow{Name: "plain"}, "m", nil, machine.Event{})
	require.EqualError(t, err, `workflow "plain" is not a world`)

	checked, err = machine.Load("w.yaml", []byte("{kind: World, name: w, types: {P: {record: {n: int}}}, machines: {m: {state: int, event: [P], emits: [], rules: [{event: P, when: '{{ event.n > 0 }}', set: '{{ state + event.n }}'}, {event: P, fail: {code: low}}]}}}"), template.Known{})
	require.NoError(t, err)
	out, err = attempt.Step(checked.Workflow, "m", int64(1), message("P", map[string]any{"n": 2}))
	require.NoError(t, err)
	require.Equal(t, int64(3), out.State)
	_, err = attempt.Step(checked.Workflow, "m", int64(1), message("P", map[string]any{"n": -2}))
	require.EqualError(t, err, "low")
	failure, ok := err.(*machine.Failure)
	require.True(t, ok)
	require.Equal(t, "low", failure.Code)
}
