package machine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
)

// doc is a world with more lines at the root, from line 3 on.
func doc(lines ...string) string { return "kind: World\nname: w\n" + strings.Join(lines, "\n") + "\n" }

const (
	types    = "types: {P: {record: {id: text, n: option<nat>}}, Q: {record: {x: int}}, V: {variant: {A: P, B: Q}}, W: {variant: {C: P, D: {ref: P}}}}"
	effects  = "effects: {e: {params: unit, receipt: unit}, e.long: {params: unit, receipt: unit}}"
	someBody = "state: {record: {s: text}}, event: [P], emits: []"
)

// rule is a world of one machine with the rules given, from column 3 of line 7 on.
func rule(lines ...string) string {
	return doc(types, effects, "machines:", "  m: {state: {record: {s: text}}, event: [P, Rejected], emits: [e, timer], rules: [", "  "+strings.Join(lines, ",\n  ")+"]}")
}

// effect is a world with one effect, from column 15 of line 3 on.
func effect(text string) string {
	return doc("effects: {x: "+text+"}", "operations: {child: {workflow: {path: x.yaml}}, x: {sleep: {for: PT1S}}}", "machines: {m: {state: unit, event: [], emits: []}}")
}

// one is a world with one machine, from column 15 of line 5 on.
func one(text string) string { return doc(types, effects, "machines: {m: "+text+"}") }

// routing is a world with subscriptions, from line 9 on.
func routing(lines ...string) string {
	return doc(types, "machines:", "  k: {key: nat, state: unit, event: [P, V], emits: []}", "  v: {key: text, state: unit, event: V, emits: []}",
		"  u: {state: unit, event: [P], emits: []}", "routing: {subscriptions: [", strings.Join(lines, ",\n"), "]}")
}

func refusal(text string) string {
	known := template.Known{Operations: []string{"e", "e.long", "call"}, Operation: func(name string) bool { return name == "e" || name == "e.long" || name == "call" }}
	checked, err := machine.Load("w.yaml", []byte(text), known)
	if err == nil {
		return ""
	}
	if checked != nil {
		return "there is a workflow beside " + err.Error()
	}
	return err.Error()
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing but a kind", "kind: World\n", []string{
			`w.yaml:1:1: machines: machines is missing`,
			`w.yaml:1:1: name: name is missing`,
		}},
		{"no mapping", "[]\n", []string{`w.yaml:1:1: the document must be a mapping, not a list`}},
		{"another kind", "kind: Playbook\nnmae: 1\n", []string{`w.yaml:1:7: kind: kind must be World, not "Playbook"`}},
		{"misspelt keys", "kind: World\nname: w\nmahcines: {}\neffcets: {}\nrouting: {subscription: []}\n", []string{
			`w.yaml:3:1: mahcines: unknown key "mahcines" (did you mean "machines"?)`,
			`w.yaml:4:1: effcets: unknown key "effcets" (did you mean "effects"?)`,
			`w.yaml:5:11: routing.subscription: unknown key "subscription" (did you mean "subscriptions"?)`,
		}},
		{"keys of other kinds", doc("machines: {}", "steps: []", "input: {}"), []string{
			`w.yaml:4:1: steps: unknown key "steps"`,
			`w.yaml:5:1: input: unknown key "input"`,
		}},
		{"secrets", doc("machines: {}", "keychain: [{name: bank, kind: env, data: {token: T}}, {name: bank, kind: fil, data: {x: Y}}, 5]",
			"effects:",
			`  pay: {params: text, receipt: unit, http: {url: "{{ keychain.bnk.token }}", body: "{{ keychain.bank.tokn }}"}}`,
			`  ask: {params: text, receipt: unit, http: {url: "{{ keychain.bank }}", headers: {A: "{{ keychain[input].token }}"}}}`,
			`  say: {params: text, receipt: unit, value: "{{ keychain.bank.token }}", payload: "{{ keychain.bank.token }}"}`), []string{
			`w.yaml:4:62: keychain[1].name: duplicate keychain entry "bank", first at keychain[0].name`,
			`w.yaml:4:74: keychain[1].kind: kind must be one of env, file, http, not "fil" (did you mean "file"?)`,
			`w.yaml:4:94: keychain[2]: keychain[2] must be a mapping, not an integer`,
			`w.yaml:6:50: effects.pay.http.url: the keychain has no entry "bnk" (did you mean "bank"?)`,
			`w.yaml:6:84: effects.pay.http.body: keychain entry "bank" has no "tokn" (did you mean "token"?)`,
			`w.yaml:7:50: effects.ask.http.url: a secret is read by its name and key, written out: keychain.bank.key`,
			`w.yaml:7:82: effects.ask.http.headers: a secret is read by its name and key, written out: keychain.name.key`,
			`w.yaml:8:45: effects.say.value: unknown name "keychain"; known here: attempt, input, participant, run`,
			`w.yaml:8:83: effects.say.payload: unknown name "keychain"; known here: output`,
		}},
		{"values of another kind", doc("types: 1", "effects: []", "machines: x", "routing: {subscriptions: {}}"), []string{
			`w.yaml:3:8: types: types must be a mapping from names to types, not an integer`,
			`w.yaml:4:10: effects: effects must be a mapping, not a list`,
			`w.yaml:5:11: machines: machines must be a mapping, not a string: "x"`,
			`w.yaml:6:26: routing.subscriptions: subscriptions must be a list, not a mapping`,
		}},
		{"two spellings at once", doc("types: {}", "schemas: {}", "machines: {}", "workflows: {m: {state: unit, event: [], emits: [], effects_emitted: [], key: text, key_schema: text}}"), []string{
			`w.yaml:4:10: schemas: schemas is another word for types: write one of them`,
			`w.yaml:6:12: workflows: workflows is another word for machines: write one of them`,
		}},
		{"types", doc("types:", "  T: {record: {a: Txt}}", "  L: {record: {l: list<L>}}", "  M: {map: {key: bool, value: int}}", "  timer: text", "  Receipt: text", "  sys/EffectStreamFrame@1: text", "machines: {}"), []string{
			`w.yaml:4:19: types.T.record.a: unknown type "Txt" (did you mean "text"?)`,
			`w.yaml:5:3: types.L: recursive type "L": a value would have no end, so let it hold a key of the other`,
			`w.yaml:6:3: types.M: map keys must be int, nat, text, uuid or hash, not bool`,
			`w.yaml:7:3: types.timer: "timer" is a type and an effect`,
			`w.yaml:8:3: types.Receipt: type "Receipt" is built in: give it another name`,
			`w.yaml:9:3: types["sys/EffectStreamFrame@1"]: type "sys/EffectStreamFrame@1" is built in: give it another name`,
		}},
		{"an effect called timer", doc("effects: {timer: {params: unit, receipt: unit, operation: call}}", "machines: {}"), []string{`w.yaml:3:11: effects.timer: an effect cannot be called timer`}},
		{"a type and an effect", doc("types: {call: text}", "effects: {call: {params: unit, receipt: unit}}", "machines: {}"), []string{`w.yaml:4:11: effects.call: "call" is a type and an effect`}},
		{"an effect called as an event of the engine", doc("effects: {Frame: {params: unit, receipt: unit, operation: call}}", "machines: {}"), []string{
			`w.yaml:3:11: effects.Frame: "Frame" is an event of the engine and cannot be an effect`,
		}},
		{"names", doc("effects: {a b: {params: unit, receipt: unit}}", "machines: {'a[': {}}"), []string{
			`w.yaml:3:11: effects["a b"]: invalid name "a b": a name has no spaces and none of [ ] #`,
			`w.yaml:4:12: machines["a["]: invalid name "a[": a name has no spaces and none of [ ] #`,
		}},
		{"an effect without types", effect("{operation: call}"), []string{
			`w.yaml:3:14: effects.x.params: params is missing`,
			`w.yaml:3:14: effects.x.receipt: receipt is missing`,
		}},
		{"keys of an effect", effect("{params: Nope, recipt: unit, payload: '{{ input }}', operation: call, max_concurrency: 0}"), []string{
			`w.yaml:3:23: effects.x.params: unknown type "Nope"`,
			`w.yaml:3:29: effects.x.recipt: unknown key "recipt" (did you mean "receipt"?)`,
			`w.yaml:3:52: effects.x.payload: unknown name "input"; known here: output`,
			`w.yaml:3:101: effects.x.max_concurrency: max_concurrency must be at least 1, not 0`,
		}},
		{"an unknown operation", effect("{params: unit, receipt: unit, operation: cal}"), []string{
			`w.yaml:3:55: effects.x.operation: unknown operation "cal" (did you mean "call"?)`,
		}},
		{"an effect that is to be taken in time", effect("{params: unit, receipt: unit, operation: call, timing: {queue_timeout: PT5M}}"), []string{
			`w.yaml:3:85: effects.x.timing.queue_timeout: queue_timeout is for steps: an effect waits until a worker takes it: "PT5M"`,
		}},
		{"an effect that is skipped", effect("{params: unit, receipt: unit, operation: call, timing: {timeout: PT1S, on_timeout: skip}, fulfillment: {policy: output_match, result_match: {path: /a, fulfilled_values: [1]}, on_not_fulfilled: skip, on_error: skip}}"), []string{
			`w.yaml:3:97: effects.x.timing.on_timeout: on_timeout cannot be skip: the emitting cell waits for a receipt`,
			`w.yaml:3:207: effects.x.fulfillment.on_not_fulfilled: on_not_fulfilled cannot be skip: the emitting cell waits for a receipt`,
			`w.yaml:3:223: effects.x.fulfillment.on_error: on_error cannot be skip: the emitting cell waits for a receipt`,
		}},
		{"an effect bound to a workflow", effect("{params: unit, receipt: unit, workflow: {path: a.yaml}}"), []string{
			`w.yaml:3:54: effects.x.workflow: an effect cannot have the binding workflow yet: bind it to an operation`,
		}},
		{"an effect bound to an operation that is a workflow", effect("{params: unit, receipt: unit, operation: child}"), []string{
			`w.yaml:3:55: effects.x.operation: an effect cannot have the binding workflow yet: operation "child" is bound to one`,
		}},
		{"an effect bound to send", effect("{params: unit, receipt: unit, send: {run: other}}"), []string{
			`w.yaml:3:50: effects.x.send: an effect cannot have the binding send yet: bind it to an operation`,
		}},
		{"an effect with a binding and an operation", effect("{params: unit, receipt: unit, http: {url: x}, operation: call}"), []string{
			`w.yaml:3:71: effects.x.operation: operation cannot be combined with http: "call"`,
		}},
		{"an effect with two bindings", doc("effects: {x: {params: unit, receipt: unit, http: {url: '{{ inptu }}'}, sleep: {for: PT1S}}}", "machines: {}"), []string{
			`w.yaml:3:14: effects.x: operation "x" must have one of command, http, sleep, wait, workflow, value, fail`,
			`w.yaml:3:56: effects.x.http.url: unknown name "inptu" (did you mean "input"?)`,
		}},
		{"a binding of a name that is taken", effect("{params: unit, receipt: unit, sleep: {for: PT1S}}"), []string{
			`w.yaml:3:51: effects.x.sleep: effect "x" has a binding, and operations has one of that name too`,
		}},
		{"a machine without all", one("{}"), []string{
			`w.yaml:5:15: machines.m.emits: machine "m": emits is missing`,
			`w.yaml:5:15: machines.m.event: event is missing`,
			`w.yaml:5:15: machines.m.state: state is missing`,
		}},
		{"a machine with other words for one key", one("{state: unit, event: [], emits: [], effects_emitted: [], key: text, key_schema: text}"), []string{
			`w.yaml:5:68: machines.m.effects_emitted: effects_emitted is another word for emits: write one of them`,
			`w.yaml:5:95: machines.m.key_schema: key_schema is another word for key: write one of them`,
		}},
		{"emits", one("{state: unit, event: [P], emits: [e, e, ee, 1, timer, timer]}"), []string{
			`w.yaml:5:52: machines.m.emits[1]: machine "m": emits names an effect twice: "e"`,
			`w.yaml:5:55: machines.m.emits[2]: unknown effect "ee" (did you mean "e"?)`,
			`w.yaml:5:59: machines.m.emits[3]: emits[3] must be a string, not an integer`,
			`w.yaml:5:69: machines.m.emits[5]: machine "m": emits names an effect twice: "timer"`,
		}},
		{"no arm for receipts, in a record", one("{state: unit, event: P, emits: [e]}"), []string{
			`w.yaml:5:36: machines.m.event: machine "m" emits "e", and its event has no arm for receipts`,
		}},
		{"no arm for receipts, beside other faults", one("{state: unit, event: {variant: {A: P, B: P, C: text, D: Pp}}, emits: [ee, e.long, e.long]}"), []string{
			`w.yaml:5:36: machines.m.event: machine "m" emits "e.long", and its event has no arm for receipts`,
			`w.yaml:5:36: machines.m.event: machine "m": arm "C" of its event must name a type`,
			`w.yaml:5:36: machines.m.event: machine "m": two arms of its event have the same type`,
			`w.yaml:5:71: machines.m.event.variant.D: unknown type "Pp" (did you mean "P"?)`,
			`w.yaml:5:85: machines.m.emits[0]: unknown effect "ee" (did you mean "e"?)`,
			`w.yaml:5:97: machines.m.emits[2]: machine "m": emits names an effect twice: "e.long"`,
		}},
		{"no arm for receipts, of an effect that there is not", one("{state: unit, event: P, emits: [ee]}"), []string{
			`w.yaml:5:36: machines.m.event: machine "m" emits "ee", and its event has no arm for receipts`,
			`w.yaml:5:47: machines.m.emits[0]: unknown effect "ee" (did you mean "e"?)`,
		}},
		{"whatever the arms of an unknown type are", one("{state: unit, event: Pp, emits: [e]}"), []string{
			`w.yaml:5:36: machines.m.event: unknown type "Pp" (did you mean "P"?)`,
		}},
		{"a growth of delays by another name", effect("{params: unit, receipt: unit, timing: {retry: {max_attempts: 2, multiplier: 2}}}"), []string{
			`w.yaml:3:78: effects.x.timing.retry.multiplier: unknown key "multiplier" (did you mean "backoff_multiplier"?)`,
		}},
		{"a growth of delays by a misspelt name", effect("{params: unit, receipt: unit, timing: {retry: {multiplir: 2, attempts: 3, max_atempts: 1}}}"), []string{
			`w.yaml:3:61: effects.x.timing.retry.multiplir: unknown key "multiplir" (did you mean "backoff_multiplier"?)`,
			`w.yaml:3:75: effects.x.timing.retry.attempts: unknown key "attempts" (did you mean "max_attempts"?)`,
			`w.yaml:3:88: effects.x.timing.retry.max_atempts: unknown key "max_atempts" (did you mean "max_attempts"?)`,
		}},
		{"no arm for receipts, in a variant", one("{state: unit, event: V, emits: [timer]}"), []string{
			`w.yaml:5:36: machines.m.event: machine "m" emits "timer", and its event has no arm for receipts`,
		}},
		{"unknown events", one("{state: Sate, event: [P, P, R, {ref: Pp}, 7], emits: []}"), []string{
			`w.yaml:5:23: machines.m.state: unknown type "Sate"`,
			`w.yaml:5:40: machines.m.event[1]: machine "m": two arms of its event have the same type: "P"`,
			`w.yaml:5:43: machines.m.event[2]: unknown type "R"`,
			`w.yaml:5:52: machines.m.event[3].ref: unknown type "Pp" (did you mean "P"?)`,
			`w.yaml:5:57: machines.m.event[4]: an event is the name of a type, not an integer`,
		}},
		{"arms of one type", one("{state: unit, event: W, emits: []}"), []string{
			`w.yaml:5:36: machines.m.event: machine "m": two arms of its event have the same type`,
		}},
		{"an arm without a type", one("{state: unit, event: {variant: {A: P, B: text}}, emits: []}"), []string{
			`w.yaml:5:36: machines.m.event: machine "m": arm "B" of its event must name a type`,
		}},
		{"an event that is no record", doc("types: {T: text}", "machines: {m: {state: unit, event: T, emits: []}}"), []string{
			`w.yaml:4:36: machines.m.event: the event of machine "m" must be a record, a variant or a list of types, not text: "T"`,
		}},
		{"settings of a machine", one("{" + someBody + ", lifecycle: entty, ttl: 30, context: 3, indexes: {i: '{{ event }}'}, annotations: Nt}"), []string{
			`w.yaml:5:78: machines.m.lifecycle: lifecycle must be one of process, entity, not "entty" (did you mean "entity"?)`,
			`w.yaml:5:90: machines.m.ttl: invalid duration "30": write it as PT30S, PT5M or P1DT12H`,
			`w.yaml:5:103: machines.m.context: context must be a boolean, not an integer`,
			`w.yaml:5:119: machines.m.indexes.i: unknown name "event"; known here: key, state`,
			`w.yaml:5:148: machines.m.annotations: unknown type "Nt" (did you mean "int"?)`,
		}},
		{"a migration", one("{" + someBody + ", migrate: {set: {s: 1, t: 2, u: '{{ event }}'}, remove: [s, old], sett: 1}}"), []string{
			`w.yaml:5:86: machines.m.migrate.set.s: s does not fit the state of "m": must be a text, not an integer`,
			`w.yaml:5:89: machines.m.migrate.set.t: the state of machine "m" has no field "t"`,
			`w.yaml:5:95: machines.m.migrate.set.u: the state of machine "m" has no field "u"`,
			`w.yaml:5:98: machines.m.migrate.set.u: unknown name "event"; known here: state`,
			`w.yaml:5:123: machines.m.migrate.remove[0]: migrate removes "s", which is a field of the state of "m"`,
			`w.yaml:5:132: machines.m.migrate.sett: unknown key "sett" (did you mean "set"?)`,
		}},
		{"a migration of a state without fields", one("{state: text, event: [P], emits: [], migrate: {set: {a: 1}}}"), []string{
			`w.yaml:5:61: machines.m.migrate: migrate sets and removes fields, and the state of machine "m" is text`,
		}},
		{"a machine in WebAssembly", one("{" + someBody + ", wasm: {path: m.wasm, entrypoint: step}}"), []string{
			`w.yaml:5:73: machines.m.wasm: machines in WebAssembly are not supported yet: write rules, or go`,
		}},
		{"a machine in WebAssembly, in other words", one("{" + someBody + ", impl: {module: m, entrypont: step}}"), []string{
			`w.yaml:5:73: machines.m.impl: machines in WebAssembly are not supported yet: write rules, or go`,
			`w.yaml:5:85: machines.m.impl.entrypont: unknown key "entrypont" (did you mean "entrypoint"?)`,
		}},
		{"a machine that is written twice", one("{" + someBody + ", rules: [], go: {name: m}}"), []string{
			`w.yaml:5:82: machines.m.go: go cannot be combined with rules`,
			`w.yaml:5:82: machines.m.go.version: version is missing`,
		}},
		{"rules that are none", one("{" + someBody + ", rules: {}}"), []string{
			`w.yaml:5:74: machines.m.rules: rules must be a list, not a mapping`,
		}},
		{"what rules are about", rule("5", "{}", "{event: Pp}", "{event: Q}", "{event: Frame}", "{event: ee.x}", "{event: e.long}", "{event: 3}"), []string{
			`w.yaml:7:3: machines.m.rules[0]: rules[0] must be a mapping, not an integer`,
			`w.yaml:8:3: machines.m.rules[1].event: event is missing`,
			`w.yaml:9:11: machines.m.rules[2].event: unknown type "Pp" (did you mean "P"?)`,
			`w.yaml:10:11: machines.m.rules[3].event: event "Q" is no arm of machine "m"`,
			`w.yaml:11:11: machines.m.rules[4].event: event "Frame" is no arm of machine "m"`,
			`w.yaml:12:11: machines.m.rules[5].event: unknown type "ee.x"`,
			`w.yaml:13:11: machines.m.rules[6].event: event "e.long" is no arm of machine "m"`,
			`w.yaml:14:11: machines.m.rules[7].event: event must be a string, not an integer`,
		}},
		{"guards", rule("{event: P, when: '{{ stat }}'}", "{event: P, when: yes}", "{event: P, when: 1}", "{event: P, when: '{{ was }}'}", "{event: P, when: '{{ steps.a.output }}'}", "{event: P, whn: true}"), []string{
			`w.yaml:7:20: machines.m.rules[0].when: unknown name "stat" (did you mean "state"?)`,
			`w.yaml:8:20: machines.m.rules[1].when: when must be an expression {{ … }} that returns true or false: "yes"`,
			`w.yaml:9:20: machines.m.rules[2].when: when must be an expression, not an integer`,
			`w.yaml:10:20: machines.m.rules[3].when: unknown name "was"; known here: cell, event, key, now, state`,
			`w.yaml:11:20: machines.m.rules[4].when: a world has no steps.a.output: a cell's data is in its state`,
			`w.yaml:12:14: machines.m.rules[5].whn: unknown key "whn" (did you mean "when"?)`,
		}},
		{"what rules set", rule("{event: P, set: {ss: 1, s: '{{ evnt.id }}'}}", "{event: P, complete: 1, delete: yes}", "{event: P, delete: true, set: {s: a}}"), []string{
			`w.yaml:7:20: machines.m.rules[0].set.ss: the state of machine "m" has no field "ss" (did you mean "s"?)`,
			`w.yaml:7:30: machines.m.rules[0].set.s: unknown name "evnt" (did you mean "event"?)`,
			`w.yaml:8:24: machines.m.rules[1].complete: complete must be a boolean, not an integer`,
			`w.yaml:8:35: machines.m.rules[1].delete: delete must be a boolean, not a string: "yes"`,
			`w.yaml:9:33: machines.m.rules[2].set: set cannot be combined with delete`,
		}},
		{"what rules raise", rule("{event: P, raise: {event: P}}", "{event: P, raise: [{event: Pp, vale: 1}, {value: '{{ x }}'}]}", "{event: P, raise: [{event: sys/EffectStreamFrame@1}]}"), []string{
			`w.yaml:7:21: machines.m.rules[0].raise: raise must be a list, not a mapping`,
			`w.yaml:8:30: machines.m.rules[1].raise[0].event: unknown type "Pp" (did you mean "P"?)`,
			`w.yaml:8:34: machines.m.rules[1].raise[0].vale: unknown key "vale" (did you mean "value"?)`,
			`w.yaml:8:44: machines.m.rules[1].raise[1].event: event is missing`,
			`w.yaml:8:52: machines.m.rules[1].raise[1].value: unknown name "x"; known here: cell, event, key, now, state, was`,
			`w.yaml:9:30: machines.m.rules[2].raise[0].event: "sys/EffectStreamFrame@1" is an event of the engine and cannot be raised`,
		}},
		{"what rules emit", rule("{event: P, emit: [{effect: ee}, {effect: e.long}, {effect: timer}, {params: 1}, {effect: e, issuer: '', key: 1}]}"), []string{
			`w.yaml:7:30: machines.m.rules[0].emit[0].effect: unknown effect "ee" (did you mean "e"?)`,
			`w.yaml:7:44: machines.m.rules[0].emit[1].effect: machine "m" emits "e.long", which is not in its emits`,
			`w.yaml:7:62: machines.m.rules[0].emit[2].effect: a timer is armed with {timer: NAME, for: PT30M}`,
			`w.yaml:7:70: machines.m.rules[0].emit[3].effect: effect is missing`,
			`w.yaml:7:103: machines.m.rules[0].emit[4].issuer: issuer must not be empty`,
			`w.yaml:7:112: machines.m.rules[0].emit[4].key: key must be a string, not an integer`,
		}},
		{"timers", rule("{event: P, emit: [{timer: t}, {timer: t, for: 5m}, {timer: t, until: today}, {timer: t, for: PT1S, until: '{{ now }}'}, {timer: '', for: PT1S}, {timer: t, fro: PT1S}]}"), []string{
			`w.yaml:7:21: machines.m.rules[0].emit[0].for: a timer needs for or until`,
			`w.yaml:7:49: machines.m.rules[0].emit[1].for: invalid duration "5m": write it as PT30S, PT5M or P1DT12H`,
			`w.yaml:7:72: machines.m.rules[0].emit[2].until: until must be a time such as 2027-01-31T12:00:00Z: "today"`,
			`w.yaml:7:109: machines.m.rules[0].emit[3].until: until cannot be combined with for`,
			`w.yaml:7:131: machines.m.rules[0].emit[4].timer: a timer must have a name`,
			`w.yaml:7:158: machines.m.rules[0].emit[5].fro: unknown key "fro" (did you mean "for"?)`,
		}},
		{"a timer that is not declared", one("{" + someBody + ", rules: [{event: P, emit: [{timer: t, for: PT1S}], drop: [timer.t]}]}"), []string{
			`w.yaml:5:101: machines.m.rules[0].emit[0].timer: machine "m" emits "timer", which is not in its emits`,
			`w.yaml:5:124: machines.m.rules[0].drop[0]: machine "m" drops "timer", which is not in its emits: "timer.t"`,
		}},
		{"what rules drop", rule("{event: P, drop: [e, e.x, timer, timer.a, nix, e.long.x, 1]}", "{event: P, drop: e}"), []string{
			`w.yaml:7:45: machines.m.rules[0].drop[4]: unknown effect "nix"`,
			`w.yaml:7:50: machines.m.rules[0].drop[5]: machine "m" drops "e.long", which is not in its emits: "e.long.x"`,
			`w.yaml:7:60: machines.m.rules[0].drop[6]: drop[6] must be a string, not an integer`,
			`w.yaml:8:20: machines.m.rules[1].drop: drop must be a list, not a string: "e"`,
		}},
		{"failures and notes", rule("{event: P, fail: {cod: x}}", "{event: P, fail: {code: x}, set: {s: a}, complete: true}", "{event: P, note: x}"), []string{
			`w.yaml:7:21: machines.m.rules[0].fail.cod: unknown key "cod" (did you mean "code"?)`,
			`w.yaml:8:36: machines.m.rules[1].set: set cannot be combined with fail`,
			`w.yaml:8:54: machines.m.rules[1].complete: complete cannot be combined with fail`,
			`w.yaml:9:20: machines.m.rules[2].note: machine "m" has no annotations: declare the type of its notes: "x"`,
		}},
		{"subscriptions", routing("{event: P, machine: uu}", "{event: Pp, machine: u}", "{machine: u}", "{event: P}", "{event: P, machine: u, op: u}", "{event: Q, machine: k}", "{event: Receipt, machine: u}", "5"), []string{
			`w.yaml:9:21: routing.subscriptions[0].machine: unknown machine "uu" (did you mean "u"?)`,
			`w.yaml:10:9: routing.subscriptions[1].event: unknown type "Pp" (did you mean "P"?)`,
			`w.yaml:11:1: routing.subscriptions[2].event: event is missing`,
			`w.yaml:12:1: routing.subscriptions[3].machine: machine is missing`,
			`w.yaml:13:28: routing.subscriptions[4].op: op is another word for machine: write one of them`,
			`w.yaml:14:9: routing.subscriptions[5].event: event "Q" is no arm of machine "k"`,
			`w.yaml:15:9: routing.subscriptions[6].event: event "Receipt" is no arm of machine "u"`,
			`w.yaml:16:1: routing.subscriptions[7]: subscriptions[7] must be a mapping, not an integer`,
		}},
		{"keys of cells", routing("{event: P, machine: k}", "{event: P, machine: u, key_field: id}", "{event: P, machine: k, key_field: id}", "{event: P, machine: k, key_field: idd}",
			"{event: P, machine: k, key_field: n}", "{event: P, machine: k, key_field: n}", "{event: V, machine: k, key_field: n}", "{event: V, machine: v, key_field: $value.id}", "{event: P, machine: k, key_field: 3}"), []string{
			`w.yaml:9:1: routing.subscriptions[0].key_field: machine "k" is keyed: its subscription to "P" needs key_field`,
			`w.yaml:10:35: routing.subscriptions[1].key_field: machine "u" has no key: its subscription to "P" cannot have key_field: "id"`,
			`w.yaml:11:35: routing.subscriptions[2].key_field: key_field "id" is text, and the key of "k" is nat`,
			`w.yaml:12:35: routing.subscriptions[3].key_field: key_field "idd": "P" has no field "idd" (did you mean "id"?)`,
			`w.yaml:14:1: routing.subscriptions[5]: duplicate subscription of "k" to "P"`,
			`w.yaml:15:35: routing.subscriptions[6].key_field: key_field "n": "V" has no field "n" (did you mean "$value.n"?)`,
			`w.yaml:16:35: routing.subscriptions[7].key_field: key_field "$value.id": "V" has no field "$value.id"`,
			`w.yaml:17:35: routing.subscriptions[8].key_field: key_field must be a string, not an integer`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, strings.Join(c.want, "\n"), refusal(c.text))
		})
	}
}
