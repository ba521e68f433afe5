package schema

// instantOf is a time since the start of the scenario.
var instantOf = either(scalar("PT0S", map[string]any{"type": "string", "enum": []any{"PT0S", ""}}), duration).named("ISO 8601 duration ≥ 0")

// countOrZero is a number of times.
var countOrZero = scalar("integer ≥ 0", map[string]any{"type": "integer", "minimum": 0})

func (t *Type) named(name string) *Type { t.name = name; return t }

var (
	runStatus  = choice("running", "waiting", "paused", "completed", "failed", "partial", "aborted", "deadline_exceeded", "step_timeout")
	stepStatus = choice("idle", "waiting", "ready", "running", "completed", "failed", "aborted", "skipped")
)

var scriptedError = &Shape{name: "scripted_error", text: "The error of a call. It is final unless it is retryable.", keys: []Key{
	key("code", text, "its code", "declined").required(),
	key("message", text, "what happened", "no money").withDefaultText("empty"),
	key("details", anything, "more about it", "{card: 1}").withDefaultText("none"),
	key("retryable", boolean, "true: the call may be made again", "true").withDefault(false),
	key("kind", text, "in a playbook: `outcome.error.kind`", "network").withDefaultText("none"),
}}

var frame = &Shape{name: "frame", text: "A report of a call while it runs.", keys: []Key{
	key("after", instantOf, "time since the start of the call; not before the previous report", "PT1S").withDefaultText("together with the previous report"),
	key("kind", text, "the kind of the report", "progress").required(),
	key("payload", anything, "its payload", "{done: 3}").withDefaultText("null"),
}}

var answer = &Shape{name: "answer", text: "The end of a call: one of `output`, `error`, `never`, `unreachable`. Without any of them, the output is null.", keys: []Key{
	key("output", anything, "its output", "{total: 3}").withDefaultText("null"),
	key("error", is(scriptedError), "its error", "{code: declined}").withDefaultText("none"),
	key("never", boolean, "true: the call does not end", "true").withDefault(false),
	key("unreachable", boolean, "true: the participant cannot be reached", "true").withDefault(false),
	key("after", instantOf, "time of the answer since the call was first made", "PT2S").withDefault("PT0S"),
	key("deliver", scalar("integer from 0 to 1000", map[string]any{"type": "integer", "minimum": 0, "maximum": 1000}), "how often the answer is delivered", "2").withDefault(1),
	key("frames", list(is(frame)), "reports before the answer", "[{after: PT1S, kind: progress}]").withDefaultText("nothing"),
	key("http", anything, "in a playbook: `outcome.http`", "{status: 200}").withDefaultText("none"),
	key("pg", anything, "in a playbook: `outcome.pg`", "{rows: 1}").withDefaultText("none"),
	key("py", anything, "in a playbook: `outcome.py`", "{}").withDefaultText("none"),
}}

var (
	answersInTurn = either(is(answer), list(is(answer)).narrowed("", map[string]any{"minItems": 1}))
	byParticipant = &Shape{name: "answers_by_participant", text: "The answers of each participant.", keys: []Key{
		key("participants", mapOf(answersInTurn), "for each id an answer, or a list of answers that are used in turn", "{hill: {output: 1}}").required()}}
	answers = &Type{name: "answer, list of answers, or {participants: …}", choices: []*Type{
		{name: "answer", cases: []oneCase{{"participants", nil, byParticipant}, {"", nil, answer}}},
		list(is(answer)).narrowed("", map[string]any{"minItems": 1})}}
)

var dispatch = &Shape{name: "dispatch", text: "A request to a participant, with its outcome.", keys: []Key{
	key("participant", text, "the participant's id", "hill").required(),
	key("status", choice("pending", "responded", "failed", "timeout", "cancelled", "unreachable"), "the outcome", "responded").required(),
	key("attempt", countOrZero, "number of the attempt", "1").withDefaultText("any"),
}}

var cellExpected = &Shape{name: "cell", text: "A cell of a world.", keys: []Key{
	key("status", choice("failed", "waiting", "running", "completed"), "its status", "waiting").withDefaultText("any"),
	key("state", anything, "its whole state; null: it has no state", "{n: 1}").withDefaultText("any"),
	key("inflight", countOrZero, "the number of its open effects and timers", "1").withDefaultText("any"),
	key("held", countOrZero, "the number of items that it holds back until it goes on", "2").withDefaultText("any"),
	key("reason", text, "the code of its failure; an empty text: it has not failed", "receipt_invalid").withDefaultText("any"),
}}

// inAnyOrder is a list whose inner lists may come in any order.
var inAnyOrder = list(either(text, texts))

var counts = &Shape{name: "counts", others: countOrZero,
	text: "The number of events by type; in a playbook, also the number of occurrences in its net by type. [Events](events.md) lists both. In addition, there are these keys.",
	keys: []Key{
		key("late", countOrZero, "events without effect, because their attempt or their run had ended: an answer after a timeout, or a repeated answer; in a world also an answer to a dropped effect", "1").withDefaultText("—"),
		key("duplicate", countOrZero, "events without effect, because they repeat an earlier event: a call that is made again after a crash repeats its reports. Scripted answers and reports are not repeated in this way", "0").withDefaultText("—"),
		key("steps_run", countOrZero, "in a playbook: step-runs, except the step-run of the final step", "3").withDefaultText("—"),
		key("succeeded", countOrZero, "in a playbook: step-runs that succeeded", "2").withDefaultText("—"),
		key("failed", countOrZero, "in a playbook: failed step-runs; in a world: failures of cells", "1").withDefaultText("—"),
		key("discarded", countOrZero, "in a playbook: tokens that gates discarded", "0").withDefaultText("—"),
		key("tokens_pending", countOrZero, "in a playbook: tokens that gates hold back", "0").withDefaultText("—"),
		key("messages", countOrZero, "in a world: accepted messages", "2").withDefaultText("—"),
		key("duplicates", countOrZero, "in a world: messages with the id of an earlier accepted message", "1").withDefaultText("—"),
		key("stepped", countOrZero, "in a world: activations that did not fail", "3").withDefaultText("—"),
		key("ignored", countOrZero, "in a world: activations without a matching rule", "0").withDefaultText("—"),
		key("faults", countOrZero, "in a world: answers that did not fit their effect", "0").withDefaultText("—"),
		key("dropped", countOrZero, "in a world: dropped effects and timers", "1").withDefaultText("—"),
		key("branches", mapOf(countOrZero), "in a playbook: the number of branches by their end: normal, failed or discarded", "{normal: 2}").withDefaultText("—")}}

var expectation = &Shape{name: "expect", text: "Expectations at the end or at an instant. Only the keys that are present are checked.", rule: map[string]any{"minProperties": 1}, keys: []Key{
	key("invalid", either(text, texts), "texts that the refusal of the workflow must contain", "unknown operation").withDefaultText("it is not refused"),
	key("run", runStatus, "the status of the run", "completed").withDefaultText("—"),
	key("reason", text, "the code of the failure that ended the run", "declined").withDefaultText("—"),
	key("at", instantOf, "time from the start to the end of the run", "PT2S").withDefaultText("—"),
	key("output", anything, "the output of the run", "{total: 3}").withDefaultText("—"),
	key("steps", mapOf(stepStatus), "statuses by step, such as pack[0] in an item of a map, or quote/ask in a child run", "{ship: skipped}").withDefaultText("—"),
	key("reasons", mapOf(text), "codes of the reasons for failed or skipped steps", "{pay: declined}").withDefaultText("—"),
	key("outputs", free, "outputs of steps", "{pay: 3}").withDefaultText("—"),
	key("inputs", free, "the input of the last call of each step; in an object, only the keys that are present here are compared", "{pay: {total: 3}}").withDefaultText("—"),
	key("attempts", mapOf(countOrZero), "the number of calls by step; in a playbook also by step.task; in a world by cell and effect, machine and effect, effect, or operation", "{pay: 2}").withDefaultText("—"),
	key("fulfillment", mapOf(choice("none", "pending", "fulfilled", "not_fulfilled", "error")), "the fulfillment of tasks", "{ship: pending}").withDefaultText("—"),
	key("dispatches", mapOf(list(is(dispatch))), "the participants asked, with the outcomes; in a playbook, while the call is open", "{ask: [{participant: hill, status: responded}]}").withDefaultText("—"),
	key("calls", inAnyOrder, "the first request of each step, in order; in a world all requests, by cell and effect, such as `order[o-1].pay`", "[pay, [ship, thank]]").withDefaultText("—"),
	key("counts", is(counts), "numbers of occurrences", "{timer.fired: 1}").withDefaultText("—"),
	key("events", texts, "types of [events](events.md), in this order; in a playbook, types of the occurrences in its net; others may occur between them", "[run.started, run.finished]").withDefaultText("—"),
	key("runs", inAnyOrder, "in a playbook: step-runs, in the order of scheduling; in a world: activations of cells, including failed ones", "[fetch, fetch, report]").withDefaultText("—"),
	key("raised", inAnyOrder, "in a world: the events that machines raised, in order", "[OrderPaid]").withDefaultText("—"),
	key("cells", mapOf(either(choice("absent"), is(cellExpected))), "in a world: cells by address, or `absent`", `{"order[o-1]": {status: waiting}}`).withDefaultText("—"),
	key("ctx", anything, "in a playbook: keys of the context", "{approved: true}").withDefaultText("—"),
}}

func actor() Key { return key("actor", text, "the actor", "ann").withDefaultText("none") }

func reason() Key { return key("reason", text, "why", "within budget").withDefaultText("none") }

func ofStep() Key {
	return key("step", text, "the step; in a playbook its oldest open call, also as fetch.ask or fetch[0]; in a world a cell, or its oldest open call as `order[o-1].pay`", "ship").required()
}

func ofCell() Key {
	return key("step", text, "in a world: the cell", "order[o-1]").withDefaultText("the run as a whole")
}

var entryOf = map[string]*Type{
	"decide": is(&Shape{name: "decide", text: "Decides about a step, as `sluice decide` does.", keys: []Key{ofStep(),
		key("status", choice("fulfilled", "not_fulfilled"), "the decision", "fulfilled").required(), reason(), actor()}}),
	"message": is(&Shape{name: "message", text: "Sends a message, as `sluice send` does.", keys: []Key{
		key("name", text, "its name; in a world, its type", "approved").required(), key("payload", anything, "its payload", "{by: ann}").withDefaultText("null"),
		key("id", text, "in a world: a second message with this id is not accepted", "m-1").withDefaultText("none"), actor()}}),
	"patch": is(&Shape{name: "patch", text: "Changes the context of a playbook, as `sluice patch` does.", keys: []Key{
		key("ctx", anything, "values by path, such as key or key.inner", "{approved: true}").withDefaultText("nothing"), actor()}}),
	"abort": is(&Shape{name: "abort", text: "Ends a step, as `sluice abort` does.", keys: []Key{ofStep(), reason(), actor()}}),
	"retry": is(&Shape{name: "retry_step", text: "Makes a call again, as `sluice retry` does.", keys: []Key{ofStep(),
		key("work", boolean, "true: repeats the call, not only its decision", "true").withDefault(false), actor()}}),
	"cancel": is(&Shape{name: "cancel", text: "Ends the run, as `sluice cancel` does.", keys: []Key{reason(), actor()}}),
	"pause":  is(&Shape{name: "pause", text: "Prevents new starts, as `sluice pause` does.", keys: []Key{ofCell(), reason(), actor()}}),
	"resume": is(&Shape{name: "resume", text: "Resumes the run, as `sluice resume` does.", keys: []Key{ofCell(), reason(), actor()}}),
}

var down = &Shape{name: "crash", text: "The engine dies, and restarts later.", keys: []Key{
	key("down", instantOf, "time until it restarts", "PT1H").withDefault("PT0S"),
}}

var timelineEntry = &Shape{name: "timeline_entry", text: "One command or expectation at an instant.", rule: map[string]any{"minProperties": 2}, keys: []Key{
	key("at", instantOf, "time since the start; not before the previous entry, and not after `until`", "PT1M").required(),
	key("expect", is(expectation), "expectations at that instant", "{run: waiting}").withDefaultText("—"),
	key("crash", either(choice(true), is(down)), "the engine dies, and restarts at once or later", "{down: PT1H}").withDefaultText("—"),
	key("directory", is(directory), "replaces the directory from here on", "{participants: {hill: {}}}").withDefaultText("—"),
	key("decide", entryOf["decide"], "a person decides", "{step: ship, status: fulfilled}").withDefaultText("—"),
	key("message", entryOf["message"], "a message arrives", "{name: approved}").withDefaultText("—"),
	key("messages", list(entryOf["message"]).narrowed("", map[string]any{"minItems": 1, "maxItems": 1000}), "messages arrive together, in this order", "[{name: a}, {name: b}]").withDefaultText("—"),
	key("snapshot", is(&Shape{name: "snapshot", text: "Stores the state of a world. After a later crash, the engine recovers the run from this state and the events that follow."}), "stores the state of the world; after a later crash, the run is recovered from it", "{}").withDefaultText("—"),
	key("apply", anything, "not possible yet: a world keeps the version with which it was started", "{workflow: v2.yaml}").withDefaultText("—"),
	key("refused", either(text, texts), "the command of this entry must be refused with an error that contains these texts; of several messages, each must be refused. In a world, a refused command without this key is a difference", "is missing").withDefaultText("—"),
	key("patch", entryOf["patch"], "the context of a playbook changes", "{ctx: {approved: true}}").withDefaultText("—"),
	key("abort", entryOf["abort"], "a person ends a step", "{step: ship}").withDefaultText("—"),
	key("retry", entryOf["retry"], "a person repeats a call", "{step: ship}").withDefaultText("—"),
	key("cancel", entryOf["cancel"], "a person ends the run", "{reason: too late}").withDefaultText("—"),
	key("pause", entryOf["pause"], "a person pauses the run", "{}").withDefaultText("—"),
	key("resume", entryOf["resume"], "a person resumes the run", "{}").withDefaultText("—"),
}}

// inlined is the workflow of a scenario. A document that the scenario expects to be refused may have any content.
var inlined = &Type{name: "path, or a document", choices: []*Type{text, {name: "document", cases: []oneCase{
	{"kind", []any{"Playbook"}, playbookKind.root}, {"kind", []any{"WorkflowDefinition"}, definitionKind.root}, {"kind", []any{"World"}, worldKind.root}, {"", nil, workflowKind.root}}}},
	unless: &unless{
		types: []any{"string", "object"},
		has:   map[string]any{"properties": map[string]any{"expect": has("invalid")}, "required": []any{"expect"}},
		looks: func(m map[string]any) bool {
			expect, _ := m["expect"].(map[string]any)
			_, invalid := expect["invalid"]
			return invalid
		}}}

var scenarioKind = Kind{Name: "Scenario", file: "scenario", title: "Scenario",
	text: "A scenario tests a workflow in virtual time: it defines the answers to calls, the commands in the meantime, and the expected results. " +
		"`sluice test PATH` runs all scenarios of a file or folder; `--crash` kills the engine after every event. A scenario must script the calls of " +
		"commands, HTTP and Go operations; it may script value, fail, sleep, wait and workflow, which otherwise run normally. A file may hold several scenarios, separated by `---`.",
	root: &Shape{name: "Scenario", text: "A test of a workflow.", keys: []Key{
		key("kind", choice("Scenario"), "the kind of the document", "Scenario").required(),
		key("name", text, "its title: a sentence", "a declined payment is apologised for").required(),
		key("workflow", inlined, "a file, relative to this one, or a workflow written out", "orders.yaml").required(),
		key("input", anything, "the input of the run", "{id: 7}").withDefaultText("null"),
		key("start", instant, "the start of the run, after 1970 and before 2262", "2026-03-01T12:00:00Z").withDefault("2026-01-01T00:00:00Z"),
		key("until", instantOf, "the latest end of the scenario", "P1D").withDefault("P30D"),
		key("operations", mapOf(answers), "answers by step or operation, with step[0] for an item; in a playbook by step.task, step or kind; in a world by `order[o-1].pay`, `order.pay`, `pay`, or operation", "{pay: {error: {code: declined}}}").withDefaultText("none"),
		key("decisions", mapOf(answers), "answers of decision sources, by step", "{ship: {output: {status: fulfilled}}}").withDefaultText("none"),
		key("directory", is(directory), "the participants that can be targeted", "{participants: {hill: {}}}").withDefaultText("the workflow's directory"),
		key("given", free, "in a world: initial states of cells, by address", `{"order[o-1]": {status: paying}}`).withDefaultText("none"),
		key("timeline", list(is(timelineEntry)), "commands and expectations, in order of time", "[{at: PT1M, message: {name: approved}}]").withDefaultText("nothing"),
		key("expect", is(expectation), "expectations at the end", "{run: completed}").required(),
	}}}
