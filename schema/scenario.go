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

var scriptedError = &Shape{name: "scripted_error", text: "An error that a call ends with. It is final unless it may be retried.", keys: []Key{
	key("code", text, "its code", "declined").required(),
	key("message", text, "what happened", "no money").withDefaultText("empty"),
	key("details", anything, "more about it", "{card: 1}").withDefaultText("none"),
	key("retryable", boolean, "whether the call may be made again", "true").withDefault(false),
	key("kind", text, "of a playbook: `outcome.error.kind`", "network").withDefaultText("none"),
}}

var frame = &Shape{name: "frame", text: "A report of a call while it runs.", keys: []Key{
	key("after", instantOf, "when, since the call; not before the report before it", "PT1S").withDefaultText("with the one before it"),
	key("kind", text, "the kind of the report", "progress").required(),
	key("payload", anything, "its payload", "{done: 3}").withDefaultText("null"),
}}

var answer = &Shape{name: "answer", text: "How a call ends: one of `output`, `error`, `never`, `unreachable`; without any, with the output null.", keys: []Key{
	key("output", anything, "its output", "{total: 3}").withDefaultText("null"),
	key("error", is(scriptedError), "its error", "{code: declined}").withDefaultText("none"),
	key("never", boolean, "true: it does not end", "true").withDefault(false),
	key("unreachable", boolean, "true: the participant cannot be reached", "true").withDefault(false),
	key("after", instantOf, "when, since the call was first made", "PT2S").withDefault("PT0S"),
	key("deliver", scalar("integer from 0 to 1000", map[string]any{"type": "integer", "minimum": 0, "maximum": 1000}), "how often the answer comes in", "2").withDefault(1),
	key("frames", list(is(frame)), "reports before the answer", "[{after: PT1S, kind: progress}]").withDefaultText("nothing"),
	key("http", anything, "of a playbook: `outcome.http`", "{status: 200}").withDefaultText("none"),
	key("pg", anything, "of a playbook: `outcome.pg`", "{rows: 1}").withDefaultText("none"),
	key("py", anything, "of a playbook: `outcome.py`", "{}").withDefaultText("none"),
}}

var (
	answersInTurn = either(is(answer), list(is(answer)).narrowed("", map[string]any{"minItems": 1}))
	byParticipant = &Shape{name: "answers_by_participant", text: "The answers of each participant.", keys: []Key{
		key("participants", mapOf(answersInTurn), "by id: an answer, or a list of answers that are taken in turn", "{hill: {output: 1}}").required()}}
	answers = &Type{name: "answer, list of answers, or {participants: …}", choices: []*Type{
		{name: "answer", cases: []oneCase{{"participants", nil, byParticipant}, {"", nil, answer}}},
		list(is(answer)).narrowed("", map[string]any{"minItems": 1})}}
)

var dispatch = &Shape{name: "dispatch", text: "A participant that was asked, with the outcome.", keys: []Key{
	key("participant", text, "the participant's id", "hill").required(),
	key("status", choice("pending", "responded", "failed", "timeout", "cancelled", "unreachable"), "how it went", "responded").required(),
	key("attempt", countOrZero, "in which attempt", "1").withDefaultText("any"),
}}

var cellExpected = &Shape{name: "cell", text: "A cell of a world.", keys: []Key{
	key("status", choice("failed", "waiting", "running", "completed"), "its status", "waiting").withDefaultText("any"),
	key("state", anything, "its state as a whole; null: it has none", "{n: 1}").withDefaultText("any"),
	key("inflight", countOrZero, "the number of effects and timers that it waits for", "1").withDefaultText("any"),
	key("held", countOrZero, "the number of items that it keeps until it goes on", "2").withDefaultText("any"),
	key("reason", text, "the code of its failure; empty: it has not failed", "receipt_invalid").withDefaultText("any"),
}}

// inAnyOrder is a list whose inner lists may come in any order.
var inAnyOrder = list(either(text, texts))

var counts = &Shape{name: "counts", others: countOrZero,
	text: "How many events of a type there are, by the name of the type; of a playbook, how often something has happened in its net. Both are listed in [events](events.md). Beside them there are these.",
	keys: []Key{
		key("late", countOrZero, "events that changed nothing, because the attempt or the run that they are about had ended: an answer after a timeout, or an answer that comes a second time; of a world also an answer to an effect that was given up", "1").withDefaultText("—"),
		key("duplicate", countOrZero, "events that changed nothing, because they repeat an earlier one: a report that a call, made again after a crash, has made before. Scripted answers and reports are not repeated so", "0").withDefaultText("—"),
		key("steps_run", countOrZero, "of a playbook: step-runs, without that of the final step", "3").withDefaultText("—"),
		key("succeeded", countOrZero, "of a playbook: step-runs that ended well", "2").withDefaultText("—"),
		key("failed", countOrZero, "of a playbook: step-runs that failed; of a world: times that a cell has failed", "1").withDefaultText("—"),
		key("discarded", countOrZero, "of a playbook: tokens that gates threw away", "0").withDefaultText("—"),
		key("tokens_pending", countOrZero, "of a playbook: tokens that gates hold back", "0").withDefaultText("—"),
		key("messages", countOrZero, "of a world: messages that were taken", "2").withDefaultText("—"),
		key("duplicates", countOrZero, "of a world: messages whose id was taken before", "1").withDefaultText("—"),
		key("stepped", countOrZero, "of a world: activations that have not failed", "3").withDefaultText("—"),
		key("ignored", countOrZero, "of a world: those of them that no rule was about", "0").withDefaultText("—"),
		key("faults", countOrZero, "of a world: answers that did not fit the effect", "0").withDefaultText("—"),
		key("dropped", countOrZero, "of a world: effects and timers that were given up", "1").withDefaultText("—"),
		key("branches", mapOf(countOrZero), "of a playbook: how branches have ended, by normal, failed, discarded", "{normal: 2}").withDefaultText("—")}}

var expectation = &Shape{name: "expect", text: "Expectations, at the end or at an instant. Only keys that are present are checked.", rule: map[string]any{"minProperties": 1}, keys: []Key{
	key("invalid", either(text, texts), "texts that the refusal of the workflow holds", "unknown operation").withDefaultText("it is not refused"),
	key("run", runStatus, "the status of the run", "completed").withDefaultText("—"),
	key("reason", text, "the code of the failure that ended the run", "declined").withDefaultText("—"),
	key("at", instantOf, "when the run ended, since its start", "PT2S").withDefaultText("—"),
	key("output", anything, "the output of the run", "{total: 3}").withDefaultText("—"),
	key("steps", mapOf(stepStatus), "statuses by step; pack[0] of an item of a map, quote/ask of a child run", "{ship: skipped}").withDefaultText("—"),
	key("reasons", mapOf(text), "codes of why steps failed or were skipped", "{pay: declined}").withDefaultText("—"),
	key("outputs", free, "outputs of steps", "{pay: 3}").withDefaultText("—"),
	key("inputs", free, "the input of the last call of a step; of an object, only the keys that are named", "{pay: {total: 3}}").withDefaultText("—"),
	key("attempts", mapOf(countOrZero), "how often steps were called; of a playbook also step.task; of a world by cell and effect, machine and effect, effect, or operation", "{pay: 2}").withDefaultText("—"),
	key("fulfillment", mapOf(choice("none", "pending", "fulfilled", "not_fulfilled", "error")), "the fulfillment of tasks", "{ship: pending}").withDefaultText("—"),
	key("dispatches", mapOf(list(is(dispatch))), "the participants asked, with the outcomes; of a playbook, while the call is open", "{ask: [{participant: hill, status: responded}]}").withDefaultText("—"),
	key("calls", inAnyOrder, "the order of first requests; of a world: of all, each by cell and effect as `order[o-1].pay`", "[pay, [ship, thank]]").withDefaultText("—"),
	key("counts", is(counts), "how often something has happened", "{timer.fired: 1}").withDefaultText("—"),
	key("events", texts, "types of [events](events.md), in this order; of a playbook, what has happened in its net; others may occur between", "[run.started, run.finished]").withDefaultText("—"),
	key("runs", inAnyOrder, "of a playbook: runs of steps, in the order of scheduling; of a world: activations of cells, failed ones too", "[fetch, fetch, report]").withDefaultText("—"),
	key("raised", inAnyOrder, "of a world: events that machines have raised, in order", "[OrderPaid]").withDefaultText("—"),
	key("cells", mapOf(either(choice("absent"), is(cellExpected))), "of a world: cells by address, or `absent`", `{"order[o-1]": {status: waiting}}`).withDefaultText("—"),
	key("ctx", anything, "of a playbook: keys of the context", "{approved: true}").withDefaultText("—"),
}}

func actor() Key { return key("actor", text, "the actor", "ann").withDefaultText("none") }

func reason() Key { return key("reason", text, "why", "within budget").withDefaultText("none") }

func ofStep() Key {
	return key("step", text, "which; of a playbook its oldest open call, also as fetch.ask or fetch[0]; of a world a cell, or its oldest open call as `order[o-1].pay`", "ship").required()
}

func ofCell() Key {
	return key("step", text, "of a world: the cell", "order[o-1]").withDefaultText("the run as a whole")
}

var entryOf = map[string]*Type{
	"decide": is(&Shape{name: "decide", text: "A decision, as of `sluice decide`.", keys: []Key{ofStep(),
		key("status", choice("fulfilled", "not_fulfilled"), "the decision", "fulfilled").required(), reason(), actor()}}),
	"message": is(&Shape{name: "message", text: "A message, as of `sluice send`.", keys: []Key{
		key("name", text, "its name; in a world, a type", "approved").required(), key("payload", anything, "its payload", "{by: ann}").withDefaultText("null"),
		key("id", text, "of a world: a second message of that id is not taken", "m-1").withDefaultText("none"), actor()}}),
	"patch": is(&Shape{name: "patch", text: "A change of a playbook's context, as of `sluice patch`.", keys: []Key{
		key("ctx", anything, "values by path: key or key.inner", "{approved: true}").withDefaultText("nothing"), actor()}}),
	"abort": is(&Shape{name: "abort", text: "Ends a step, as `sluice abort`.", keys: []Key{ofStep(), reason(), actor()}}),
	"retry": is(&Shape{name: "retry_step", text: "Makes a call again, as `sluice retry`.", keys: []Key{ofStep(),
		key("work", boolean, "true: the call, not only its decision", "true").withDefault(false), actor()}}),
	"cancel": is(&Shape{name: "cancel", text: "Ends the run, as `sluice cancel`.", keys: []Key{reason(), actor()}}),
	"pause":  is(&Shape{name: "pause", text: "Nothing new starts, as of `sluice pause`.", keys: []Key{ofCell(), reason(), actor()}}),
	"resume": is(&Shape{name: "resume", text: "The run is resumed, as by `sluice resume`.", keys: []Key{ofCell(), reason(), actor()}}),
}

var down = &Shape{name: "crash", text: "The engine dies, and is back later.", keys: []Key{
	key("down", instantOf, "how long it is away", "PT1H").withDefault("PT0S"),
}}

var timelineEntry = &Shape{name: "timeline_entry", text: "One command or expectation at an instant.", rule: map[string]any{"minProperties": 2}, keys: []Key{
	key("at", instantOf, "when, since the start; not before the entry before it, nor after `until`", "PT1M").required(),
	key("expect", is(expectation), "expectations at that instant", "{run: waiting}").withDefaultText("—"),
	key("crash", either(choice(true), is(down)), "the engine dies, and is back at once or later", "{down: PT1H}").withDefaultText("—"),
	key("directory", is(directory), "the directory is another one from here on", "{participants: {hill: {}}}").withDefaultText("—"),
	key("decide", entryOf["decide"], "a person decides", "{step: ship, status: fulfilled}").withDefaultText("—"),
	key("message", entryOf["message"], "a message comes in", "{name: approved}").withDefaultText("—"),
	key("messages", list(entryOf["message"]).narrowed("", map[string]any{"minItems": 1, "maxItems": 1000}), "messages come in together, in this order", "[{name: a}, {name: b}]").withDefaultText("—"),
	key("snapshot", is(&Shape{name: "snapshot", text: "The state of a world is kept: from then on, a crash recovers the run from it and the events that follow."}), "the state of the world is kept, and a crash recovers the run from there", "{}").withDefaultText("—"),
	key("apply", anything, "not possible yet: a world keeps the version that it was started with", "{workflow: v2.yaml}").withDefaultText("—"),
	key("refused", either(text, texts), "the command of this entry must be refused, with an error that holds these texts; of several messages, each. In a world, a command that is refused without this is a difference", "is missing").withDefaultText("—"),
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
	text: "A scenario tests a workflow in virtual time: it says how calls are answered, what happens meanwhile, and what must come of it. " +
		"`sluice test PATH` runs all scenarios of a file or folder; `--crash` kills the engine after every event. Calls of commands, HTTP and Go " +
		"operations must be scripted; value, fail, sleep, wait and workflow run as themselves unless they are. A file may hold several scenarios, separated by `---`.",
	root: &Shape{name: "Scenario", text: "A test of a workflow.", keys: []Key{
		key("kind", choice("Scenario"), "the kind of the document", "Scenario").required(),
		key("name", text, "its title: a sentence", "a declined payment is apologised for").required(),
		key("workflow", inlined, "a file, relative to this one, or a workflow written out", "orders.yaml").required(),
		key("input", anything, "the input of the run", "{id: 7}").withDefaultText("null"),
		key("start", instant, "when the run starts; after 1970 and before 2262", "2026-03-01T12:00:00Z").withDefault("2026-01-01T00:00:00Z"),
		key("until", instantOf, "when the scenario ends at the latest", "P1D").withDefault("P30D"),
		key("operations", mapOf(answers), "answers by step, or by operation; of a playbook by step.task, step or kind; step[0] for an item; of a world as `order[o-1].pay`, `order.pay`, `pay`, or by operation", "{pay: {error: {code: declined}}}").withDefaultText("none"),
		key("decisions", mapOf(answers), "answers of what decides about a step, by step", "{ship: {output: {status: fulfilled}}}").withDefaultText("none"),
		key("directory", is(directory), "the participants that can be targeted", "{participants: {hill: {}}}").withDefaultText("that of the workflow"),
		key("given", free, "of a world: the states that cells begin with, by address", `{"order[o-1]": {status: paying}}`).withDefaultText("none"),
		key("timeline", list(is(timelineEntry)), "commands and expectations, in order of time", "[{at: PT1M, message: {name: approved}}]").withDefaultText("nothing"),
		key("expect", is(expectation), "expectations at the end", "{run: completed}").required(),
	}}}
