package machine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// begin is the time of activations in tests: 2026-01-01T00:00:00Z.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// machineOf is a world of a machine m with these rules, keyed by texts, and a machine hears that subscribes to Out.
func machineOf(t testing.TB, rules ...string) *machine.World {
	return load(t, `
kind: World
name: w
types:
  In: {record: {id: text, n: int}}
  Out: {record: {id: option<text>, text: text}}
  Big: {record: {text: text}}
  Note: {record: {said: text}}
effects:
  pay: {params: {record: {cents: nat, to: option<text>}}, receipt: unit}
  pay.back: {params: unit, receipt: unit}
machines:
  m:
    key: text
    state: {record: {n: int, log: list<text>, big: option<text>}}
    event: [In, Rejected, Frame]
    emits: [pay, pay.back, timer]
    annotations: Note
    rules:
    - `+strings.Join(rules, "\n    - ")+`
  hears: {key: text, state: unit, event: [Out], emits: []}
routing: {subscriptions: [{event: Out, machine: hears, key_field: id}]}
`)
}

func in(n int64) machine.Event {
	return machine.Event{Kind: machine.Message, Name: "In", Value: map[string]any{"id": "a", "n": n}}
}

func receipt(effect, issuer string) machine.Event {
	v := map[string]any{"effect": effect, "issuer": nil, "status": "ok", "payload": nil, "error": nil, "intent": "i", "emitted_at_seq": int64(1)}
	if issuer != "" {
		v["issuer"] = issuer
	}
	return machine.Event{Kind: machine.Receipt, Name: effect, Value: v}
}

func fired(name string) machine.Event {
	return machine.Event{Kind: machine.Timer, Name: name, Value: map[string]any{"effect": "timer", "issuer": name, "status": "ok",
		"payload": map[string]any{"name": name, "due": "2026-01-01T00:00:00Z"}, "error": nil}}
}

func state(n int64, log ...any) value.Value {
	if log == nil {
		log = []any{}
	}
	return map[string]any{"n": n, "log": log, "big": nil}
}

// step runs an activation of the cell m[k].
func step(w *machine.World, before value.Value, e machine.Event) (*machine.Output, *machine.Failure) {
	return w.Step(&machine.Input{Machine: w.Machine("m"), Key: "k", State: before, Event: e, Now: begin, Seq: 7}, &expr.Meter{})
}

func TestWhatARuleGives(t *testing.T) {
	pay := func(params map[string]any) machine.Emission { return machine.Emission{Params: params} }
	for _, c := range []struct {
		name, rule string
		before     value.Value
		event      machine.Event
		want       machine.Output
	}{
		{"a rule without consequences", "{event: In}", state(1), in(2), machine.Output{}},
		{"a rule that is not about the event", "{event: pay}", state(1), in(2), machine.Output{Ignored: true}},
		{"a guard that does not hold", "{event: In, when: '{{ event.n == 3 }}', delete: true}", state(1), in(2), machine.Output{Ignored: true}},
		{"a guard that is null", "{event: In, when: '{{ state.n }}', delete: true}", nil, in(2), machine.Output{Ignored: true}},
		{"a state over none", "{event: In, set: {n: '{{ event.n }}', log: ['{{ key }} {{ cell.machine }}[{{ cell.key }}] {{ now }}']}}", nil, in(2),
			machine.Output{Changed: true, State: state(2, "k m[k] 2026-01-01T00:00:00Z")}},
		{"fields are computed from the state before", "{event: In, set: {n: '{{ state.n + 1 }}', log: ['{{ string(state.n) }}']}}", state(1), in(2),
			machine.Output{Changed: true, State: state(2, "1")}},
		{"fields that are left out stay", "{event: In, set: {n: 5}}", state(1, "a"), in(2), machine.Output{Changed: true, State: state(5, "a")}},
		{"an expression gives fields", "{event: In, set: '{{ {n: event.n} }}'}", state(1, "a"), in(2), machine.Output{Changed: true, State: state(2, "a")}},
		{"the same state again", "{event: In, set: {n: 1}}", state(1), in(2), machine.Output{}},
		{"the state goes", "{event: In, delete: true, complete: true}", state(1), in(2), machine.Output{Changed: true, Completed: true}},
		{"no state goes", "{event: In, delete: true}", nil, in(2), machine.Output{}},
		{"an effect", "{event: In, emit: [{effect: pay, params: {cents: '{{ event.n }}'}, issuer: '{{ key }}', key: x}]}", state(1), in(2),
			machine.Output{Emitted: []machine.Emission{{Params: map[string]any{"cents": int64(2), "to": nil}, Issuer: "k", Key: "x"}}}},
		{"an issuer that is null", "{event: In, emit: [{effect: pay, params: {cents: 1}, issuer: '{{ state.big }}'}]}", state(1), in(2),
			machine.Output{Emitted: []machine.Emission{pay(map[string]any{"cents": int64(1), "to": nil})}}},
		{"outputs see the new state and the one before", "{event: In, set: {n: 9}, emit: [{effect: pay, params: {cents: '{{ state.n - was.n }}'}}], note: {said: '{{ was.n }} {{ state.n }}'}}", state(1), in(2),
			machine.Output{Changed: true, State: state(9), Emitted: []machine.Emission{pay(map[string]any{"cents": int64(8), "to": nil})}, Note: map[string]any{"said": "1 9"}, Noted: true}},
		{"timers", "{event: In, emit: [{timer: a, for: PT1S}, {timer: b, until: '2026-01-01T01:00:00+01:00'}, {timer: c, for: 'PT{{ event.n }}M'}]}", state(1), in(2),
			machine.Output{Emitted: []machine.Emission{{Timer: "a", Due: begin + 1e9}, {Timer: "b", Due: begin}, {Timer: "c", Due: begin + 120e9}}}},
		{"drops", "{event: In, drop: [pay, pay.back, pay.back.x, pay.card, timer, timer.a.b]}", state(1), in(2), machine.Output{Dropped: []machine.Drop{
			{Effect: "pay"}, {Effect: "pay.back"}, {Effect: "pay.back", Issuer: "x"}, {Effect: "pay", Issuer: "card"}, {Effect: "timer"}, {Effect: "timer", Issuer: "a.b"}}}},
		{"a receipt", "{event: pay, complete: true}", state(1), receipt("pay", "x"), machine.Output{Completed: true}},
		{"a receipt of another effect", "{event: pay, complete: true}", state(1), receipt("pay.back", ""), machine.Output{Ignored: true}},
		{"the longest effect is meant", "{event: pay.back, complete: true}", state(1), receipt("pay", "back"), machine.Output{Ignored: true}},
		{"a receipt with its issuer", "{event: pay.card, complete: true}", state(1), receipt("pay", "card"), machine.Output{Completed: true}},
		{"a receipt with another issuer", "{event: pay.card, complete: true}", state(1), receipt("pay", ""), machine.Output{Ignored: true}},
		{"any receipt", "{event: Receipt, complete: true}", state(1), receipt("pay", ""), machine.Output{Completed: true}},
		{"any receipt, a timer", "{event: Receipt, complete: true}", state(1), fired("a"), machine.Output{Completed: true}},
		{"any receipt, no rejection", "{event: Receipt, complete: true}", state(1), machine.Event{Kind: machine.Rejected, Name: "pay"}, machine.Output{Ignored: true}},
		{"any timer", "{event: timer, complete: true}", state(1), fired("a"), machine.Output{Completed: true}},
		{"a timer", "{event: timer.a, complete: true}", state(1), fired("a"), machine.Output{Completed: true}},
		{"another timer", "{event: timer.a, complete: true}", state(1), fired("b"), machine.Output{Ignored: true}},
		{"a rejection", "{event: Rejected, complete: true}", state(1), machine.Event{Kind: machine.Rejected, Name: "pay"}, machine.Output{Completed: true}},
		{"a frame", "{event: Frame, complete: true}", state(1), machine.Event{Kind: machine.Frame, Name: "pay"}, machine.Output{Completed: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := machineOf(t, c.rule)
			out, failure := step(w, c.before, c.event)
			require.Nil(t, failure)
			for i := range out.Emitted {
				if out.Emitted[i].Timer == "" {
					require.Equal(t, "pay", out.Emitted[i].Effect.Name)
				}
				out.Emitted[i].Effect = nil
			}
			require.Equal(t, &c.want, out)
		})
	}
}

func TestARaisedMessageIsRouted(t *testing.T) {
	w := machineOf(t, "{event: In, raise: [{event: Out, value: {id: '{{ key }}', text: a}}, {event: Note, value: {said: b}}]}")
	out, failure := step(w, nil, in(1))
	require.Nil(t, failure)
	payload := map[string]any{"id": "k", "text": "a"}
	require.Equal(t, []machine.Raised{
		{Name: "Out", Value: payload, To: []machine.Delivery{{Machine: w.Machine("hears"), Key: "k", Event: machine.Event{Kind: machine.Message, Name: "Out", Value: payload}}}},
		{Name: "Note", Value: map[string]any{"said": "b"}},
	}, out.Raised)
}

func TestFailures(t *testing.T) {
	repeat := func(n int, text string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(text+", ", n), ", ") + "]"
	}
	for _, c := range []struct{ name, rule, code, message string }{
		{"asked for", "{event: In, fail: {code: 'bad-{{ key }}', message: '{{ state.n }} of {{ event.n }}'}}", "bad-k", "1 of 2"},
		{"asked for without a message", "{event: In, fail: {code: bad}}", "bad", ""},
		{"a code that is empty", "{event: In, fail: {code: '{{ state.big }}'}}", "output_invalid", "fail.code: must not be empty"},
		{"a message that is no text", "{event: In, fail: {code: x, message: '{{ state.n }}'}}", "output_invalid", "fail.message: must be a text, not an integer"},
		{"a guard", "{event: In, when: '{{ event.n }}'}", "step_failed", "when: a condition must give true or false, but it gave an integer (2)"},
		{"a field", "{event: In, set: {n: '{{ event.n / 0 }}'}}", "step_failed", "set.n: "},
		{"a state", "{event: In, set: {n: '{{ key }}'}}", "output_invalid", "state: /n: must be an integer, not a text"},
		{"a state without fields", "{event: In, set: '{{ null }}'}", "output_invalid", "state: must be an object, not null"},
		{"params", "{event: In, emit: [{effect: pay, params: {cents: 1}}, {effect: pay, params: {cents: '{{ 0 - event.n }}'}}]}", "params_invalid", "emit[1] pay: /cents: must be at least 0"},
		{"an issuer", "{event: In, emit: [{effect: pay, params: {cents: 1}, issuer: '{{ state.n }}'}]}", "output_invalid", "emit[0] pay.issuer: must be a text, not an integer"},
		{"a raised message", "{event: In, raise: [{event: Out, value: {id: a}}]}", "output_invalid", "raise[0] Out: /text: is missing"},
		{"a raised message without a key", "{event: In, raise: [{event: Out, value: {text: a}}]}", "output_invalid", `raise[0] Out: /id: is the key of machine "hears" and must not be null`},
		{"a timer without a time", "{event: In, emit: [{timer: t, for: '{{ state.big }}'}]}", "output_invalid", `emit[0] timer.t: invalid duration ""`},
		{"a timer in the far future", "{event: In, emit: [{timer: t, for: P100000D}]}", "output_invalid", "emit[0] timer.t: is due after the year 2262"},
		{"an instant in the far future", "{event: In, emit: [{timer: t, until: '3000-01-01T00:00:00Z'}]}", "output_invalid", `emit[0] timer.t: "3000-01-01T00:00:00Z" is no instant`},
		{"a note", "{event: In, note: {said: '{{ event.n }}'}}", "output_invalid", "note: /said: must be a text, not an integer"},
		{"too many effects", "{event: In, emit: " + repeat(65, "{effect: pay.back}") + "}", "limit_exceeded", "it emits more than 64 effects and timers"},
		{"too many messages", "{event: In, raise: " + repeat(257, "{event: Note, value: {said: a}}") + "}", "limit_exceeded", "it raises more than 256 messages"},
		{"too many bytes", "{event: In, set: {n: 1, log: [], big: '{{ repeat(key, 600000) }}'}, raise: [{event: Note, value: {said: '{{ state.big }}'}}]}", "limit_exceeded", "its output takes more than 1048576 bytes in all"},
		{"too long a key and an issuer", "{event: In, emit: [{effect: pay.back, issuer: '{{ repeat(key, 600000) }}', key: '{{ repeat(key, 600000) }}'}]}", "limit_exceeded", "its output takes more than 1048576 bytes in all"},
		{"too many long issuers", "{event: In, emit: " + repeat(60, "{effect: pay.back, issuer: '{{ repeat(key, 20000) }}'}") + "}", "limit_exceeded", "its output takes more than 1048576 bytes in all"},
		{"too long a note", "{event: In, set: {n: 1, log: [], big: '{{ repeat(key, 600000) }}'}, note: {said: '{{ state.big }}'}}", "limit_exceeded", "its output takes more than 1048576 bytes in all"},
		{"a raised message with too long a key", "{event: In, raise: [{event: Out, value: {id: '{{ repeat(key, 4096) }}', text: a}}]}", "output_invalid", `raise[0] Out: /id: is the key of machine "hears" and must have at most 4096 bytes`},
		{"too much work", "{event: In, when: '{{ len(filter(0..3000, any(0..3000, # < 0))) > 0 }}'}", "limit_exceeded", "when: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, failure := step(machineOf(t, c.rule), state(1), in(2))
			require.Nil(t, out)
			require.NotNil(t, failure)
			require.Equal(t, c.code, failure.Code)
			require.True(t, strings.HasPrefix(failure.Message, c.message), failure.Message)
		})
	}
	t.Run("at the limits", func(t *testing.T) {
		w := machineOf(t, "{event: In, emit: "+repeat(64, "{effect: pay.back}")+", raise: "+repeat(256, "{event: Note, value: {said: a}}")+", set: {n: 1, log: [], big: '{{ repeat(key, 1000000) }}'}}")
		out, failure := step(w, state(1), in(2))
		require.Nil(t, failure)
		require.Len(t, out.Emitted, 64)
		require.Len(t, out.Raised, 256)
	})
	t.Run("work in all", func(t *testing.T) {
		var meter expr.Meter
		meter.Bound(1000)
		w := machineOf(t, "{event: In, when: '{{ len(filter(1..2000, # > event.n)) > 0 }}', set: {n: '{{ event.n }}', log: []}}")
		_, failure := w.Step(&machine.Input{Machine: w.Machine("m"), Key: "k", Event: in(1)}, &meter)
		require.Equal(t, machine.CodeLimitExceeded, failure.Code)
	})
}

func TestAMachineThatTheProgramDoesNotHave(t *testing.T) {
	w := load(t, "{kind: World, name: w, machines: {m: {key: text, state: unit, event: [], emits: [], go: {name: order, version: '3'}}}}")
	_, failure := step(w, nil, in(1))
	require.Equal(t, &machine.Failure{Code: "step_failed", Message: `the program does not have machine "order", version "3"`}, failure)
}

// The state of a machine need not be a record: it is then the value of set, and the fields of a map are laid over it.
func TestStatesWithoutFields(t *testing.T) {
	for _, c := range []struct {
		state, set   string
		before, want value.Value
	}{
		{"int", "'{{ (state ?? 1) + 1 }}'", nil, int64(2)},
		{"int", "7", int64(1), int64(7)},
		{"list<int>", "[1, '{{ len(state) }}']", []any{int64(5)}, []any{int64(1), int64(1)}},
		{"map<text, int>", "{b: 2}", map[string]any{"a": int64(1)}, map[string]any{"a": int64(1), "b": int64(2)}},
		{"{variant: {A: int, B: unit}}", "{A: '{{ event.n }}'}", nil, map[string]any{"$tag": "A", "$value": int64(3)}},
		{"{variant: {A: int, B: unit}}", "{B: null}", map[string]any{"$tag": "A", "$value": int64(3)}, map[string]any{"$tag": "B", "$value": nil}},
	} {
		w := load(t, fmt.Sprintf("{kind: World, name: w, types: {In: {record: {id: text, n: int}}}, machines: {m: {key: text, state: %s, event: [In], emits: [], rules: [{event: In, set: %s}]}}}",
			strings.NewReplacer("map<text, int>", "'map<text, int>'").Replace(c.state), c.set))
		out, failure := step(w, c.before, in(3))
		require.Nil(t, failure, c.state)
		require.True(t, out.Changed)
		require.Equal(t, c.want, out.State, c.state)
	}
}

func TestThePayloadOfAReceipt(t *testing.T) {
	w := load(t, "{kind: World, name: w, effects: {all: {params: unit, receipt: {record: {n: nat}}}, part: {params: unit, receipt: nat, payload: '{{ output.body.n }}'}}, machines: {}}")
	var meter expr.Meter
	v, err := w.Effect("all").Receive(map[string]any{"n": 7.0}, &meter)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"n": int64(7)}, v)
	bad := map[string]any{"n": int64(-1)}
	v, err = w.Effect("all").Receive(bad, &meter)
	require.EqualError(t, err, "/n: must be at least 0")
	require.Equal(t, bad, v, "as it came")
	require.Zero(t, meter.Spent())

	v, err = w.Effect("part").Receive(map[string]any{"status": int64(200), "body": map[string]any{"n": int64(3)}}, &meter)
	require.NoError(t, err)
	require.Equal(t, int64(3), v)
	require.Positive(t, meter.Spent())
	v, err = w.Effect("part").Receive(map[string]any{"body": map[string]any{"n": "x"}}, nil)
	require.EqualError(t, err, "must be an integer, not a text")
	require.Equal(t, "x", v, "what the expression gave")
	v, err = w.Effect("part").Receive("text", nil)
	require.Error(t, err)
	require.Equal(t, "text", v)
}
