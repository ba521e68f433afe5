package schema

import "slices"

// typeOf is a type of values in a world. Package template/schema reads it.
var typeOf = scalar("type", map[string]any{"type": []any{"string", "object"}})

// worldCallKeys returns the keys of an effect about its call. The params are the input of the call.
func worldCallKeys() []Key {
	keys := slices.DeleteFunc(slices.Concat(callKeys(), binding.keys), func(k Key) bool { return k.name == "input" || k.name == "workflow" })
	for i := range keys {
		if keys[i].name == "wait" {
			keys[i].text = "no effect: the messages to a world go to its cells, and answer no call"
		}
	}
	return keys
}

var effect = &Shape{name: "effect", text: "A call that machines can request. One of the keys of a [binding](workflow.md#binding), or `operation`, " +
	"defines how it is made. Expressions in a binding see the params as `input`.",
	rule: when(has("fan_in"), has("target")),
	keys: append([]Key{
		key("params", typeOf, "the type of its params", "{record: {order: text, cents: nat}}").required(),
		key("receipt", typeOf, "the type of the payload of a receipt with the status `ok`", "{record: {txn: text}}").required(),
		key("operation", text, "the operation that is called; not together with a binding", "shop.pay").withDefaultText("the operation with the effect's name"),
		key("payload", anything, "the payload of the receipt, computed from the call's `output`", "{{ output.body }}").withDefaultText("the whole output"),
		key("max_concurrency", count, "the largest number of calls at a time, over all cells", "8").withDefaultText("no limit"),
	}, worldCallKeys()...)}

var (
	raised = &Shape{name: "raise", text: "Sends a message to all its subscribers.", keys: []Key{
		key("event", either(text, free), "its type", "OrderPaid").required(),
		key("value", anything, "its payload, with expressions anywhere in it", `{order_id: "{{ key }}"}`).withDefaultText("null"),
	}}
	emitted = &Shape{name: "emit", text: "Requests an effect.", keys: []Key{
		key("effect", text, "its name", "pay").required(),
		key("params", anything, "its params, with expressions anywhere in them", `{order: "{{ key }}"}`).withDefaultText("null"),
		key("issuer", text, "a text that the receipt repeats", "card").withDefaultText("none"),
		key("key", text, "an idempotency key: the operation receives the same key again if the cell requests the effect again with it", "{{ key }}-1").withDefaultText("made for each emission"),
	}}
	armed = &Shape{name: "timer", text: "Arms a timer: `for` or `until`.", keys: []Key{
		key("timer", text, "its name", "deadline").required(),
		key("for", text, "how long: an ISO 8601 duration, or an expression that returns one", "PT30M").withDefaultText("needed unless there is `until`"),
		key("until", text, "an instant, or an expression that returns one", "2027-01-31T12:00:00Z").withDefaultText("needed unless there is `for`"),
	}}
	cellFailure = &Shape{name: "cell_failure", text: "Fails the cell.", keys: []Key{
		key("code", text, "the code of the failure; expressions are allowed", "overdrawn").required(),
		key("message", text, "for people; expressions are allowed", "{{ key }} has too little").withDefaultText("none"),
	}}
	machineRule = &Shape{name: "rule", text: "The consequences of an event. The first rule of a machine that matches the event and holds applies. " +
		"[Package machine](../template/machine/doc.go) describes the names that expressions see.", keys: []Key{
		key("event", text, "a message, or the type of an arm; `pay` or `pay.ISSUER` for a receipt; `timer` or `timer.NAME`; `Receipt` for any receipt; `Rejected`; `Frame`", "OrderPlaced").required(),
		key("when", guard, "a guard", "{{ state == null }}").withDefaultText("it always holds"),
		key("set", anything, "fields that replace those of the state, computed from the previous state; or an expression that returns them", `{status: paid}`).withDefaultText("nothing"),
		key("raise", list(is(raised)), "messages", `[{event: OrderPaid, value: {order_id: "{{ key }}"}}]`).withDefaultText("none"),
		key("emit", list(&Type{name: "effect or timer", cases: []oneCase{{"timer", nil, armed}, {"", nil, emitted}}}), "effects and timers", "[{timer: deadline, for: PT30M}]").withDefaultText("none"),
		key("drop", texts, "open intents for which the cell no longer waits: `pay`, `pay.ISSUER`, `timer.NAME`", "[timer.deadline]").withDefaultText("none"),
		key("complete", boolean, "true: the cell ends", "true").withDefault(false),
		key("delete", boolean, "true: the state is deleted", "true").withDefault(false),
		key("fail", is(cellFailure), "fails the cell, without other consequences", "{code: overdrawn}").withDefaultText("—"),
		key("note", anything, "an annotation, of the type `annotations`", "{text: paid}").withDefaultText("none"),
	}}
	migration = &Shape{name: "migrate", text: "Adapts states of the previous version.", keys: []Key{
		key("set", free, "fields that are added to the state or replaced; expressions see `state`", "{txn: null}").withDefaultText("nothing"),
		key("remove", texts, "fields that are removed", "[note]").withDefaultText("none"),
	}}
	goMachine = &Shape{name: "go", text: "A machine that the program registers.", keys: []Key{
		key("name", text, "its name", "order").required(),
		key("version", text, "its version", "v3").required(),
	}}
	stateMachine = &Shape{name: "machine", text: "A state machine: `rules`, or `go`. Each of its cells has a state, and takes one event at a time.",
		rule: map[string]any{"anyOf": []any{has("emits"), has("effects_emitted")}}, keys: []Key{
			key("key", typeOf, "the type of the keys of its cells", "text").withDefaultText("the machine has one cell"),
			key("state", typeOf, "the type of their state", "Order").required(),
			key("event", either(text, free, list(either(text, free))), "a list of types, a record type, or a variant whose arms name types", "[OrderPlaced, Rejected]").required(),
			key("emits", texts, "effects that it may emit; the list may be empty", "[pay, timer]").withDefaultText("needed"),
			key("lifecycle", choice("process", "entity"), "a process ends by `complete`; an entity is completed whenever nothing is open", "entity").withDefault("process"),
			key("ttl", duration, "how long after its last activity a cell with nothing open is deleted", "P30D").withDefaultText("never"),
			key("indexes", mapOf(anything), "values for finding cells, by name of the index; expressions see `state` and `key`", `{status: "{{ state.status }}"}`).withDefaultText("none"),
			key("annotations", typeOf, "the type of the notes of rules (`note`)", "Remark").withDefaultText("no notes"),
			key("context", either(boolean, choice("sys/WorkflowContext@1")), "true: the step also receives a context", "true").withDefault(false),
			key("migrate", is(migration), "adapts states of the previous version", "{set: {txn: null}}").withDefaultText("nothing"),
			key("rules", list(is(machineRule)), "the consequences of events", "[{event: OrderPlaced, set: {status: placed}}]").withDefaultText("every event is ignored"),
			key("go", is(goMachine), "in place of rules", "{name: order, version: \"3\"}").withDefaultText("—"),
			key("wasm", free, "in place of rules; cannot be run yet", "{path: order.wasm, entrypoint: step}").withDefaultText("—"),
			key("impl", free, "another name for `wasm`", "{module: order.wasm, entrypoint: step}").withDefaultText("—"),
			key("key_schema", typeOf, "another name for `key`", "text").withDefaultText("—"),
			key("effects_emitted", texts, "another name for `emits`", "[pay]").withDefaultText("—"),
		}}
	subscription = &Shape{name: "subscription", text: "The machine that receives a message, and its cells.",
		rule: map[string]any{"anyOf": []any{has("machine"), has("workflow"), has("op")}}, keys: []Key{
			key("event", either(text, free), "the type of the message", "OrderPlaced").required(),
			key("machine", text, "the machine", "order").withDefaultText("needed"),
			key("key_field", text, "the field with the key of the cell, as a dotted path; `$value.FIELD` is a field of the arms of a variant", "order_id").withDefaultText("needed if the machine has a key"),
			key("workflow", text, "another name for `machine`", "order").withDefaultText("—"),
			key("op", text, "another name for `machine`", "order").withDefaultText("—"),
		}}
	subscriptions = &Shape{name: "routing", text: "The machines that receive messages.", keys: []Key{
		key("subscriptions", list(is(subscription)), "in the order of delivery", "[{event: OrderPlaced, machine: order, key_field: order_id}]").withDefaultText("none"),
	}}
)

// worldRootKeys returns the keys of a world that other documents have, too.
func worldRootKeys() []Key {
	return slices.DeleteFunc(rootKeys("World"), func(k Key) bool {
		return !slices.Contains([]string{"kind", "name", "version", "max_concurrency", "operations", "directory"}, k.name)
	})
}

var worldKind = Kind{Name: "World", file: "world", title: "World",
	text: "A world has state machines, each with many cells: entities that take events one at a time, request effects, and receive their results. " +
		"[Package machine](../template/machine/doc.go) describes how rules are evaluated and the names that expressions see, with an example of all " +
		"keys; [package schema](../template/schema/doc.go) describes types and the normal form of values." + worldTables,
	root: &Shape{name: "World", text: "State machines with effects and receipts.",
		rule: map[string]any{"anyOf": []any{has("machines"), has("workflows")}},
		keys: append(worldRootKeys(),
			key("keychain", list(secret), "sources of the secrets that `http` and `command` read as `keychain.NAME.KEY`", "[{name: shop, kind: env, data: {token: SHOP_TOKEN}}]").withDefaultText("no secrets"),
			key("types", mapOf(typeOf), "declared types, by name", "{OrderPlaced: {record: {order_id: text}}}").withDefaultText("none"),
			key("effects", mapOf(is(effect)), "effects that machines can request, by name; timers need no declaration", "{pay: {params: text, receipt: unit}}").withDefaultText("none"),
			key("machines", mapOf(is(stateMachine)), "the machines, by name", "{order: {key: text, state: Order, event: [OrderPlaced], emits: []}}").withDefaultText("needed"),
			key("routing", is(subscriptions), "the machines that receive each message", "{subscriptions: [{event: OrderPlaced, machine: order, key_field: order_id}]}").withDefaultText("no subscriptions"),
			key("schemas", mapOf(typeOf), "another name for `types`", "{OrderPlaced: {record: {order_id: text}}}").withDefaultText("—"),
			key("workflows", mapOf(is(stateMachine)), "another name for `machines`", "{order: {key: text, state: Order, event: [OrderPlaced], emits: []}}").withDefaultText("—"),
		)}}

// worldTables follows the first paragraph of the reference.
const worldTables = `

A cell has the first of these statuses that applies:

| status | |
|---|---|
| ` + "`failed`" + ` | an activation returned an invalid result, or a rule failed it; until it is retried |
| ` + "`waiting`" + ` | an effect or a timer is open |
| ` + "`running`" + ` | it has mail, or is a process that has not completed |
| ` + "`completed`" + ` | an entity with nothing open, or a process that has completed |

An activation takes effect as a whole, or fails its cell with the code of the rule or one of these codes:

| code | |
|---|---|
| ` + "`effect_undeclared`" + ` | it emits an effect that is not in the emits of its machine |
| ` + "`params_invalid`" + ` | params do not fit their effect |
| ` + "`output_invalid`" + ` | a state, a message, a timer or a note does not fit its type |
| ` + "`limit_exceeded`" + ` | its output is too large, or its expressions take too much work |
| ` + "`step_failed`" + ` | an expression fails, or a step in Go returns an error |
| ` + "`step_panicked`" + ` | a step in Go panics, or ends its goroutine |
| ` + "`step_impure`" + ` | the result of a step in Go differs when it runs a second time |
| ` + "`activation_timeout`" + ` | a step in Go takes longer than the program allows |

| limit of an activation | |
|---|--:|
| effects and timers | 64 |
| messages | 256 |
| bytes of its output | 1048576 |`
