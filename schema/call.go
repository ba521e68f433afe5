package schema

// The keys of calls, for steps in all kinds of documents.

var retry = &Shape{name: "retry", text: "How often and when a call is made again.", keys: []Key{
	key("max_attempts", count, "the total number of attempts, including the first", "3").required(),
	key("backoff", duration, "the delay before the second attempt", "PT1S").withDefaultText("at once"),
	key("backoff_multiplier", number.narrowed("number ≥ 1", map[string]any{"type": "number", "minimum": 1}),
		"each further delay is the previous one multiplied by this", "2").withDefault(1),
	key("max_backoff", duration, "the longest delay", "PT1M").withDefaultText("no ceiling"),
	key("jitter", number.narrowed("number from 0 to 1", map[string]any{"type": "number", "minimum": 0, "maximum": 1}),
		"the share of a delay that varies; replays draw the same", "0.2").withDefault(0),
	key("on", texts, "codes of the errors that are retried, whether they are retryable or final; no others are; see [errors](errors.md)", "[http_503, timeout]").withDefaultText("all retryable errors"),
	key("never", texts, "codes of retryable errors that are not retried", "[http_429]").withDefaultText("none"),
	key("scope", choice("missing", "all"), "the participants that a fan-out asks again: those without a usable answer, or all; all also drops the earlier answers", "all").withDefault("missing"),
}}

var timing = &Shape{name: "timing", text: "Limits of a call, and its retries.", keys: []Key{
	key("timeout", duration, "how long one attempt may take; then it fails with `timeout`", "PT30S").withDefaultText("no limit"),
	key("retry", is(retry), "how often and when the call is made again", "{max_attempts: 3, backoff: PT1S}").withDefaultText("one attempt"),
	key("on_timeout", choice("fail", "skip", "abort_workflow"),
		"effect of a timeout on the last attempt: the step fails, is skipped (output null), or ends the run at once. A run that fails because of it ends as `step_timeout`", "skip").withDefault("fail"),
	key("total_timeout", duration, "how long all attempts and the delays between them may take", "PT5M").withDefaultText("no limit"),
	key("queue_timeout", duration, "how long a call of an unbound operation may wait for a [worker](workers.md); then it fails with `queue_timeout`, without a retry", "PT10M").withDefaultText("no limit"),
}}

var target = &Shape{name: "target", text: "The participants that a call asks, instead of the operation itself.", rule: all(
	when(choosing("resolve", "static"), hasSuch("participants", someItems)),
	when(choosing("resolve", "static"), with(map[string]any{"capability_id": false})),
	when(choosing("resolve", "static", "task_type"), with(map[string]any{"filter": map[string]any{"maxProperties": 0}, "limit": false})),
	when(choosing("resolve", "capability"), has("capability_id")),
	when(choosing("resolve", "capability", "task_type"), with(map[string]any{"participants": map[string]any{"maxItems": 0}})),
), keys: []Key{
	key("resolve", choice("static", "capability", "task_type"),
		"named participants; those that have a valid passport for a capability when the attempt starts; or the first one that has a passport for the step's operation", "static").required(),
	key("participants", list(word), "static: the ids of the participants, in the order in which they are asked", "[hill, river]").withDefaultText("needed with `static`"),
	key("capability_id", word, "capability: the id of the required capability", "quote").withDefaultText("needed with `capability`; the step's operation with `task_type`"),
	key("filter", free, "capability: attributes that the passports must have", "{region: north}").withDefaultText("all"),
	key("limit", count, "capability: the largest number of participants to ask", "3").withDefaultText("all"),
}}

var fanIn = &Shape{name: "fan_in", text: "How the answers of several participants become one output. It needs a `target`.", rule: all(
	when(choosing("policy", "quorum"), has("min_responses")),
	when(choosing("policy", "all"), with(map[string]any{"min_responses": false})),
	when(with(map[string]any{"policy": map[string]any{"enum": []any{"any_one"}}}), with(map[string]any{"min_responses": map[string]any{"maximum": 1}})),
	when(choosing("policy", "best_of"), has("score_field")),
	when(not(choosing("policy", "best_of")), with(map[string]any{"score_field": false, "score_order": false})),
	when(choosing("policy", "all", "quorum", "best_of"), with(map[string]any{"hedge_after": false})),
), keys: []Key{
	key("policy", choice("any_one", "all", "quorum", "best_of"),
		"takes the first usable answer; all answers, and fails on one error; at least `min_responses` answers; or the answer with the best score within the attempt's timeout, which requires a `timeout`, or a `deadline` of the run", "quorum").withDefault("any_one"),
	key("min_responses", count, "quorum: the number of answers that suffices (needed); best_of: the number of answers that is required. At most the number of participants asked", "2").withDefaultText("1"),
	key("score_field", word, "best_of: the field of an answer to compare, as a JSON pointer or dotted path (needed)", "/offer/price").withDefaultText("none"),
	key("score_order", choice("asc", "desc"), "best_of: the smallest or the largest score is the best", "asc").withDefaultText("`desc` with `best_of`"),
	key("hedge_after", duration, "any_one: how long to wait for an answer before asking the next participant", "PT2S").withDefaultText("all at once"),
}}

// pointer is a JSON pointer to a part of a value.
var pointer = scalar("text", map[string]any{"type": "string", "pattern": "^(/([^/~]|~[01])*)+$"})

var resultMatch = &Shape{name: "result_match", text: "How a decision is read from a value.",
	rule: anyOf(hasSuch("fulfilled_values", someItems), hasSuch("not_fulfilled_values", someItems)), keys: []Key{
		key("path", pointer, "a JSON pointer to the deciding field", "/verification/status").required(),
		key("fulfilled_values", values, "values that mean yes", "[verified]").withDefaultText("none; at least one of the two lists must have a value"),
		key("not_fulfilled_values", values, "values that mean no", "[rejected]").withDefaultText("none"),
	}}

var decisionSource = &Shape{name: "decision_source", text: "The source of the decision whether a task is fulfilled.", rule: all(
	when(choosing("kind", "capability"), has("capability_id")),
	when(choosing("kind", "automatic"), has("operation")),
), keys: []Key{
	key("kind", choice("capability", "operator", "requester", "automatic"),
		"a call to a holder of `capability_id`; an operator of the engine (`sluice decide`); the person who started the run; or a call of `operation`", "operator").required(),
	key("capability_id", word, "capability: the capability; its holders are asked", "verify").withDefaultText("needed with `capability`"),
	key("operation", word, "capability, automatic: the operation that decides", "review").withDefaultText("the `capability_id`; needed with `automatic`"),
	key("input", anything, "its input, with expressions anywhere in it", `{order: "{{ input.order }}"}`).withDefaultText("null"),
	key("timing", is(timing), "`timeout` and `retry` of that call, or how long a person may take; not `total_timeout`, `queue_timeout` or `on_timeout`", "{timeout: PT1H}").withDefaultText("none"),
}}

var fulfillment = &Shape{name: "fulfillment", text: "The decision whether a completed call has fulfilled its task.", rule: all(
	when(choosing("policy", "external_decision"), has("decision_source")),
	when(choosing("policy", "output_match"), has("result_match")),
), keys: []Key{
	key("policy", choice("output_match", "external_decision", "requester_confirmation", "auto", "never"),
		"decided by the step's own output (`result_match`); by the `decision_source`; by the requester of the run; by any answer; or only by a person's explicit decision", "external_decision").required(),
	key("decision_source", is(decisionSource), "the source of the decision", "{kind: operator}").withDefaultText("needed with `external_decision`"),
	key("result_match", is(resultMatch), "how a decision is read from an output or an answer", "{path: /status, fulfilled_values: [ok]}").withDefaultText("needed with `output_match`"),
	key("on_not_fulfilled", choice("fail", "pause", "skip", "abort_workflow"), "effect of a negative decision: the step fails (`not_fulfilled`), the run pauses, the step is skipped, or the run ends", "skip").withDefault("fail"),
	key("on_error", choice("fail", "pause", "skip", "abort_workflow", "retry"), "effect of a failure to decide (`decision_error`); retry asks again", "retry").withDefault("fail"),
}}

// callKeys returns the keys of a step that are about its call.
func callKeys() []Key {
	return []Key{
		key("input", anything, "the input of the call, with expressions `{{ … }}` anywhere in it", `{order: "{{ input.id }}"}`).withDefaultText("null"),
		key("target", is(target), "the participants to ask", "{resolve: static, participants: [hill, river]}").withDefaultText("the operation itself"),
		key("fan_in", is(fanIn), "how the answers of several participants become one", "{policy: all}").withDefaultText("`any_one`"),
		key("timing", is(timing), "limits and retries", "{timeout: PT30S}").withDefaultText("no limit, one attempt"),
		key("fulfillment", is(fulfillment), "how to decide whether the task is fulfilled", "{policy: auto}").withDefaultText("the answer is enough"),
		key("idempotent", boolean, "false: a call that was under way when the process died fails with `interrupted`, and is not made again", "false").withDefault(true),
	}
}

var passport = &Shape{name: "passport", text: "States that a participant offers a capability during a period.", keys: []Key{
	key("participant", word, "the participant's id", "hill").required(),
	key("valid_from", instant, "start of the period", "2026-01-01T00:00:00Z").withDefaultText("always"),
	key("valid_until", instant, "end of the period; after `valid_from`", "2027-01-01T00:00:00Z").withDefaultText("for ever"),
	key("revoked", boolean, "true: the passport is not valid", "true").withDefault(false),
	key("attributes", free, "attributes that a target's `filter` compares", "{region: north}").withDefaultText("none"),
}}

// about is the data about a participant. The key of the entry is the id of the participant.
var about = scalar("mapping or null", map[string]any{"type": []any{"object", "null"}})

// directoryKeys are the keys of a directory, inside a document and as a document.
var directoryKeys = []Key{
	key("participants", mapOf(about), "data about each participant, by id; bindings read it as `participant`, and the id as `participant.id`", `{hill: {endpoint: "http://127.0.0.1:9001"}}`).withDefaultText("none"),
	key("capabilities", mapOf(list(is(passport))), "passports by capability, in the order in which the participants are asked", "{quote: [{participant: hill}]}").withDefaultText("none"),
}

var directory = &Shape{name: "directory", text: "The participants that calls can ask.", keys: directoryKeys}

var directoryKind = Kind{Name: "Directory", file: "directory", title: "Directory of participants",
	text: "A directory is a file that lists participants and their capabilities: `sluice run --directory FILE`. It has no `kind`, and may be replaced " +
		"while runs use it. Workflows, playbooks and scenarios have the same keys under `directory`.",
	root: &Shape{name: "Directory", text: "A directory of participants.", keys: directoryKeys}}
