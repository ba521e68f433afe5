package schema

import "slices"

// ofType is a type of values in a world. Types hold types, so what stands in them is set in init.
var (
	ofType     = &Type{name: "type"}
	typeHolder = func(name, text string) *Shape { return &Shape{name: name + "_type", text: text} }
	recordType = typeHolder("record", "An object with exactly these fields.")
	armsType   = typeHolder("variant", "One of several values, each under the name of its arm.")
	listType   = typeHolder("list", "A list.")
	setType    = typeHolder("set", "A list without doubles, in one order.")
	optionType = typeHolder("option", "A value, or null.")
	mapType    = typeHolder("map", "An object with keys of one type.")
	entryType  = typeHolder("map_entry", "The types of a map.")
	namedType  = typeHolder("named", "A declared type.")
	scalarType = typeHolder("scalar", "A type without parts, as it is written elsewhere: `{int: {}}`.")
)

func init() {
	field := func(s *Shape, name string, of *Type, text, example string) {
		s.keys = append(s.keys, key(name, of, text, example).must())
	}
	field(recordType, "record", mapOf(ofType), "types by field", "{id: text}")
	field(armsType, "variant", mapOf(ofType), "types by arm", "{Placed: Placed}")
	field(listType, "list", ofType, "of its items", "text")
	field(setType, "set", ofType, "of its items", "text")
	field(optionType, "option", ofType, "of the value", "text")
	field(mapType, "map", is(entryType), "of its keys and values", "{key: text, value: int}")
	field(entryType, "key", ofType, "int, nat, text, uuid or hash", "text")
	field(entryType, "value", ofType, "of the values", "int")
	field(namedType, "ref", text, "its name", "Order")
	for _, name := range []string{"bool", "int", "nat", "text", "bytes", "time", "duration", "hash", "uuid", "dec128", "unit"} {
		scalarType.keys = append(scalarType.keys, key(name, free, "the type "+name, "{}").orElse("—"))
	}
	cases := []oneCase{{"record", nil, recordType}, {"variant", nil, armsType}, {"list", nil, listType}, {"set", nil, setType},
		{"option", nil, optionType}, {"map", nil, mapType}, {"ref", nil, namedType}, {"", nil, scalarType}}
	ofType.choices = []*Type{text, {name: "type", cases: cases}}
}

// eventType is the name of a type, as NAME or {ref: NAME}.
var eventType = either(text, scalar("{ref: type}", map[string]any{"type": "object", "required": []any{"ref"},
	"properties": map[string]any{"ref": map[string]any{"type": "string"}}, "additionalProperties": false}))

// bindingKeys are those of a binding, in an effect.
func bindingKeys() []Key {
	keys := slices.Clone(binding.keys)
	for i := range keys {
		if keys[i].name == "workflow" {
			keys[i] = key("workflow", anything, "not possible yet", "{path: ship.yaml}").orElse("—")
		}
	}
	return append(keys, key("send", anything, "not possible yet", "{run: ledger}").orElse("—"))
}

// effectCallKeys are those of a call; its input is the params.
func effectCallKeys() []Key {
	return slices.DeleteFunc(callKeys(), func(k Key) bool { return k.name == "input" })
}

var effect = &Shape{name: "effect", text: "What machines can ask for: a call, with the types of what goes out and comes back.", keys: slices.Concat([]Key{
	key("params", ofType, "of what it is called with", "{record: {order: text, cents: nat}}").must(),
	key("receipt", ofType, "of the payload of its receipt", "Charge").must(),
	key("payload", anything, "what of the call's output is the payload; expressions see `output`", "{{ output.body }}").orElse("all of it"),
	key("operation", text, "the operation that is called; not beside a binding", "charge").orElse("the one of the effect's name"),
	key("max_concurrency", count, "how many calls are made at a time, over all cells", "8").orElse("no limit"),
}, effectCallKeys(), bindingKeys())}

var (
	raised = &Shape{name: "raised_event", text: "An event that a rule raises, for those who subscribe to it.", keys: []Key{
		key("event", eventType, "a type", "OrderPaid").must(),
		key("value", anything, "its value; expressions see `state`, the new one, and `was`, the one before", `{order_id: "{{ key }}"}`).orElse("null"),
	}}
	emission = &Shape{name: "emission", text: "An effect that a rule asks for.", keys: []Key{
		key("effect", text, "one of the machine's `emits`", "pay").must(),
		key("params", anything, "of its type; expressions as of a raised event", `{order: "{{ key }}"}`).orElse("null"),
		key("issuer", text, "a name that its receipt has", "card").orElse("none"),
		key("key", text, "an idempotency key: who asks again with it means the same", "{{ state.txn }}").orElse("each call has its own"),
	}}
	arming = &Shape{name: "timer", text: "A timer that a rule arms: `for` or `until`.", keys: []Key{
		key("timer", text, "its name", "deadline").must(),
		key("for", text, "a duration from now", "PT30M").orElse("needed unless there is `until`"),
		key("until", text, "an instant", "2027-01-31T12:00:00Z").orElse("needed unless there is `for`"),
	}}
	emitted    = &Type{name: "emission", cases: []oneCase{{"timer", nil, arming}, {"", nil, emission}}}
	cellFailed = &Shape{name: "cell_failure", text: "Fails the cell; nothing else comes of the activation.", keys: []Key{
		key("code", text, "the code", "overdrawn").must(),
		key("message", text, "what happened", "{{ event.cents }} is too much").orElse("empty"),
	}}
)

var rule = &Shape{name: "rule", text: "What a machine does about an event. The first rule that is about it, and holds, is taken; without one, the event is ignored.", keys: []Key{
	key("event", text, "the name of a message; `pay` or `pay.ISSUER`: a receipt; `timer` or `timer.NAME`; `Receipt`: any; `Rejected`; `Frame`", "timer.deadline").must(),
	key("when", guard, "whether it holds; expressions see `state`, `event`, `key`, `cell` and `now`", "{{ state == null }}").or(true),
	key("set", anything, "fields that are laid over the state, or an expression that gives them", "{status: paying}").orElse("the state stays"),
	key("raise", list(is(raised)), "events", "[{event: OrderPaid}]").orElse("none"),
	key("emit", list(emitted), "effects and timers", "[{effect: pay, params: {}}, {timer: deadline, for: PT30M}]").orElse("none"),
	key("drop", texts, "open effects and timers that the cell gives up, before it emits: `pay`, `pay.ISSUER`, `timer.NAME`", "[timer.deadline]").orElse("none"),
	key("complete", boolean, "true: the cell has ended, and gives up what is open", "true").or(false),
	key("delete", boolean, "true: the state goes; not beside `set`", "true").or(false),
	key("fail", is(cellFailed), "fails the cell; not beside other consequences", "{code: overdrawn}").orElse("it does not fail"),
	key("note", anything, "an annotation, of the type `annotations`", "{by: ann}").orElse("none"),
}}

var (
	migration = &Shape{name: "migration", text: "How a state of the version before becomes one of this.", keys: []Key{
		key("set", free, "fields that are laid over it; expressions see `state`", "{stars: 0}").orElse("none"),
		key("remove", texts, "fields that are gone", "[note]").orElse("none"),
	}}
	goMachine = &Shape{name: "go_machine", text: "A machine that the program registers.", keys: []Key{
		key("name", text, "its name", "order").must(),
		key("version", text, "its version", `"3"`).must(),
	}}
)

var machine = &Shape{name: "machine", text: "A state machine. Each of its cells has a state, and is found by its key.", keys: []Key{
	key("state", ofType, "of each cell", "Order").must(),
	key("event", either(text, list(eventType), free), "what its cells are given: types of messages, `Receipt`, `Rejected`, `Frame`; or a variant whose arms name types", "[OrderPlaced, Rejected]").must(),
	key("emits", texts, "the effects that it may emit, `timer` among them; may be empty", "[pay, timer]").orElse("needed, unless there is `effects_emitted`"),
	key("effects_emitted", texts, "another word for `emits`", "[pay]").orElse("—"),
	key("key", ofType, "of a cell", "text").orElse("one cell, which is addressed by the machine's name"),
	key("key_schema", ofType, "another word for `key`", "text").orElse("—"),
	key("lifecycle", choice("process", "entity"), "a process ends by `complete`; an entity is completed whenever nothing is open", "entity").or("process"),
	key("ttl", duration, "a cell with nothing open or held is deleted so long after its last activity", "P30D").orElse("never"),
	key("indexes", free, "values by which cells can be found; expressions see `state` and `key`", `{status: "{{ state.status }}"}`).orElse("none"),
	key("annotations", ofType, "of what rules note", "{record: {by: text}}").orElse("there are no notes"),
	key("context", either(boolean, text), "true: a step is given the context, too", "true").or(false),
	key("migrate", is(migration), "how states of the version before become states of this", "{set: {stars: 0}}").orElse("they must fit"),
	key("rules", list(is(rule)), "what it does", "[{event: OrderPlaced, set: {status: new}}]").orElse("nothing"),
	key("go", is(goMachine), "a machine that the program registers; not beside `rules`", `{name: order, version: "3"}`).orElse("none"),
	key("wasm", anything, "not possible yet", "{path: order.wasm}").orElse("—"),
	key("impl", anything, "another word for `wasm`", "{module: order.wasm}").orElse("—"),
}}

var subscription = &Shape{name: "subscription", text: "Delivers the messages of a type to cells of a machine.", keys: []Key{
	key("event", eventType, "a type", "OrderPlaced").must(),
	key("machine", text, "who hears of it", "order").orElse("needed, or one of its other words"),
	key("workflow", text, "another word for `machine`", "order").orElse("—"),
	key("op", text, "another word for `machine`", "order").orElse("—"),
	key("key_field", text, "the field that is the key, dotted; of a variant below `$value`", "order_id").orElse("needed unless the machine has no key"),
}}

var routing = &Shape{name: "routing", text: "Who hears what.", keys: []Key{
	key("subscriptions", list(is(subscription)), "in the order in which cells are given a message", "[{event: OrderPlaced, machine: order, key_field: order_id}]").orElse("none"),
}}

var worldShape = &Shape{name: "World", text: "A world of state machines.", keys: append(worldRootKeys(),
	key("types", mapOf(ofType), "types by name: `bool int nat text bytes time duration hash uuid dec128 unit`, `{record: …}`, `{variant: …}`, `list<T>`, `set<T>`, `option<T>`, `map<K, V>`, or another name",
		"{Order: {record: {id: text, cents: nat}}}").orElse("none"),
	key("schemas", mapOf(ofType), "another word for `types`", "{Order: {record: {id: text}}}").orElse("—"),
	key("effects", mapOf(is(effect)), "what machines can ask for, by name", "{pay: {params: {record: {cents: nat}}, receipt: unit}}").orElse("none"),
	key("machines", mapOf(is(machine)), "machines by name", "{order: {state: Order, event: [OrderPlaced], emits: []}}").orElse("needed, unless there is `workflows`"),
	key("workflows", mapOf(is(machine)), "another word for `machines`", "{order: {state: Order, event: [OrderPlaced], emits: []}}").orElse("—"),
	key("routing", is(routing), "who hears what", "{subscriptions: [{event: OrderPlaced, machine: order, key_field: order_id}]}").orElse("nobody hears anything"),
)}

// worldRootKeys are the keys that a world has in common with workflows.
func worldRootKeys() []Key {
	shared := []string{"kind", "name", "version", "max_concurrency", "operations", "directory"}
	return slices.DeleteFunc(rootKeys("World"), func(k Key) bool { return !slices.Contains(shared, k.name) })
}

var worldKind = Kind{Name: "World", file: "world", title: "World",
	text: "A world is a set of machines: each has cells, one for each key, which take messages one at a time, ask for effects and are told what came of them. " +
		"Its run lives until it is cancelled.",
	root: worldShape}
