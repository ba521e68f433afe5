package schema

import "slices"

// seconds is a time in the form of playbooks.
var seconds = scalar("duration > 0: seconds, 30s, 1m30s or PT30S", map[string]any{"type": []any{"number", "string"}, "exclusiveMinimum": 0, "minLength": 1})

var (
	expression = scalar("expression", nil)
	guard      = scalar("expression", map[string]any{"type": []any{"string", "boolean"}})
	mixed      = map[string]any{"type": "string", "pattern": `\{[{%]`}

	// An expression may return a mapping or a list.
	listOf   = either(values, scalar("", mixed)).named("list, or expression")
	objectOf = either(free, scalar("", mixed)).named("mapping, or expression")
)

var callTimeout = &Shape{name: "call_timeout", text: "How long one attempt of a call may take, in parts that are added.", keys: []Key{
	key("connect", seconds, "to connect", "5").withDefaultText("0"),
	key("read", seconds, "to read the answer", "25").withDefaultText("0"),
}}

var resultStore = &Shape{name: "result_store", text: "Where large results are stored: with the run, until it is deleted.", keys: []Key{
	key("kind", text, "for other programs", "auto").withDefaultText("—"),
	key("scope", choice("step", "execution", "workflow", "permanent"), "for other programs", "execution").withDefaultText("—"),
	key("ttl", anything, "no effect: results live as long as their run", "1h").withDefaultText("—"),
	key("compression", anything, "no effect", "gzip").withDefaultText("—"),
}}

var resultSelect = &Shape{name: "result_select", text: "A field of a stored result that stays readable.", keys: []Key{
	key("path", text, "the field: a JSON pointer, or dotted", "/rows/total").required(),
	key("as", text, "its name", "total").withDefaultText("the last part of the path"),
}}

var resultSpec = &Shape{name: "result", text: "How large results are stored: a reference replaces one in the context, and a tool of kind `result` reads it.", keys: []Key{
	key("inline_max_bytes", count, "larger results are stored", "4096").withDefault(65536),
	key("store", is(resultStore), "where", "{kind: auto}").withDefaultText("with the run"),
	key("select", list(is(resultSelect)), "fields that stay readable beside the reference", "[{path: /total}]").withDefaultText("none"),
}}

// layerKeys returns the keys that each spec may set for the tasks below it. The spec closest to a task counts.
func layerKeys() []Key {
	return []Key{
		key("timeout", either(seconds, is(callTimeout)), "of one attempt of each call below; in the spec of a step, a duration bounds the run of the step", "30s").withDefaultText("no limit"),
		key("result", is(resultSpec), "how large results are stored", "{inline_max_bytes: 4096}").withDefaultText("they are not replaced"),
	}
}

var playbookLimits = &Shape{name: "limits", text: "How much a run may do; then it fails with `limit_exceeded`.", keys: []Key{
	key("max_step_runs", count, "runs of steps", "1000").withDefault(100000),
	key("max_jumps", count, "jumps of tasks", "10000").withDefault(250000),
	key("max_args_bytes", count, "bytes of a token's args", "1024").withDefault(65536),
	key("max_payload_bytes", anything, "no effect: the engine limits what a call returns", "1").withDefaultText("—"),
}}

var playbookPolicy = &Shape{name: "executor_policy", text: "What failures do to the run.", keys: []Key{
	key("completion", choice("fail_on_any", "fail_fast", "allow_partial"),
		"a failed branch fails the run when the others have ended; nothing starts after it; or some failed and some not is `partial`", "allow_partial").withDefault("fail_on_any"),
	key("on_blocked", choice("wait", "fail", "discard"), "when only gates keep tokens back: wait for a patch, fail, or drop them", "fail").withDefaultText("the program's setting"),
	key("final_failure", choice("fail", "partial"), "status of the run after a failure of the final step", "partial").withDefault("fail"),
	key("on_unmatched", choice("continue", "fail"), "effect of an error that no rule of its task matches", "fail").withDefault("continue"),
	key("defaults", anything, "no effect: write each policy where it applies", "{}").withDefaultText("—"),
}}

var executorSpec = &Shape{name: "executor_spec", text: "How a run goes.", keys: append([]Key{
	key("entry_step", text, "where runs begin", "fetch").withDefaultText("the first step"),
	key("final_step", text, "runs once, when nothing else moves", "report").withDefaultText("none"),
	key("max_concurrency", count, "calls at a time", "8").withDefaultText("no limit"),
	key("no_next_is_error", boolean, "true: a step fails the run when it has arcs and none holds", "true").withDefault(false),
	key("implicit_join", boolean, "true: a step that arcs of several steps lead to is a join of all", "true").withDefault(false),
	key("limits", is(playbookLimits), "how much a run may do", "{max_jumps: 10000}").withDefaultText("see below"),
	key("policy", is(playbookPolicy), "what failures do", "{completion: fail_fast}").withDefaultText("see below"),
	key("loop_mode", choice("local", "fanout"), "for other programs", "local").withDefaultText("—"),
	key("results", is(&Shape{name: "results", text: "For other programs.", keys: []Key{key("reference_first", anything, "no effect: see `result`", "true").withDefaultText("—")}}), "for other programs", "{reference_first: true}").withDefaultText("—"),
}, layerKeys()...)}

var requires = &Shape{name: "requires", text: "Requirements of the playbook.", keys: []Key{
	key("tools", texts, "operations that must be registered, though no step need call them", "[report.write]").withDefaultText("none"),
	key("features", texts, "for other programs", "[loops]").withDefaultText("none"),
}}

var executor = &Shape{name: "executor", text: "How runs go.", keys: []Key{
	key("spec", is(executorSpec), "how a run goes", "{final_step: report}").withDefaultText("see below"),
	key("requires", is(requires), "its requirements", "{tools: [report.write]}").withDefaultText("nothing"),
	key("profile", choice("local", "distributed", "auto"), "for other programs", "local").withDefaultText("—"),
	key("kind", choice("distributed", "local", "hybrid"), "for other programs", "local").withDefaultText("—"),
	key("version", text, "for other programs", "v1").withDefaultText("—"),
}}

func secretKeys(kinds ...any) []Key {
	return []Key{
		key("name", text, "its name in `keychain.NAME.KEY`: no dots, spaces and none of / [ ] #", "shop").required(),
		key("kind", choice(kinds...), "where the secrets come from", kinds[0].(string)).required(),
		key("scope", choice("local", "global", "shared"), "no effect: every run resolves its own", "local").withDefault("local"),
		key("auto_renew", boolean, "http: ask again when `expires_in` of the answer is over", "true").withDefault(false),
	}
}

var (
	secretSource = &Shape{name: "secret", text: "Secrets from the environment, or from files.", keys: append(secretKeys("env", "file"),
		key("data", mapOf(text), "by key: a variable of the environment, or the path of a file", "{token: SHOP_TOKEN}").required())}
	secretRequest = &Shape{name: "secret_request", text: "Secrets that a server returns, as an object.", keys: append(secretKeys("http"),
		key("endpoint", expression, "the URL", "https://vault.example/login").required(),
		key("method", choice("GET", "POST"), "the method", "POST").withDefaultText("POST with `data`, else GET"),
		key("headers", free, "headers", "{X-Role: shop}").withDefaultText("none"),
		key("data", anything, "the body to send, as JSON; it may read secrets of earlier entries", `{client: "{{ keychain.shop.token }}"}`).withDefaultText("nothing"))}
	secret = &Type{name: "secret", cases: []oneCase{{"kind", []any{"http"}, secretRequest}, {"", nil, secretSource}}}
)

// ruleOf returns the shape of one rule in a list: a when with its then, or an else.
func ruleOf(name string, then *Shape, example string) *Shape {
	inner := &Shape{name: name + "_else", text: "The action if no earlier rule holds.", keys: []Key{key("then", is(then), "the action", example).required()}}
	return &Shape{name: name, text: "A rule: `when` and `then`, or `else: {then: {…}}`. The first that holds counts.",
		rule: oneOf(hasAll("when", "then"), has("else")), keys: []Key{
			key("when", guard, "a guard: one expression that returns true or false", "{{ ctx.open == true }}").withDefaultText("needed unless there is `else`"),
			key("then", is(then), "the action if it holds", example).withDefaultText("needed beside `when`"),
			key("else", &Type{name: "mapping", choices: []*Type{scalar("null", map[string]any{"type": "null"}),
				{name: "mapping", cases: []oneCase{{"then", nil, inner}, {"", nil, then}}}}}, "the action if no earlier rule holds: `{then: {…}}`", "{then: "+example+"}").withDefaultText("—"),
		}}
}

var (
	allow = &Shape{name: "allow", text: "The decision of a gate.", keys: []Key{key("allow", boolean, "whether the token is let in", "true").required()}}
	admit = &Shape{name: "admit", text: "The gate of a step. One without rules lets everything in.", keys: []Key{
		key("rules", list(is(ruleOf("admit_rule", allow, "{allow: true}"))), "the first that holds decides; a token that none matches is denied", `[{when: "{{ ctx.open == true }}", then: {allow: true}}]`).withDefaultText("everything is let in"),
		key("on_deny", choice("pending", "discard"), "effect on a denied token: it waits for a change of the context, or is dropped", "discard").withDefault("pending"),
		key("coalesce", boolean, "true: tokens that wait become one", "true").withDefault(false),
		key("mode", choice("exclusive"), "the first rule that holds counts", "exclusive").withDefault("exclusive"),
	}}

	then = &Shape{name: "then", text: "The action of a task's rule: first it sets values, then it applies the directive.", rule: all(
		when(choosing("do", "jump"), has("to")),
		when(not(choosing("do", "jump")), with(map[string]any{"to": false})),
		when(not(choosing("do", "retry")), with(map[string]any{"attempts": false, "backoff": false, "delay": false})),
	), keys: []Key{
		key("do", choice("continue", "retry", "jump", "break", "fail"), "go on to the next task; make the call again; go on at another task; enough of the tools; fail the step", "retry").withDefault("continue"),
		key("to", text, "jump: the label of a task of this step, or `previous`", "ask").withDefaultText("needed with `jump`"),
		key("attempts", count, "retry: attempts in all", "5").withDefaultText("3"),
		key("backoff", choice("none", "fixed", "linear", "exponential"), "retry: how the delay grows; fixed is none", "exponential").withDefaultText("`none`"),
		key("delay", scalar("seconds ≥ 0, or expression", map[string]any{"type": []any{"number", "string"}}), "retry: the first delay", "0.5").withDefaultText("0"),
		key("set", free, "by path `ctx.key`, `iter.key` or `step.key`; a key without a scope is one of ctx", `{ctx.seen: true}`).withDefaultText("nothing"),
		key("set_ctx", free, "by path below ctx", "{seen: true}").withDefaultText("nothing"),
		key("set_iter", free, "by path below iter", `{page: "{{ iter.page + 1 }}"}`).withDefaultText("nothing"),
	}}
	taskPolicy = &Shape{name: "task_policy", text: "The rules of a task, asked each time its call has ended.", keys: []Key{
		key("rules", list(is(ruleOf("task_rule", then, "{do: fail}"))), "the first that holds counts", `[{when: '{{ outcome.status == "error" }}', then: {do: retry}}]`).withDefaultText("an error fails the step"),
		key("on_unmatched", choice("continue", "fail"), "effect of an error that no rule matches", "fail").withDefaultText("that of the executor"),
		key("mode", choice("exclusive"), "the first rule that holds counts", "exclusive").withDefault("exclusive"),
	}}
	taskSpec = &Shape{name: "task_spec", text: "How a task runs, and its rules.", keys: append([]Key{
		key("policy", is(taskPolicy), "its rules", "{on_unmatched: fail}").withDefaultText("none"),
	}, layerKeys()...)}
)

// toolKeys returns the keys that all tools have.
func toolKeys() []Key {
	of := callKeys()[1:]
	return append([]Key{
		key("kind", word, "noop, http, command (shell), sleep, wait, workflow (playbook), result (artifact, resolve), workbook, or the name of an operation", "http").required(),
		key("name", text, "the label of the task; of a workflow or workbook alone in its step, its name", "ask").withDefaultText("STEP_task; in a list task_0, task_1, …"),
		key("desc", text, "for people", "asks the shop").withDefaultText("none"),
		key("spec", is(taskSpec), "how it runs, and its rules", "{timeout: 10s}").withDefaultText("nothing"),
		key("set", free, "values to set after it has succeeded: `ctx.key`, `iter.key`, `step.key`", `{ctx.rows: "{{ outcome.result }}"}`).withDefaultText("nothing"),
		key("input", anything, "its input, besides its own keys", `{q: "{{ args.q }}"}`).withDefaultText("nothing"),
		key("args", anything, "another name of `input`", `{q: "{{ args.q }}"}`).withDefaultText("—"),
	}, of...)
}

// tool returns the shape of a built-in tool: the keys that all tools have, and its own. The arguments of its call may also be in
// input.
func tool(name, text string, keys ...Key) *Shape {
	all := append(toolKeys(), keys...)
	if !hasKey(keys, "output") {
		all = append(all, key("output", is(resultSpec), "how large results are stored", "{inline_max_bytes: 4096}").withDefaultText("they are not replaced"))
	}
	return &Shape{name: name, text: text, keys: all}
}

// withKind returns the shapes of tools by kind, and a shape of mappings without a kind.
func withKind(without *Shape) []oneCase {
	last := len(toolCases) - 1
	return append(slices.Clone(toolCases[:last]), oneCase{"kind", nil, otherTool}, oneCase{"", nil, without})
}

func hasKey(keys []Key, name string) bool {
	for _, k := range keys {
		if k.name == name {
			return true
		}
	}
	return false
}

var (
	httpTool = tool("http_tool", "Makes an HTTP request. The result is the body; `outcome.http` has status and headers.",
		key("url", expression, "the URL", "{{ workload.api }}/rows").withDefaultText("needed, here or in `input`"),
		key("method", expression, "the method", "PUT").withDefaultText("GET; POST with a body"),
		key("headers", free, "headers", `{X-Page: "{{ iter.page }}"}`).withDefaultText("see a workflow's http"),
		key("params", anything, "an object: the query of the URL", `{page: "{{ iter.page }}"}`).withDefaultText("none"),
		key("body", anything, "a text is sent as it is, anything else as JSON", "{{ args }}").withDefaultText("no body"),
		key("payload", anything, "another name of `body`", "{{ args }}").withDefaultText("—"),
		key("follow_redirects", choice("same_host", "any"), "which redirects are followed", "any").withDefault("same_host"))
	commandTool = tool("command_tool", "Runs a program: `argv` or `shell`.",
		key("argv", values, "program and arguments; expressions in each", `[wc, -c, "{{ iter.file }}"]`).withDefaultText("needed unless there is `shell`"),
		key("shell", text, "a script for `sh`, without expressions: pass values in `env`", `wc -c < "$FILE"`).withDefaultText("needed unless there is `argv`"),
		key("stdin", anything, "standard input", "{{ args.text }}").withDefaultText("empty"),
		key("env", free, "variables of the environment, as of a workflow's command; null sets none", `{FILE: "{{ iter.file }}"}`).withDefaultText("none"),
		key("dir", expression, "the folder in which it runs", "/tmp").withDefaultText("that of the engine"),
		key("output", either(choice("text", "json", "lines"), is(resultSpec)), "the result: text, JSON or lines of standard output; or, as a mapping, how a large result is stored", "json").withDefaultText("`{exit_code, stdout, stderr}`"))
	sleepTool    = tool("sleep_tool", "Waits for a time.", key("for", text, "an ISO 8601 duration, or an expression that returns one", "PT30S").withDefaultText("needed, here or in `input`"))
	waitTool     = tool("wait_tool", "Waits for a message.", key("message", expression, "its name", "approved").withDefaultText("needed, here or in `input`"))
	workflowTool = tool("workflow_tool", "Runs another workflow: by `path`, or by `ref` (or `name`).",
		key("path", text, "a file, relative to this one", "ship.yaml").withDefaultText("none"),
		key("ref", text, "a workflow that the program has registered", "ship").withDefaultText("none"))
	resultTool = tool("result_tool", "Reads a result that is stored.", key("ref", anything, "its reference", "{{ rows }}").withDefaultText("needed, here or in `input`"))
	noopTool   = &Shape{name: "noop_tool", text: "Calls nothing: only its rules and sets count.", keys: []Key{
		key("kind", choice("noop"), "noop", "noop").required(),
		key("name", text, "the label of the task", "begin").withDefaultText("STEP_task; in a list task_0, task_1, …"),
		key("desc", text, "for people", "begins").withDefaultText("none"),
		key("spec", is(taskSpec), "its rules", "{policy: {rules: [{else: {then: {do: continue}}}]}}").withDefaultText("nothing"),
		key("set", free, "values to set", "{ctx.page: 1}").withDefaultText("nothing"),
		key("output", is(resultSpec), "no effect", "{inline_max_bytes: 4096}").withDefaultText("—"),
	}}
	workbookTool = &Shape{name: "workbook_tool", text: "Runs an entry of the workbook; keys given here override those of the entry.",
		others: anything, keys: append(toolKeys(),
			key("task", text, "the name of the entry", "sort").withDefaultText("`ref`, or `name` where the tool is no list"),
			key("ref", text, "another name of `task`", "sort").withDefaultText("—"))}
	otherTool = &Shape{name: "tool", text: "Calls an operation that the program registers, with the keys that are not in this table, and its input.", others: anything, keys: toolKeys()}

	toolCases = []oneCase{
		{"kind", []any{"noop"}, noopTool}, {"kind", []any{"http"}, httpTool}, {"kind", []any{"command", "shell"}, commandTool},
		{"kind", []any{"sleep"}, sleepTool}, {"kind", []any{"wait"}, waitTool}, {"kind", []any{"workflow", "playbook"}, workflowTool},
		{"kind", []any{"result", "artifact", "resolve"}, resultTool},
		{"kind", []any{"workbook"}, workbookTool}, {"", nil, otherTool},
	}
	oneTool = &Type{name: "tool", cases: toolCases}
	// A task of a list may also be the value of its label.
	labelled   = &Shape{name: "labelled_tool", text: "A task under its label.", others: oneTool, rule: map[string]any{"minProperties": 1, "maxProperties": 1}}
	listedTool = &Type{name: "tool, or {LABEL: tool}", cases: withKind(labelled)}
)

var (
	arcSpec = &Shape{name: "arc_spec", text: "How an arc is followed.", keys: []Key{
		key("inherit_args", boolean, "true: the args of the step's own token are handed on, below those of the arc", "true").withDefault(false)}}
	arc = &Shape{name: "arc", text: "A way on.", keys: []Key{
		key("step", text, "where it leads", "report").required(),
		key("when", guard, "a guard; an arc without one is also followed after a failure, and mends nothing", `{{ event.name == "step.done" }}`).withDefaultText("it always holds"),
		key("args", objectOf, "an object that the token carries: `args`", `{n: "{{ event.result.n }}"}`).withDefaultText("none"),
		key("set", free, "paths of ctx", "{ctx.done: true}").withDefaultText("nothing"),
		key("set_ctx", free, "paths below ctx", "{done: true}").withDefaultText("nothing"),
		key("spec", is(arcSpec), "how it is followed", "{inherit_args: true}").withDefaultText("see below"),
	}}
	nextSpec = &Shape{name: "next_spec", text: "How arcs are chosen.", keys: []Key{
		key("mode", choice("exclusive", "inclusive"), "the first that holds, or all that hold", "inclusive").withDefault("exclusive"),
		key("on_no_match", choice("complete", "quiet"), "both say that the branch ends", "quiet").withDefaultText("the branch ends"),
	}}
	next = &Shape{name: "next", text: "Where tokens go when the step has ended. Without arcs they go nowhere.", keys: []Key{
		key("arcs", list(is(arc)), "the ways on, in order", "[{step: report}]").withDefaultText("none"),
		key("spec", is(nextSpec), "how they are chosen", "{mode: inclusive}").withDefaultText("see below"),
	}}

	loopPolicy = &Shape{name: "loop_policy", text: "How iterations write to the context.", keys: []Key{
		key("on_conflict", choice("reject_conflict", "append", "last_wins"), "when iterations of a parallel loop write different values to one path: the later fails, the value is added to a list, or the later counts", "append").withDefault("reject_conflict"),
		key("exec", choice("local", "distributed"), "for other programs", "local").withDefaultText("—"),
	}}
	loopSpec = &Shape{name: "loop_spec", text: "How iterations run.", keys: append([]Key{
		key("mode", choice("sequential", "parallel"), "one after the other, or side by side", "parallel").withDefault("sequential"),
		key("max_in_flight", either(count, text), "parallel: so many at a time; an integer ≥ 1, or an expression", "4").withDefaultText("all at once"),
		key("policy", is(loopPolicy), "how they write to the context", "{on_conflict: append}").withDefaultText("see below"),
	}, layerKeys()...)}
	loop = &Shape{name: "loop", text: "Runs the tools once for each item of a list.", keys: []Key{
		key("in", listOf, "the list", "{{ workload.rows }}").required(),
		key("iterator", text.narrowed("text", map[string]any{"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}), "the item is iter.NAME, beside iter.index", "row").required(),
		key("spec", is(loopSpec), "how iterations run", "{mode: parallel, max_in_flight: 4}").withDefaultText("see below"),
	}}

	join = &Shape{name: "join", text: "The step takes the tokens of one fan-out as one token.", keys: []Key{
		key("mode", choice("all", "any", "count"), "waits for all branches, for the first, or for the n-th", "any").withDefault("all"),
		key("n", count.narrowed("integer, 1 to 2147483647", map[string]any{"type": "integer", "minimum": 1, "maximum": 2147483647}), "count: how many (needed)", "2").withDefaultText("none"),
		key("on_missing", choice("fire", "skip"), "all: go on also when a branch has failed, or do not", "fire").withDefault("skip"),
	}}
	lifecycle = &Shape{name: "lifecycle", text: "Limits of a run of the step, as other programs write them.", keys: []Key{
		key("timeout_s", seconds, "as `spec.timeout`", "60").withDefaultText("no limit"),
		key("deadline_s", seconds, "as `spec.timeout`", "60").withDefaultText("no limit"),
	}}
	failureMode = &Shape{name: "failure_mode", text: "What failed iterations of a loop do.", keys: []Key{
		key("mode", choice("fail_fast", "best_effort"), "the loop fails at once, or completes all the same", "best_effort").withDefault("fail_fast")}}
	stepPolicy = &Shape{name: "step_policy", text: "The gate of a step, and what failed iterations do.", keys: []Key{
		key("admit", is(admit), "the gate", `{rules: [{when: "{{ ctx.open == true }}", then: {allow: true}}]}`).withDefaultText("everything is let in"),
		key("failure", is(failureMode), "what failed iterations do", "{mode: best_effort}").withDefaultText("see below"),
		key("lifecycle", is(lifecycle), "limits, as other programs write them", "{timeout_s: 60}").withDefaultText("none"),
	}}
	stepSpec = &Shape{name: "step_spec", text: "The policies of a step, and defaults for its tasks.", keys: append([]Key{
		key("policy", is(stepPolicy), "its gate", "{failure: {mode: best_effort}}").withDefaultText("none"),
		key("join", is(join), "takes tokens of a fan-out as one", "{mode: all}").withDefaultText("no join"),
	}, layerKeys()...)}

	routed = &Shape{name: "routed_step", text: "A step: it takes a token, runs its tools, and puts tokens at the ends of the arcs that hold. It has a `tool` or a `next`.",
		rule: map[string]any{"anyOf": []any{has("tool"), has("next")}}, keys: []Key{
			key("step", text, "its name; without dots, @, spaces and / [ ] #", "fetch").required(),
			key("desc", text, "for people", "reads all pages").withDefaultText("none"),
			key("spec", is(stepSpec), "gate, join, timeout", "{timeout: PT1H}").withDefaultText("nothing"),
			key("loop", is(loop), "runs the tools once for each item", `{in: "{{ workload.rows }}", iterator: row}`).withDefaultText("once"),
			key("input", anything, "what expressions of its tools see as `input`", `{n: "{{ args.n }}"}`).withDefaultText("null"),
			key("tool", either(oneTool, list(listedTool).narrowed("", map[string]any{"minItems": 1})), "one tool, or a list of them: its pipeline", "{kind: noop}").withDefaultText("only the arcs"),
			key("set", free, "values to set after the last tool: `ctx.key`, `step.key`", `{ctx.rows: "{{ outcome.result }}"}`).withDefaultText("nothing"),
			key("next", is(next), "where tokens go", "{arcs: [{step: report}]}").withDefaultText("nowhere"),
		}}

	assertion = &Shape{name: "assert", text: "The contract of an entry.", keys: []Key{
		key("expects", texts, "keys that the input of its callers must have", "[rows]").withDefaultText("none"),
		key("returns", texts, "for people", "[sorted]").withDefaultText("none"),
	}}
	entryTool = key("tool", oneTool, "the tool", "{kind: noop}").required()
	entryKeys = []Key{
		key("desc", text, "for people", "sorts rows").withDefaultText("none"),
		key("assert", is(assertion), "its contract", "{expects: [rows]}").withDefaultText("nothing"),
	}
	namedEntry = &Shape{name: "named_entry", text: "A tool that tasks of kind workbook run.",
		keys: append([]Key{key("name", text, "its name", "sort").required(), entryTool}, entryKeys...)}
	listedEntry = &Shape{name: "entry", text: "A tool that tasks of kind workbook run.", keys: append([]Key{entryTool}, entryKeys...)}
	taskBook    = &Shape{name: "workbook_tasks", text: "Entries by name.", keys: []Key{
		key("tasks", mapOf(&Type{name: "tool, or {tool: …}", cases: withKind(listedEntry)}), "entries by name", "{sort: {tool: {kind: noop}}}").withDefaultText("none")}}

	metadata = &Shape{name: "metadata", text: "The name of the playbook. Other keys are free.", others: anything, keys: []Key{
		key("name", text.narrowed("text", map[string]any{"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,499}$"}), "a-z, 0-9, dots, dashes and underscores", "pages").required(),
		key("path", text, "for other programs", "shops/pages").withDefaultText("none"),
		key("description", text, "for people", "reads pages").withDefaultText("none"),
		key("version", text, "for people", "1.2.0").withDefaultText("none"),
	}}
)

var playbookKind = Kind{Name: "Playbook", file: "playbook", title: "Playbook",
	text: "A playbook moves tokens from step to step. How they move, what joins and gates do, and which names expressions see is described in " +
		"[package playbook](../template/playbook/doc.go).",
	root: &Shape{name: "Playbook", text: "Routed steps.", keys: []Key{
		key("kind", choice("Playbook"), "the kind of the document", "Playbook").required(),
		key("apiVersion", choice("sluice/v1", "noetl.io/v2", "noetl.io/v10"), "how it is written: in the last two, expressions are Jinja's", "sluice/v1").required(),
		key("metadata", is(metadata), "name and description", "{name: pages}").required(),
		key("workload", free, "values that runs begin with; the run's input is laid over them", "{rows: [1, 2]}").withDefaultText("none"),
		key("executor", is(executor), "how runs go", "{spec: {final_step: report}}").withDefaultText("see below"),
		key("keychain", list(secret), "where secrets come from", "[{name: shop, kind: env, data: {token: SHOP_TOKEN}}]").withDefaultText("no secrets"),
		key("directory", is(directory), "the participants that can be targeted", "{participants: {hill: {}}}").withDefaultText("that of the program"),
		key("workbook", either(list(is(namedEntry)), is(taskBook)), "tools that several tasks use", "[{name: sort, tool: {kind: noop}}]").withDefaultText("none"),
		key("workflow", list(is(routed)).narrowed("", map[string]any{"minItems": 1}), "the steps; at least one", "[{step: fetch, tool: {kind: noop}}]").required(),
	}}}
