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

var callTimeout = &Shape{name: "call_timeout", text: "How long one attempt of a call may take: the sum of two parts.", keys: []Key{
	key("connect", seconds, "time to connect", "5").withDefaultText("0"),
	key("read", seconds, "time to read the answer", "25").withDefaultText("0"),
}}

var resultStore = &Shape{name: "result_store", text: "The storage of large results. They are stored with the run, until it is deleted.", keys: []Key{
	key("kind", text, "for other programs", "auto").withDefaultText("—"),
	key("scope", choice("step", "execution", "workflow", "permanent"), "for other programs", "execution").withDefaultText("—"),
	key("ttl", anything, "no effect: results live as long as their run", "1h").withDefaultText("—"),
	key("compression", anything, "no effect", "gzip").withDefaultText("—"),
}}

var resultSelect = &Shape{name: "result_select", text: "A field of a stored result that stays readable in the context.", keys: []Key{
	key("path", text, "the field, as a JSON pointer or dotted path", "/rows/total").required(),
	key("as", text, "its name", "total").withDefaultText("the last part of the path"),
}}

var resultSpec = &Shape{name: "result", text: "How large results are stored. A reference replaces a large result in the context; a tool of kind `result` reads the result.", keys: []Key{
	key("inline_max_bytes", count, "the largest result in bytes that stays in the context; larger ones are stored", "4096").withDefault(65536),
	key("store", is(resultStore), "where they are stored", "{kind: auto}").withDefaultText("with the run"),
	key("select", list(is(resultSelect)), "fields that stay readable beside the reference", "[{path: /total}]").withDefaultText("none"),
}}

// layerKeys returns the keys that each spec may set for the tasks below it. The spec closest to a task counts.
func layerKeys() []Key {
	return []Key{
		key("timeout", either(seconds, is(callTimeout)), "time limit of one attempt of each call below; in the spec of a step, a duration limits the run of the step", "30s").withDefaultText("no limit"),
		key("result", is(resultSpec), "how large results are stored", "{inline_max_bytes: 4096}").withDefaultText("they are not replaced"),
	}
}

var playbookLimits = &Shape{name: "limits", text: "Limits of a run. A run that exceeds one fails with `limit_exceeded`.", keys: []Key{
	key("max_step_runs", count, "number of step-runs", "1000").withDefault(100000),
	key("max_jumps", count, "number of jumps", "10000").withDefault(250000),
	key("max_args_bytes", count, "size of a token's args in bytes", "1024").withDefault(65536),
	key("max_payload_bytes", anything, "no effect: the engine limits the results of calls", "1").withDefaultText("—"),
}}

var playbookPolicy = &Shape{name: "executor_policy", text: "Effects of failures on the run.", keys: []Key{
	key("completion", choice("fail_on_any", "fail_fast", "allow_partial"),
		"a failed branch fails the run after the other branches have ended; it prevents all further starts; or the run is `partial` if some branches failed and others did not", "allow_partial").withDefault("fail_on_any"),
	key("on_blocked", choice("wait", "fail", "discard"), "effect when gates hold all remaining tokens back: wait for a patch, fail, or drop the tokens", "fail").withDefaultText("the program's setting"),
	key("final_failure", choice("fail", "partial"), "status of the run if the final step fails", "partial").withDefault("fail"),
	key("on_unmatched", choice("continue", "fail"), "effect of an error that matches no rule of its task", "fail").withDefault("continue"),
	key("defaults", anything, "no effect: write each policy where it applies", "{}").withDefaultText("—"),
}}

var executorSpec = &Shape{name: "executor_spec", text: "Settings of a run.", keys: append([]Key{
	key("entry_step", text, "the step where runs begin", "fetch").withDefaultText("the first step"),
	key("final_step", text, "the step that runs once, when nothing else moves", "report").withDefaultText("none"),
	key("max_concurrency", count, "the largest number of calls at a time", "8").withDefaultText("no limit"),
	key("no_next_is_error", boolean, "true: a step fails the run if it has arcs and none of them holds", "true").withDefault(false),
	key("implicit_join", boolean, "true: a step is a join of all branches if arcs of several steps lead to it", "true").withDefault(false),
	key("limits", is(playbookLimits), "limits of a run", "{max_jumps: 10000}").withDefaultText("see below"),
	key("policy", is(playbookPolicy), "effects of failures", "{completion: fail_fast}").withDefaultText("see below"),
	key("loop_mode", choice("local", "fanout"), "for other programs", "local").withDefaultText("—"),
	key("results", is(&Shape{name: "results", text: "For other programs.", keys: []Key{key("reference_first", anything, "no effect: see `result`", "true").withDefaultText("—")}}), "for other programs", "{reference_first: true}").withDefaultText("—"),
}, layerKeys()...)}

var requires = &Shape{name: "requires", text: "The requirements of the playbook.", keys: []Key{
	key("tools", texts, "operations that must be registered, even if no step calls them", "[report.write]").withDefaultText("none"),
	key("features", texts, "for other programs", "[loops]").withDefaultText("none"),
}}

var executor = &Shape{name: "executor", text: "Execution of runs.", keys: []Key{
	key("spec", is(executorSpec), "settings of a run", "{final_step: report}").withDefaultText("see below"),
	key("requires", is(requires), "its requirements", "{tools: [report.write]}").withDefaultText("nothing"),
	key("profile", choice("local", "distributed", "auto"), "for other programs", "local").withDefaultText("—"),
	key("kind", choice("distributed", "local", "hybrid"), "for other programs", "local").withDefaultText("—"),
	key("version", text, "for other programs", "v1").withDefaultText("—"),
}}

func secretKeys(kinds ...any) []Key {
	return []Key{
		key("name", text, "its name in `keychain.NAME.KEY`, without dots, spaces and / [ ] #", "shop").required(),
		key("kind", choice(kinds...), "the source of the secrets", kinds[0].(string)).required(),
		key("scope", choice("local", "global", "shared"), "no effect: every run resolves its own", "local").withDefault("local"),
		key("auto_renew", boolean, "http: request the secrets again when the `expires_in` of the answer has passed", "true").withDefault(false),
	}
}

var (
	secretSource = &Shape{name: "secret", text: "Secrets from the environment, or from files.", keys: append(secretKeys("env", "file"),
		key("data", mapOf(text), "the environment variable, or the path of the file, for each key", "{token: SHOP_TOKEN}").required())}
	secretRequest = &Shape{name: "secret_request", text: "Secrets that a server returns, as an object.", keys: append(secretKeys("http"),
		key("endpoint", expression, "the URL", "https://vault.example/login").required(),
		key("method", choice("GET", "POST"), "the method", "POST").withDefaultText("POST with `data`, else GET"),
		key("headers", free, "headers", "{X-Role: shop}").withDefaultText("none"),
		key("data", anything, "the request body, sent as JSON; its expressions may read secrets of earlier entries", `{client: "{{ keychain.shop.token }}"}`).withDefaultText("nothing"))}
	secret = &Type{name: "secret", cases: []oneCase{{"kind", []any{"http"}, secretRequest}, {"", nil, secretSource}}}
)

// ruleOf returns the shape of one rule in a list: a when with its then, or an else.
func ruleOf(name string, then *Shape, example string) *Shape {
	inner := &Shape{name: name + "_else", text: "The action when no earlier rule holds.", keys: []Key{key("then", is(then), "the action", example).required()}}
	return &Shape{name: name, text: "A rule: `when` and `then`, or `else: {then: {…}}`. The first rule that holds applies.",
		rule: oneOf(hasAll("when", "then"), has("else")), keys: []Key{
			key("when", guard, "a guard: one expression that returns true or false", "{{ ctx.open == true }}").withDefaultText("needed unless there is `else`"),
			key("then", is(then), "the action if it holds", example).withDefaultText("needed beside `when`"),
			key("else", &Type{name: "mapping", choices: []*Type{scalar("null", map[string]any{"type": "null"}),
				{name: "mapping", cases: []oneCase{{"then", nil, inner}, {"", nil, then}}}}}, "the action if no earlier rule holds: `{then: {…}}`", "{then: "+example+"}").withDefaultText("—"),
		}}
}

var (
	allow = &Shape{name: "allow", text: "The decision of a gate.", keys: []Key{key("allow", boolean, "true: the token enters", "true").required()}}
	admit = &Shape{name: "admit", text: "The gate of a step. A gate without rules lets all tokens in.", keys: []Key{
		key("rules", list(is(ruleOf("admit_rule", allow, "{allow: true}"))), "the first rule that holds decides; a token that matches no rule is denied", `[{when: "{{ ctx.open == true }}", then: {allow: true}}]`).withDefaultText("everything is let in"),
		key("on_deny", choice("pending", "discard"), "effect on a denied token: it waits until the context changes, or is dropped", "discard").withDefault("pending"),
		key("coalesce", boolean, "true: waiting tokens are merged into one", "true").withDefault(false),
		key("mode", choice("exclusive"), "the first rule that holds counts", "exclusive").withDefault("exclusive"),
	}}

	then = &Shape{name: "then", text: "The action of a task's rule. It sets values, then applies the directive.", rule: all(
		when(choosing("do", "jump"), has("to")),
		when(not(choosing("do", "jump")), with(map[string]any{"to": false})),
		when(not(choosing("do", "retry")), with(map[string]any{"attempts": false, "backoff": false, "delay": false})),
	), keys: []Key{
		key("do", choice("continue", "retry", "jump", "break", "fail"), "go on to the next task; make the call again; go on at another task; skip the remaining tools; fail the step", "retry").withDefault("continue"),
		key("to", text, "jump: the label of a task in this step, or `previous` for the preceding task", "ask").withDefaultText("needed with `jump`"),
		key("attempts", count, "retry: the total number of attempts", "5").withDefaultText("3"),
		key("backoff", choice("none", "fixed", "linear", "exponential"), "retry: the growth of the delay; `fixed` means the same as `none`", "exponential").withDefaultText("`none`"),
		key("delay", scalar("seconds ≥ 0, or expression", map[string]any{"type": []any{"number", "string"}}), "retry: the first delay in seconds", "0.5").withDefaultText("1"),
		key("set", free, "values by path: `ctx.key`, `iter.key` or `step.key`; a key without a scope belongs to ctx", `{ctx.seen: true}`).withDefaultText("nothing"),
		key("set_ctx", free, "values by path below ctx", "{seen: true}").withDefaultText("nothing"),
		key("set_iter", free, "values by path below iter", `{page: "{{ iter.page + 1 }}"}`).withDefaultText("nothing"),
	}}
	taskPolicy = &Shape{name: "task_policy", text: "The rules of a task, evaluated each time its call has ended.", keys: []Key{
		key("rules", list(is(ruleOf("task_rule", then, "{do: fail}"))), "the first rule that holds applies", `[{when: '{{ outcome.status == "error" }}', then: {do: retry}}]`).withDefaultText("an error fails the step"),
		key("on_unmatched", choice("continue", "fail"), "effect of an error that matches no rule", "fail").withDefaultText("that of the executor"),
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
		key("name", text, "the label of the task; for a workflow or workbook that is the only tool of its step, the name of the workflow or entry", "ask").withDefaultText("STEP_task; in a list task_0, task_1, …"),
		key("desc", text, "for people", "asks the shop").withDefaultText("none"),
		key("spec", is(taskSpec), "how it runs, and its rules", "{timeout: 10s}").withDefaultText("nothing"),
		key("set", free, "values to set when the call has succeeded: `ctx.key`, `iter.key`, `step.key`", `{ctx.rows: "{{ outcome.result }}"}`).withDefaultText("nothing"),
		key("input", anything, "its input, in addition to its own keys", `{q: "{{ args.q }}"}`).withDefaultText("nothing"),
		key("args", anything, "another name for `input`", `{q: "{{ args.q }}"}`).withDefaultText("—"),
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
	httpTool = tool("http_tool", "Makes an HTTP request. The result is the body; `outcome.http` has the status and the headers.",
		key("url", expression, "the URL", "{{ workload.api }}/rows").withDefaultText("needed, here or in `input`"),
		key("method", expression, "the method", "PUT").withDefaultText("GET; POST with a body"),
		key("headers", free, "headers", `{X-Page: "{{ iter.page }}"}`).withDefaultText("see a workflow's http"),
		key("params", anything, "the query parameters of the URL, as an object", `{page: "{{ iter.page }}"}`).withDefaultText("none"),
		key("body", anything, "a text is sent unchanged, any other value as JSON", "{{ args }}").withDefaultText("no body"),
		key("payload", anything, "another name for `body`", "{{ args }}").withDefaultText("—"),
		key("follow_redirects", choice("same_host", "any"), "the redirects that are followed", "any").withDefault("same_host"))
	commandTool = tool("command_tool", "Runs a program: `argv` or `shell`.",
		key("argv", values, "program and arguments; each may have expressions", `[wc, -c, "{{ iter.file }}"]`).withDefaultText("needed unless there is `shell`"),
		key("shell", text, "a script for `sh`, without expressions: pass values in `env`", `wc -c < "$FILE"`).withDefaultText("needed unless there is `argv`"),
		key("stdin", anything, "standard input", "{{ args.text }}").withDefaultText("empty"),
		key("env", free, "environment variables, as for a workflow's command; null sets no variable", `{FILE: "{{ iter.file }}"}`).withDefaultText("none"),
		key("dir", expression, "the working folder of the program", "/tmp").withDefaultText("the engine's folder"),
		key("output", either(choice("text", "json", "lines"), is(resultSpec)), "the result: standard output as text, as JSON or as a list of lines; or, as a mapping, how a large result is stored", "json").withDefaultText("`{exit_code, stdout, stderr}`"))
	sleepTool    = tool("sleep_tool", "Waits for a period of time.", key("for", text, "an ISO 8601 duration, or an expression that returns one", "PT30S").withDefaultText("needed, here or in `input`"))
	waitTool     = tool("wait_tool", "Waits for a message.", key("message", expression, "its name", "approved").withDefaultText("needed, here or in `input`"))
	workflowTool = tool("workflow_tool", "Runs another workflow: by `path`, or by `ref` (or `name`).",
		key("path", text, "a file, relative to this one", "ship.yaml").withDefaultText("none"),
		key("ref", text, "a workflow that the program has registered", "ship").withDefaultText("none"))
	resultTool = tool("result_tool", "Reads a stored result.", key("ref", anything, "its reference", "{{ rows }}").withDefaultText("needed, here or in `input`"))
	noopTool   = &Shape{name: "noop_tool", text: "Makes no call: only its rules apply, and its values are set.", keys: []Key{
		key("kind", choice("noop"), "noop", "noop").required(),
		key("name", text, "the label of the task", "begin").withDefaultText("STEP_task; in a list task_0, task_1, …"),
		key("desc", text, "for people", "begins").withDefaultText("none"),
		key("spec", is(taskSpec), "its rules", "{policy: {rules: [{else: {then: {do: continue}}}]}}").withDefaultText("nothing"),
		key("set", free, "values to set", "{ctx.page: 1}").withDefaultText("nothing"),
		key("output", is(resultSpec), "no effect", "{inline_max_bytes: 4096}").withDefaultText("—"),
	}}
	workbookTool = &Shape{name: "workbook_tool", text: "Runs an entry of the workbook. Keys of this tool override those of the entry.",
		others: anything, keys: append(toolKeys(),
			key("task", text, "the name of the entry", "sort").withDefaultText("`ref`, or `name` if the tool is not in a list"),
			key("ref", text, "another name for `task`", "sort").withDefaultText("—"))}
	otherTool = &Shape{name: "tool", text: "Calls an operation that the program registers. Keys that are not in this table, together with `input`, form the input of the call.", others: anything, keys: toolKeys()}

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
	arcSpec = &Shape{name: "arc_spec", text: "Settings of an arc.", keys: []Key{
		key("inherit_args", boolean, "true: the args of the step's token are passed on; args of the arc override them", "true").withDefault(false)}}
	arc = &Shape{name: "arc", text: "A connection to another step.", keys: []Key{
		key("step", text, "the step to which it leads", "report").required(),
		key("when", guard, "a guard; an arc without a guard is also followed after a failure, but does not handle the failure", `{{ event.name == "step.done" }}`).withDefaultText("it always holds"),
		key("args", objectOf, "an object that the token carries; expressions read it as `args`", `{n: "{{ event.result.n }}"}`).withDefaultText("none"),
		key("set", free, "values by path of ctx", "{ctx.done: true}").withDefaultText("nothing"),
		key("set_ctx", free, "values by path below ctx", "{done: true}").withDefaultText("nothing"),
		key("spec", is(arcSpec), "how it is followed", "{inherit_args: true}").withDefaultText("see below"),
	}}
	nextSpec = &Shape{name: "next_spec", text: "How arcs are chosen.", keys: []Key{
		key("mode", choice("exclusive", "inclusive"), "the first arc that holds, or all arcs that hold", "inclusive").withDefault("exclusive"),
		key("on_no_match", choice("complete", "quiet"), "no difference: the branch ends with either", "quiet").withDefaultText("the branch ends"),
	}}
	next = &Shape{name: "next", text: "The steps to which tokens go when the step has ended. Without arcs the branch ends.", keys: []Key{
		key("arcs", list(is(arc)), "the arcs, in order", "[{step: report}]").withDefaultText("none"),
		key("spec", is(nextSpec), "how arcs are chosen", "{mode: inclusive}").withDefaultText("see below"),
	}}

	loopPolicy = &Shape{name: "loop_policy", text: "How iterations write to the context.", keys: []Key{
		key("on_conflict", choice("reject_conflict", "append", "last_wins"), "effect when iterations of a parallel loop write different values to one path: the later write fails, its value is added to the list at the path, or the last write wins", "append").withDefault("reject_conflict"),
		key("exec", choice("local", "distributed"), "for other programs", "local").withDefaultText("—"),
	}}
	loopSpec = &Shape{name: "loop_spec", text: "How iterations run.", keys: append([]Key{
		key("mode", choice("sequential", "parallel"), "one after the other, or concurrently", "parallel").withDefault("sequential"),
		key("max_in_flight", either(count, text), "parallel: the largest number of iterations at a time, as an integer ≥ 1 or an expression", "4").withDefaultText("all at once"),
		key("policy", is(loopPolicy), "how they write to the context", "{on_conflict: append}").withDefaultText("see below"),
	}, layerKeys()...)}
	loop = &Shape{name: "loop", text: "Runs the tools once for each item of a list.", keys: []Key{
		key("in", listOf, "the list", "{{ workload.rows }}").required(),
		key("iterator", text.narrowed("text", map[string]any{"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}), "the name of the item: expressions read `iter.NAME`, and the position as `iter.index`", "row").required(),
		key("spec", is(loopSpec), "how iterations run", "{mode: parallel, max_in_flight: 4}").withDefaultText("see below"),
	}}

	join = &Shape{name: "join", text: "Merges the tokens of one fan-out into one token.", keys: []Key{
		key("mode", choice("all", "any", "count"), "wait for all branches, for the first, or for the n-th", "any").withDefault("all"),
		key("n", count.narrowed("integer, 1 to 2147483647", map[string]any{"type": "integer", "minimum": 1, "maximum": 2147483647}), "count: the number of branches (needed)", "2").withDefaultText("none"),
		key("on_missing", choice("fire", "skip"), "all: when a branch has failed, go on or do not", "fire").withDefault("skip"),
	}}
	lifecycle = &Shape{name: "lifecycle", text: "Limits of a run of the step, in the spelling of other programs.", keys: []Key{
		key("timeout_s", seconds, "as `spec.timeout`", "60").withDefaultText("no limit"),
		key("deadline_s", seconds, "as `spec.timeout`", "60").withDefaultText("no limit"),
	}}
	failureMode = &Shape{name: "failure_mode", text: "The effect of failed iterations of a loop.", keys: []Key{
		key("mode", choice("fail_fast", "best_effort"), "the loop fails at once, or completes nevertheless", "best_effort").withDefault("fail_fast")}}
	stepPolicy = &Shape{name: "step_policy", text: "The gate of a step, and the effect of failed iterations.", keys: []Key{
		key("admit", is(admit), "the gate", `{rules: [{when: "{{ ctx.open == true }}", then: {allow: true}}]}`).withDefaultText("everything is let in"),
		key("failure", is(failureMode), "effect of failed iterations", "{mode: best_effort}").withDefaultText("see below"),
		key("lifecycle", is(lifecycle), "limits, in the spelling of other programs", "{timeout_s: 60}").withDefaultText("none"),
	}}
	stepSpec = &Shape{name: "step_spec", text: "The policies of a step, and defaults for its tasks.", keys: append([]Key{
		key("policy", is(stepPolicy), "its gate, and the effect of failed iterations", "{failure: {mode: best_effort}}").withDefaultText("none"),
		key("join", is(join), "merges the tokens of a fan-out into one", "{mode: all}").withDefaultText("no join"),
	}, layerKeys()...)}

	routed = &Shape{name: "routed_step", text: "A step takes a token, runs its tools, and sends a token along each arc that is followed. It has a `tool` or a `next`.",
		rule: map[string]any{"anyOf": []any{has("tool"), has("next")}}, keys: []Key{
			key("step", text, "its name; without dots, @, spaces and / [ ] #", "fetch").required(),
			key("desc", text, "for people", "reads all pages").withDefaultText("none"),
			key("spec", is(stepSpec), "gate, join, timeout", "{timeout: PT1H}").withDefaultText("nothing"),
			key("loop", is(loop), "runs the tools once for each item", `{in: "{{ workload.rows }}", iterator: row}`).withDefaultText("once"),
			key("input", anything, "value that expressions of its tools see as `input`", `{n: "{{ args.n }}"}`).withDefaultText("null"),
			key("tool", either(oneTool, list(listedTool).narrowed("", map[string]any{"minItems": 1})), "one tool, or a list of them: its pipeline", "{kind: noop}").withDefaultText("only the arcs"),
			key("set", free, "values to set after the last tool: `ctx.key`, `step.key`", `{ctx.rows: "{{ outcome.result }}"}`).withDefaultText("nothing"),
			key("next", is(next), "the steps to which tokens go", "{arcs: [{step: report}]}").withDefaultText("nowhere"),
		}}

	assertion = &Shape{name: "assert", text: "The contract of an entry.", keys: []Key{
		key("expects", texts, "keys that the callers' input must have", "[rows]").withDefaultText("none"),
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
	text: "A playbook moves tokens from step to step. [Package playbook](../template/playbook/doc.go) describes how they move, the effects of joins and " +
		"gates, and the names that expressions see.",
	root: &Shape{name: "Playbook", text: "A playbook: steps with arcs between them.", keys: []Key{
		key("kind", choice("Playbook"), "the kind of the document", "Playbook").required(),
		key("apiVersion", choice("sluice/v1", "noetl.io/v2", "noetl.io/v10"), "the format; in the last two, expressions are in Jinja", "sluice/v1").required(),
		key("metadata", is(metadata), "name and description", "{name: pages}").required(),
		key("workload", free, "initial values of runs; the run's input overrides them. Expressions in them are evaluated when a run starts", "{rows: [1, 2]}").withDefaultText("none"),
		key("executor", is(executor), "execution of runs", "{spec: {final_step: report}}").withDefaultText("see below"),
		key("keychain", list(secret), "sources of secrets", "[{name: shop, kind: env, data: {token: SHOP_TOKEN}}]").withDefaultText("no secrets"),
		key("directory", is(directory), "the participants that can be targeted", "{participants: {hill: {}}}").withDefaultText("the program's directory"),
		key("workbook", either(list(is(namedEntry)), is(taskBook)), "tools that several tasks use", "[{name: sort, tool: {kind: noop}}]").withDefaultText("none"),
		key("workflow", list(is(routed)).narrowed("", map[string]any{"minItems": 1}), "the steps; at least one", "[{step: fetch, tool: {kind: noop}}]").required(),
	}}}
