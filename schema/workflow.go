package schema

var command = &Shape{name: "command", text: "Runs a program: `argv` or `shell`. [Results and errors](errors.md) describes its result.",
	rule: oneOf(hasSuch("argv", someItems), hasSuch("shell", someText)), keys: []Key{
		key("argv", list(argument), "program and arguments, each a separate value; each may have expressions", `[wc, -c, "{{ input.file }}"]`).withDefaultText("needed unless there is `shell`"),
		key("shell", text.narrowed("text", map[string]any{"type": "string", "not": map[string]any{"pattern": `\{\{`}}), "a script for `sh`, without expressions: pass values in `env`", `wc -c < "$FILE"`).withDefaultText("needed unless there is `argv`"),
		key("stdin", anything, "standard input: a text unchanged, any other value as JSON", "{{ input.text }}").withDefaultText("empty"),
		key("env", textMap, "environment variables, in addition to PATH, HOME, LANG, TMPDIR, those that the engine passes on (`--pass-env`), and four about the call: SLUICE_RUN, SLUICE_STEP, SLUICE_ATTEMPT (from 1), and SLUICE_IDEMPOTENCY_KEY, which all attempts of a call share, also after a crash; an expression that returns null sets no variable", `{FILE: "{{ input.file }}"}`).withDefaultText("none"),
		key("dir", text, "the working folder of the program", "{{ input.folder }}").withDefaultText("the engine's folder"),
		key("output", choice("text", "json", "lines"), "the step's output: standard output as a text without its last newline, as JSON, or as a list of lines", "json").
			withDefaultText("`{exit_code, stdout, stderr}`"),
	}}

var http = &Shape{name: "http", text: "Makes one request. [Results and errors](errors.md) describes its result.", keys: []Key{
	key("method", word, "the method", "PUT").withDefaultText("GET; POST with a body"),
	key("url", word, "the URL, with expressions anywhere in it", "{{ participant.endpoint }}/quote").required(),
	key("headers", textMap, "headers; a header with the value null is left out", `{Authorization: "Bearer {{ input.token }}"}`).withDefaultText("`Idempotency-Key`, `User-Agent`, and `Content-Type` of a body that is not a text"),
	key("body", anything, "a text is sent unchanged, any other value as JSON", "{{ input }}").withDefaultText("no body"),
	key("follow_redirects", choice("same_host", "any"), "the redirects that are followed; other hosts receive neither headers nor body", "any").withDefault("same_host"),
}}

var sleep = &Shape{name: "sleep", text: "Completes after a period of time. It holds no thread, and survives a crash.", keys: []Key{
	key("for", text.narrowed("text", anyOf(map[string]any{"type": "string", "pattern": `\{\{`}, duration.rule)), "an ISO 8601 duration, or an expression that returns one", "PT24H").required(),
}}

var wait = &Shape{name: "wait", text: "Completes with the payload of a message: `sluice send`.", keys: []Key{
	key("message", word, "the name of the message; expressions are allowed", "approved-{{ input.order }}").required(),
}}

var child = &Shape{name: "child", text: "Runs another workflow: `path` or `name`. It receives the input of the step.", rule: oneOf(has("path"), has("name")), keys: []Key{
	key("path", word, "a file, relative to this one", "ship.yaml").withDefaultText("needed unless there is `name`"),
	key("name", word, "a workflow that the program has registered", "ship").withDefaultText("needed unless there is `path`"),
}}

var failing = &Shape{name: "fail", text: "Fails. The error is final, unless `retry.on` has its code.", keys: []Key{
	key("code", word, "the code of the error", "incomplete").required(),
	key("message", text, "what happened", "{{ input }} files are missing").withDefaultText("empty"),
}}

var binding = &Shape{name: "binding",
	text: "How an operation is called: exactly one of these keys. Expressions see `input` (the step's), `participant`, `attempt` and `run`.",
	keys: []Key{
		key("command", is(command), "runs a program", "{argv: [date]}").withDefaultText("—"),
		key("http", is(http), "makes an HTTP request", `{url: "http://127.0.0.1:8080"}`).withDefaultText("—"),
		key("sleep", is(sleep), "waits for a period of time", "{for: PT1H}").withDefaultText("—"),
		key("wait", is(wait), "waits for a message", "{message: approved}").withDefaultText("—"),
		key("workflow", is(child), "runs another workflow", "{path: ship.yaml}").withDefaultText("—"),
		key("value", anything, "returns a value, computed from `input`", `{total: "{{ input.price * 2 }}"}`).withDefaultText("—"),
		key("fail", is(failing), "fails", "{code: incomplete}").withDefaultText("—"),
	},
	rule: oneOf(has("command"), has("http"), has("sleep"), has("wait"), has("workflow"), has("value"), has("fail")),
}

var function = &Shape{name: "func", text: "A Go function that the program registers.", keys: []Key{
	key("name", word, "its name", "pick").required(),
	key("args", values, "its arguments, with expressions anywhere in them", `["{{ input }}"]`).withDefaultText("none"),
}}

// Steps contain steps, so their keys are set in init.
var (
	step        = &Shape{name: "step", text: "Calls an operation."}
	sequential  = &Shape{name: "sequential", text: "Runs steps one after the other."}
	parallel    = &Shape{name: "parallel", text: "Runs steps concurrently."}
	conditional = &Shape{name: "conditional", text: "Runs one of two lists of steps. It also catches failures: a step may fail if the test reads its `status`, or another of its fields than `output`."}
	each        = &Shape{name: "map", text: "Runs steps once for each item of a list; they read the position of the item as `index`. The output of an item is the output of its last step; the output of the map is the list of the outputs of its items."}

	element = &Type{name: "step", cases: []oneCase{
		{"sequential", nil, containerStep("sequential", sequential, "{steps: [{operation: a}]}")}, {"parallel", nil, containerStep("parallel", parallel, "{steps: [{operation: a}]}")},
		{"conditional", nil, containerStep("conditional", conditional, "{test: pay, then: [{operation: ship}]}")}, {"map", nil, containerStep("map", each, "{id: pack, over: [1, 2], steps: [{operation: a}]}")}, {"", nil, step},
	}}
	steps = list(element)
)

// containerStep returns the mapping whose one key names a container.
func containerStep(name string, of *Shape, example string) *Shape {
	return &Shape{name: name + "_step", text: of.text, keys: []Key{key(name, is(of), of.text, example).required()}}
}

// id is the name of a step. The reader counts its length in bytes, which are at least as many as its characters.
var id = scalar("text", map[string]any{"type": "string", "pattern": `^[^\s/\[\]#]+$`, "maxLength": 128})

// itemName is the name of the item of a map in expressions. It must have no other meaning in expressions.
var itemName = scalar("text", map[string]any{"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
	"not": map[string]any{"enum": []any{"input", "run", "steps", "index", "participant", "attempt", "true", "false", "null", "nil", "let", "if", "else", "not", "in", "and", "or"}}})

func init() {
	step.rule = all(
		when(has("fan_in"), has("target")),
		when(has("func"), with(map[string]any{"input": isNull})),
		when(not(has("id")), with(map[string]any{"operation": id.rule})),
	)
	conditional.rule = oneOf(has("test"), has("func"))
	each.rule = oneOf(hasSuch("over", notNull), has("func"))
	step.keys = append([]Key{
		key("operation", word, "the operation to call: a name under `operations`, or an operation that the program registers", "charge").required(),
		key("id", id, "the name of the step in expressions; at most 128 bytes, without spaces and / [ ] #", "pay").withDefaultText("the operation"),
		key("func", is(function), "computes the input in Go; not together with `input`", "{name: pick}").withDefaultText("none"),
		key("needs", texts, "ids of steps that must have completed or been skipped, in addition to those that follow from its place and its expressions", "[reserve]").withDefaultText("none"),
	}, callKeys()...)
	sequential.keys = []Key{key("steps", steps, "the steps", "[{operation: a}, {operation: b}]").required()}
	parallel.keys = []Key{
		key("steps", steps, "the steps", "[{operation: a}, {operation: b}]").required(),
		key("max_concurrency", count, "the largest number of calls at a time", "2").withDefaultText("no limit"),
	}
	conditional.keys = []Key{
		key("id", id, "its name in reports", "paid").withDefaultText("none"),
		key("test", word, "one expression that returns true or false; or the id of a step: the test holds if the step has completed", "{{ steps.pay.status == 'completed' }}").withDefaultText("needed unless there is `func`"),
		key("func", is(function), "decides in Go", "{name: enough}").withDefaultText("needed unless there is `test`"),
		key("then", steps, "steps to run if the test holds", "[{operation: ship}]").required(),
		key("else", steps, "steps to run if the test does not hold", "[{operation: apologise}]").withDefaultText("nothing"),
	}
	each.keys = []Key{
		key("id", id, "its name; the keys of items are id[0], id[1], …", "pack").required(),
		key("over", anything, "an expression that returns a list, or a list; at most 100,000 items", "{{ steps.find.output }}").withDefaultText("needed unless there is `func`"),
		key("func", is(function), "returns the list in Go", "{name: files}").withDefaultText("needed unless there is `over`"),
		key("as", itemName, "the name of the item in expressions: letters, digits and underscores, without a digit at the beginning; not `index`, `input`, `run`, `steps`, `participant`, `attempt` or a keyword of the language, such as `if` or `null`", "file").withDefault("item"),
		key("steps", steps.narrowed("", map[string]any{"minItems": 1}), "steps to run for each item; at least one", `[{operation: hash, input: "{{ item }}"}]`).required(),
		key("max_concurrency", count, "the largest number of calls at a time, over all items", "4").withDefaultText("no limit"),
	}
}

// rootKeys are the keys beside the steps of a Workflow and a WorkflowDefinition.
func rootKeys(kind string) []Key {
	return []Key{
		key("kind", choice(kind), "the kind of the document", kind).required(),
		key("name", text.narrowed("text", map[string]any{"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,499}$"}), "at most 500 of a-z, 0-9, dots, dashes and underscores, with a letter or a digit at the beginning", "archive").required(),
		key("version", text, "for people; a workflow is identified by the hash of its document", "1.2.0").withDefaultText("none"),
		key("input", either(free, boolean), "a JSON Schema of the run's input", "{type: object, required: [id]}").withDefaultText("anything"),
		key("deadline", duration, "how long a run may take from its first call on, pauses included; then it ends as `deadline_exceeded`", "PT1H").withDefaultText("no limit"),
		key("failure_policy", choice("continue-running", "abort-dependents", "abort-all"),
			"effect of a final failure on running steps: none; abort the steps that depend on it; or end the run", "abort-all").withDefault("continue-running"),
		key("max_concurrency", count, "the largest number of calls of the run at a time", "8").withDefaultText("no limit"),
		key("operations", mapOf(is(binding)), "how operations are called, by name", "{pay: {command: {argv: [./pay]}}}").withDefaultText("the operations that the program registers"),
		key("directory", is(directory), "the participants that can be targeted", "{participants: {hill: {}}}").withDefaultText("the program's directory"),
		key("output", anything, "the output of the run, with expressions anywhere in it", "{{ steps.pay.output }}").withDefaultText("none"),
	}
}

var workflowKind = Kind{Name: "Workflow", file: "workflow", title: "Workflow",
	text: "A workflow is a tree of steps. Order comes from the tree, from `needs`, and from the values that expressions read. " +
		"Durations are shorter than 292 years.\n\n" +
		"Expressions stand in `{{ … }}`, in the language of [package expr](../template/expr/doc.go). A text that consists of one expression has the type of its " +
		"value; in any other text, the values become part of the text. Expressions see:\n\n" +
		"- `input`, the input of the run\n" +
		"- `run.id`, `run.name` and `run.started_at`, an RFC 3339 time\n" +
		"- `steps.ID.output`, `.status` and `.error`; `.fulfillment`, which is `none`, `pending`, `fulfilled`, `not_fulfilled` or `error`; and `.reports`, the last " +
		"reports of the newest attempt\n" +
		"- in the steps of a map, the item under the name that `as` sets, and `index`, its position from 0\n\n" +
		"In place of a value, `{from: /steps/ID/output/KEY}` is a JSON pointer to the same values. For a skipped step it returns null, " +
		"or fails with `required: true`.",
	root: &Shape{name: "Workflow", text: "A workflow: a tree of steps.",
		keys: append(rootKeys("Workflow"), key("steps", steps, "steps to run, one after the other", "[{operation: pay}, {operation: ship}]").required())}}

var record = &Shape{name: "record", text: "Calls an operation.",
	rule: all(when(has("fan_in"), has("target")), when(has("input_from"), with(map[string]any{"input": false}))), keys: append([]Key{
		key("step_id", id, "the name of the step in expressions", "pay").required(),
		key("service_type", word, "the operation that is called", "charge").required(),
		key("depends_on", texts, "ids of steps that must have completed or been skipped; an empty list means none", "[reserve]").withDefaultText("the step before it"),
		key("input_from", either(text, texts), "the id of a step whose output is the input; or several ids: the input is then an object of their outputs; not together with `input`", "[reserve, pay]").withDefaultText("none"),
	}, callKeys()...)}

var workPlan = &Shape{name: "plan", text: "The steps.", keys: []Key{
	key("steps", list(is(record)), "the steps", "[{step_id: pay, service_type: charge}]").required(),
}}

var definitionKind = Kind{Name: "WorkflowDefinition", file: "workflow-definition", title: "Workflow definition",
	text: "A workflow definition is a flat list of steps that name their dependencies. It is read into the same tree as a `Workflow`, and " +
		"has the same hash as an equivalent `Workflow`.",
	root: &Shape{name: "WorkflowDefinition", text: "A workflow, as a flat list of steps.",
		keys: append(rootKeys("WorkflowDefinition"), key("plan", is(workPlan), "the steps", "{steps: [{step_id: pay, service_type: charge}]}").required())}}
