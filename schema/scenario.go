package schema

// instantOf is a time since the start of the scenario.
var instantOf = either(scalar("PT0S", map[string]any{"type": "string", "enum": []any{"PT0S", ""}}), duration).named("ISO 8601 duration ≥ 0")

// often is a number of times.
var often = scalar("integer ≥ 0", map[string]any{"type": "integer", "minimum": 0})

func (t *Type) named(name string) *Type { t.name = name; return t }

var (
	runStatus  = choice("running", "waiting", "paused", "completed", "failed", "partial", "aborted", "deadline_exceeded", "step_timeout")
	stepStatus = choice("idle", "waiting", "ready", "running", "completed", "failed", "aborted", "skipped")
)

var scriptedError = &Shape{name: "scripted_error", text: "An error that a call ends with. It is final unless it may be retried.", keys: []Key{
	key("code", text, "its code", "declined").must(),
	key("message", text, "what happened", "no money").orElse("empty"),
	key("details", anything, "more about it", "{card: 1}").orElse("none"),
	key("retryable", boolean, "whether the call may be made again", "true").or(false),
	key("kind", text, "of a playbook: `outcome.error.kind`", "network").orElse("none"),
}}

var frame = &Shape{name: "frame", text: "A report of a call while it runs.", keys: []Key{
	key("after", instantOf, "when, since the call; not before the report before it", "PT1S").orElse("with the one before it"),
	key("kind", text, "the kind of the report", "progress").must(),
	key("payload", anything, "its payload", "{done: 3}").orElse("null"),
}}

var answer = &Shape{name: "answer", text: "How a call ends: one of `output`, `error`, `never`, `unreachable`; without any, with the output null.", keys: []Key{
	key("output", anything, "its output", "{total: 3}").orElse("null"),
	key("error", is(scriptedError), "its error", "{code: declined}").orElse("none"),
	key("never", boolean, "true: it does not end", "true").or(false),
	key("unreachable", boolean, "true: the participant cannot be reached", "true").or(false),
	key("after", instantOf, "when, since the call was first made", "PT2S").or("PT0S"),
	key("deliver", scalar("integer from 0 to 1000", map[string]any{"type": "integer", "minimum": 0, "maximum": 1000}), "how often the answer comes in", "2").or(1),
	key("frames", list(is(frame)), "reports before the answer", "[{after: PT1S, kind: progress}]").orElse("nothing"),
	key("http", anything, "of a playbook: `outcome.http`", "{status: 200}").orElse("none"),
	key("pg", anything, "of a playbook: `outcome.pg`", "{rows: 1}").orElse("none"),
	key("py", anything, "of a playbook: `outcome.py`", "{}").orElse("none"),
}}

var (
	answersInTurn = either(is(answer), list(is(answer)).only("", map[string]any{"minItems": 1}))
	byParticipant = &Shape{name: "answers_by_participant", text: "The answers of each participant.", keys: []Key{
		key("participants", mapOf(answersInTurn), "by id: an answer, or a list of answers that are taken in turn", "{hill: {output: 1}}").must()}}
	answers = &Type{name: "answer, list of answers, or {participants: …}", choices: []*Type{
		{name: "answer", cases: []oneCase{{"participants", nil, byParticipant}, {"", nil, answer}}},
		list(is(answer)).only("", map[string]any{"minItems": 1})}}
)

var dispatch = &Shape{name: "dispatch", text: "A participant that was asked, with the outcome.", keys: []Key{
	key("participant", text, "the participant's id", "hill").must(),
	key("status", choice("pending", "responded", "failed", "timeout", "cancelled", "unreachable"), "how it went", "responded").must(),
	key("attempt", often, "in which attempt", "1").orElse("any"),
}}

var cellExpected = &Shape{name: "cell", text: "A cell of a world.", keys: []Key{
	key("status", choice("failed", "waiting", "running", "completed"), "its status", "waiting").orElse("any"),
	key("state", anything, "its state as a whole; null: it has none", "{n: 1}").orElse("any"),
	key("inflight", often, "the number of effects and timers that it waits for", "1").orElse("any"),
	key("held", often, "the number of items that it keeps until it goes on", "2").orElse("any"),
	key("reason", text, "the code of its failure; empty: it has not failed", "receipt_invalid").orElse("any"),
}}

// inAnyOrder is a list whose inner lists may come in any order.
var inAnyOrder = list(either(text, texts))

var counts = &Shape{name: "counts", others: often,
	text: "How many events of a type there are, by the name of the type; of a playbook, how often something has happened in its net. Both are listed in [events](events.md). Beside them there are these.",
	keys: []Key{
		key("late", often, "events that changed nothing, because the attempt or the run that they are about had ended: an answer after a timeout, or an answer that comes a second time; of a world also an answer to an effect that was given up", "1").orElse("—"),
		key("duplicate", often, "events that changed nothing, because they repeat an earlier one: a report that a call, made again after a crash, has made before. Scripted answers and reports are not repeated so", "0").orElse("—"),
		key("steps_run", often, "of a playbook: step-runs, without that of the final step", "3").orElse("—"),
		key("succeeded", often, "of a playbook: step-runs that ended well", "2").orElse("—"),
		key("failed", often, "of a playbook: step-runs that failed; of a world: times that a cell has failed", "1").orElse("—"),
		key("discarded", often, "of a playbook: tokens that gates threw away", "0").orElse("—"),
		key("tokens_pending", often, "of a playbook: tokens that gates hold back", "0").orElse("—"),
		key("messages", often, "of a world: messages that were taken", "2").orElse("—"),
		key("duplicates", often, "of a world: messages whose id was taken before", "1").orElse("—"),
		key("stepped", often, "of a world: activations that have not failed", "3").orElse("—"),
		key("ignored", often, "of a world: those of them that no rule was about", "0").orElse("—"),
		key("faults", often, "of a world: answers that did not fit the effect", "0").orElse("—"),
		key("dropped", often, "of a world: effects and timers that were given up", "1").orElse("—"),
		key("branches", mapOf(often), "of a playbook: how branches have ended, by normal, failed, discarded", "{normal: 2}").orElse("—")}}

var expectation = &Shape{name: "expect", text: "Expectations, at the end or at an instant. Only keys that are present are checked.", rule: map[string]any{"minProperties": 1}, keys: []Key{
	key("invalid", either(text, texts), "texts that the refusal of the workflow holds", "unknown operation").orElse("it is not refused"),
	key("run", runStatus, "the status of the run", "completed").orElse("—"),
	key("reason", text, "the code of the failure that ended the run", "declined").orElse("—"),
	key("at", instantOf, "when the run ended, since its start", "PT2S").orElse("—"),
	key("output", anything, "the output of the run", "{total: 3}").orElse("—"),
	key("steps", mapOf(stepStatus), "statuses by step; pack[0] of an item of a map, quote/ask of a child run", "{ship: skipped}").orElse("—"),
	key("reasons", mapOf(text), "codes of why steps failed or were skipped", "{pay: declined}").orElse("—"),
	key("outputs", free, "outputs of steps", "{pay: 3}").orElse("—"),
	key("inputs", free, "the input of the last call of a step; of an object, only the keys that are named", "{pay: {total: 3}}").orElse("—"),
	key("attempts", mapOf(often), "how often steps were called; of a playbook also step.task; of a world by cell and effect, machine and effect, effect, or operation", "{pay: 2}").orElse("—"),
	key("fulfillment", mapOf(choice("none", "pending", "fulfilled", "not_fulfilled", "error")), "the fulfillment of tasks", "{ship: pending}").orElse("—"),
	key("dispatches", mapOf(list(is(dispatch))), "the participants asked, with the outcomes; of a playbook, while the call is open", "{ask: [{participant: hill, status: responded}]}").orElse("—"),
	key("calls", inAnyOrder, "the order of first requests; of a world: of all, each by cell and effect as `order[o-1].pay`", "[pay, [ship, thank]]").orElse("—"),
	key("counts", is(counts), "how often something has happened", "{timer.fired: 1}").orElse("—"),
	key("events", texts, "types of [events](events.md), in this order; of a playbook, what has happened in its net; others may occur between", "[run.started, run.finished]").orElse("—"),
	key("runs", inAnyOrder, "of a playbook: runs of steps, in the order of scheduling; of a world: activations of cells, failed ones too", "[fetch, fetch, report]").orElse("—"),
	key("raised", inAnyOrder, "of a world: events that machines have raised, in order", "[OrderPaid]").orElse("—"),
	key("cells", mapOf(either(choice("absent"), is(cellExpected))), "of a world: cells by address, or `absent`", `{"order[o-1]": {status: waiting}}`).orElse("—"),
	key("ctx", anything, "of a playbook: keys of the context", "{approved: true}").orElse("—"),
}}

func actor() Key { return key("actor", text, "the actor", "ann").orElse("none") }

func reason() Key { return key("reason", text, "why", "within budget").orElse("none") }

func ofStep() Key {
	return key("step", text, "which; of a playbook its oldest open call, also as fetch.ask or fetch[0]; of a world a cell, or its oldest open call as `order[o-1].pay`", "ship").must()
}

func ofCell() Key {
	return key("step", text, "of a world: the cell", "order[o-1]").orElse("the run as a whole")
}

var entryOf = map[string]*Type{
	"decide": is(&Shape{name: "decide", text: "A decision, as of `sluice decide`.", keys: []Key{ofStep(),
		key("status", choice("fulfilled", "not_fulfilled"), "the decision", "fulfilled").must(), reason(), actor()}}),
	"message": is(&Shape{name: "message", text: "A message, as of `sluice send`.", keys: []Key{
		key("name", text, "its name; in a world, a type", "approved").must(), key("payload", anything, "its payload", "{by: ann}").orElse("null"),
		key("id", text, "of a world: a second message of that id is not taken", "m-1").orElse("none"), actor()}}),
	"patch": is(&Shape{name: "patch", text: "A change of a playbook's context, as of `sluice patch`.", keys: []Key{
		key("ctx", anything, "values by path: key or key.inner", "{approved: true}").orElse("nothing"), actor()}}),
	"abort": is(&Shape{name: "abort", text: "Ends a step, as `sluice abort`.", keys: []Key{ofStep(), reason(), actor()}}),
	"retry": is(&Shape{name: "retry_step", text: "Makes a call again, as `sluice retry`.", keys: []Key{ofStep(),
		key("work", boolean, "true: the call, not only its decision", "true").or(false), actor()}}),
	"cancel": is(&Shape{name: "cancel", text: "Ends the run, as `sluice cancel`.", keys: []Key{reason(), actor()}}),
	"pause":  is(&Shape{name: "pause", text: "Nothing new starts, as of `sluice pause`.", keys: []Key{ofCell(), reason(), actor()}}),
	"resume": is(&Shape{name: "resume", text: "The run is resumed, as by `sluice resume`.", keys: []Key{ofCell(), reason(), actor()}}),
}

var down = &Shape{name: "crash", text: "The engine dies, and is back later.", keys: []Key{
	key("down", instantOf, "how long it is away", "PT1H").or("PT0S"),
}}

var timelineEntry = &Shape{name: "timeline_entry", text: "One command or expectation at an instant.", rule: map[string]any{"minProperties": 2}, keys: []Key{
	key("at", instantOf, "when, since the start; not before the entry before it, nor after `until`", "PT1M").must(),
	key("expect", is(expectation), "expectations at that instant", "{run: waiting}").orElse("—"),
	key("crash", either(choice(true), is(down)), "the engine dies, and is back at once or later", "{down: PT1H}").orElse("—"),
	key("directory", is(directory), "the directory is another one from here on", "{participants: {hill: {}}}").orElse("—"),
	key("decide", entryOf["decide"], "a person decides", "{step: ship, status: fulfilled}").orElse("—"),
	key("message", entryOf["message"], "a message comes in", "{name: approved}").orElse("—"),
	key("messages", list(entryOf["message"]).only("", map[string]any{"minItems": 1, "maxItems": 1000}), "messages come in together, in this order", "[{name: a}, {name: b}]").orElse("—"),
	key("snapshot", is(&Shape{name: "snapshot", text: "The state of a world is kept: from then on, a crash recovers the run from it and the events that follow."}), "the state of the world is kept, and a crash recovers the run from there", "{}").orElse("—"),
	key("apply", anything, "not possible yet: a world keeps the version that it was started with", "{workflow: v2.yaml}").orElse("—"),
	key("refused", either(text, texts), "the command of this entry must be refused, with an error that holds these texts; of several messages, each. In a world, a command that is refused without this is a difference", "is missing").orElse("—"),
	key("patch", entryOf["patch"], "the context of a playbook changes", "{ctx: {approved: true}}").orElse("—"),
	key("abort", entryOf["abort"], "a person ends a step", "{step: ship}").orElse("—"),
	key("retry", entryOf["retry"], "a person repeats a call", "{step: ship}").orElse("—"),
	key("cancel", entryOf["cancel"], "a person ends the run", "{reason: too late}").orElse("—"),
	key("pause", entryOf["pause"], "a person pauses the run", "{}").orElse("—"),
	key("resume", entryOf["resume"], "a person resumes the run", "{}").orElse("—"),
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
		key("kind", choice("Scenario"), "the kind of the document", "Scenario").must(),
		key("name", text, "its title: a sentence", "a declined payment is apologised for").must(),
		key("workflow", inlined, "a file, relative to this one, or a workflow written out", "orders.yaml").must(),
		key("input", anything, "the input of the run", "{id: 7}").orElse("null"),
		key("start", instant, "when the run starts; after 1970 and before 2262", "2026-03-01T12:00:00Z").or("2026-01-01T00:00:00Z"),
		key("until", instantOf, "when the scenario ends at the latest", "P1D").or("P30D"),
		key("operations", mapOf(answers), "answers by step, or by operation; of a playbook by step.task, step or kind; step[0] for an item; of a world as `order[o-1].pay`, `order.pay`, `pay`, or by operation", "{pay: {error: {code: declined}}}").orElse("none"),
		key("decisions", mapOf(answers), "answers of what decides about a step, by step", "{ship: {output: {status: fulfilled}}}").orElse("none"),
		key("directory", is(directory), "the participants that can be targeted", "{participants: {hill: {}}}").orElse("that of the workflow"),
		key("given", free, "of a world: the states that cells begin with, by address", `{"order[o-1]": {status: paying}}`).orElse("none"),
		key("timeline", list(is(timelineEntry)), "commands and expectations, in order of time", "[{at: PT1M, message: {name: approved}}]").orElse("nothing"),
		key("expect", is(expectation), "expectations at the end", "{run: completed}").must(),
	}}}
