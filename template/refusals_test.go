package template_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// workflow returns a document with the given lines after its kind and its name, which are lines 1 and 2.
func workflow(lines ...string) string {
	return "kind: Workflow\nname: w\n" + strings.Join(lines, "\n") + "\n"
}

// step returns a document with one step, on line 3, with an operation and the given keys.
func step(rest string) string { return workflow("steps: [{operation: a, " + rest + "}]") }

// operation returns a document that binds one operation, on line 3.
func operation(binding string) string {
	return workflow("operations: {x: "+binding+"}", "steps: [{operation: x}]")
}

// refusals has an example of each class of refusal: the document and the expected lines.
var refusals = []struct {
	name, text string
	want       []string
}{
	{"nothing but a list", "- a\n", []string{`w.yaml:1:1: the document must be a mapping, not a list`, `w.yaml:1:1: name: name is missing`}},
	{"no kind, no name, no steps", "version: \"1\"\n", []string{
		`w.yaml:1:1: kind: kind is missing`, `w.yaml:1:1: name: name is missing`, `w.yaml:1:1: steps: steps is missing`}},
	{"another kind", "kind: Playbook\nmetadata: {name: w}\nworkflow: []\n", []string{`w.yaml:1:7: kind: kind must be Workflow, not "Playbook"`}},
	{"a name with a space", "kind: Workflow\nname: My order\nsteps: []\n", []string{
		`w.yaml:2:7: name: invalid name "My order": a name has a-z, 0-9, dots, dashes and underscores, at most 500`}},

	{"unknown key of the root", workflow("deadlin: PT5M", "steps: []"), []string{`w.yaml:3:1: deadlin: unknown key "deadlin" (did you mean "deadline"?)`}},
	{"unknown key of a step", step("fanin: {policy: all}"), []string{`w.yaml:3:24: steps[0].fanin: unknown key "fanin" (did you mean "fan_in"?)`}},
	{"unknown key that is near nothing", step("colour: red"), []string{`w.yaml:3:24: steps[0].colour: unknown key "colour"`}},
	{"unknown key of a container", workflow("steps: [{parallel: {step: [], max_concurrency: 1}}]"), []string{
		`w.yaml:3:21: steps[0].parallel.step: unknown key "step" (did you mean "steps"?)`}},
	{"unknown key beside a container", workflow("steps: [{parallel: {steps: []}, id: x}]"), []string{`w.yaml:3:33: steps[0].id: unknown key "id"`}},
	{"two things in one", workflow("steps: [{parallel: {steps: []}, operation: a}]"), []string{
		`w.yaml:3:33: steps[0].operation: operation cannot be combined with parallel`}},
	{"a container misspelt", workflow("steps: [{paralel: {steps: []}}]"), []string{
		`w.yaml:3:10: steps[0].paralel: unknown key "paralel" (did you mean "parallel"?)`}},
	{"a misspelt key is not missing too", workflow("steps: [{opration: a}]"), []string{
		`w.yaml:3:10: steps[0].opration: unknown key "opration" (did you mean "operation"?)`}},
	{"a target of a value", workflow("operations: {x: {value: 1}}", "steps: [{operation: x, target: {resolve: static, participants: [a]}}]"), []string{
		`w.yaml:4:32: steps[0].target: a target needs an operation with participants, but "x" is a value`}},
	{"a target of a sleep", workflow("operations: {x: {sleep: {for: PT1S}}}", "steps: [{operation: x, target: {resolve: static, participants: [a]}}]"), []string{
		`w.yaml:4:32: steps[0].target: a target needs an operation with participants, but "x" is a sleep`}},
	{"a target of a wait", workflow("operations: {x: {wait: {message: m}}}", "steps: [{operation: x, target: {resolve: static, participants: [a]}}]"), []string{
		`w.yaml:4:32: steps[0].target: a target needs an operation with participants, but "x" is a wait`}},
	{"a target of a fail", workflow("operations: {x: {fail: {code: x}}}", "steps: [{operation: x, target: {resolve: static, participants: [a]}}]"), []string{
		`w.yaml:4:32: steps[0].target: a target needs an operation with participants, but "x" is a fail`}},
	{"a decision by an operation of the engine", workflow("operations: {n: {value: 1}}",
		"steps: [{operation: a, fulfillment: {policy: external_decision, decision_source: {kind: automatic, operation: n}}}]"), []string{
		`w.yaml:4:111: steps[0].fulfillment.decision_source.operation: a decision needs an operation with participants, but "n" is a value`}},
	{"a decision that calls no operation", workflow("operations: {n: {value: 1}, v: {command: {argv: [v]}}}", "steps:",
		"- {operation: a, id: s0, fulfillment: {policy: external_decision, decision_source: {kind: automatic}}}",
		"- {operation: a, id: s1, fulfillment: {policy: external_decision, decision_source: {kind: capability, capability_id: b}}}",
		"- {operation: a, id: s2, fulfillment: {policy: external_decision, decision_source: {kind: capability, capability_id: n}}}",
		"- {operation: a, id: s3, fulfillment: {policy: external_decision, decision_source: {kind: capability, capability_id: v}}}",
		"- {operation: a, id: s4, fulfillment: {policy: external_decision, decision_source: {kind: operator, capability_id: b}}}",
		"- {operation: a, id: s5, fulfillment: {policy: auto, decision_source: {kind: capability, capability_id: b}}}"), []string{
		`w.yaml:5:84: steps[0].fulfillment.decision_source.operation: automatic needs operation`,
		`w.yaml:6:118: steps[1].fulfillment.decision_source.capability_id: unknown operation "b": bind it under operations, or a program or worker must have it`,
		`w.yaml:7:118: steps[2].fulfillment.decision_source.capability_id: a decision needs an operation with participants, but "n" is a value`}},
	{"no operation", workflow("steps: [{id: a}]"), []string{`w.yaml:3:9: steps[0].operation: operation is missing`}},
	{"a step that is a text", workflow("steps: [a]"), []string{`w.yaml:3:9: steps[0]: a step must be a mapping, not a string: "a"`}},
	{"steps that are a mapping", workflow("steps: {operation: a}"), []string{`w.yaml:3:8: steps: steps must be a list, not a mapping`}},

	{"values of the wrong kind", workflow("version: 3", "input: [1]", "max_concurrency: many", "deadline: 30", "failure_policy: [x]", "steps: []"), []string{
		`w.yaml:3:10: version: version must be a string, not an integer`,
		`w.yaml:4:8: input: input must be a JSON Schema, not a list`,
		`w.yaml:5:18: max_concurrency: max_concurrency must be an integer, not a string: "many"`,
		`w.yaml:6:11: deadline: invalid duration "30": write it as PT30S, PT5M or P1DT12H`,
		`w.yaml:7:17: failure_policy: failure_policy must be a string, not a list`}},
	{"more values of the wrong kind", step("needs: a, idempotent: 1, timing: {retry: {max_attempts: 1.5, jitter: x, on: b}}"), []string{
		`w.yaml:3:31: steps[0].needs: needs must be a list, not a string: "a"`,
		`w.yaml:3:46: steps[0].idempotent: idempotent must be a boolean, not an integer`,
		`w.yaml:3:80: steps[0].timing.retry.max_attempts: max_attempts must be an integer, not a number`,
		`w.yaml:3:93: steps[0].timing.retry.jitter: jitter must be a number, not a string: "x"`,
		`w.yaml:3:100: steps[0].timing.retry.on: on must be a list, not a string: "b"`}},

	{"unknown failure policy", workflow("failure_policy: abort-al", "steps: []"), []string{
		`w.yaml:3:17: failure_policy: failure_policy must be one of continue-running, abort-dependents, abort-all, not "abort-al" (did you mean "abort-all"?)`}},
	{"a limit of zero", workflow("max_concurrency: 0", "steps: [{parallel: {steps: [], max_concurrency: -1}}]"), []string{
		`w.yaml:3:18: max_concurrency: max_concurrency must be at least 1, not 0`,
		`w.yaml:4:49: steps[0].parallel.max_concurrency: max_concurrency must be at least 1, not -1`}},
	{"durations", workflow("deadline: P1M", "steps: [{operation: a, timing: {timeout: P, total_timeout: PT0S, retry: {max_attempts: 1, backoff: -PT1S, max_backoff: 5s}}}]"), []string{
		`w.yaml:3:11: deadline: invalid duration "P1M": years and months have no fixed length`,
		`w.yaml:4:42: steps[0].timing.timeout: invalid duration "P": write it as PT30S, PT5M or P1DT12H`,
		`w.yaml:4:60: steps[0].timing.total_timeout: invalid duration "PT0S": it is zero`,
		`w.yaml:4:100: steps[0].timing.retry.backoff: invalid duration "-PT1S": it is negative`,
		`w.yaml:4:120: steps[0].timing.retry.max_backoff: invalid duration "5s": write it as PT30S, PT5M or P1DT12H`}},
	{"retry", step("timing: {on_timeout: stop, retry: {backoff_multiplier: 0.5, jitter: 2, scope: some, on: [x], never: [x]}}"), []string{
		`w.yaml:3:45: steps[0].timing.on_timeout: on_timeout must be one of fail, skip, abort_workflow, not "stop"`,
		`w.yaml:3:58: steps[0].timing.retry.max_attempts: max_attempts is missing`,
		`w.yaml:3:79: steps[0].timing.retry.backoff_multiplier: backoff_multiplier must be at least 1, not 0.5`,
		`w.yaml:3:92: steps[0].timing.retry.jitter: jitter must be between 0 and 1, not 2`,
		`w.yaml:3:102: steps[0].timing.retry.scope: scope must be one of missing, all, not "some"`,
		`w.yaml:3:125: steps[0].timing.retry.never[0]: never and on both name "x"`}},
	{"what is missing, and empty texts", workflow("steps:",
		"- {operation: a, id: '', target: {}, fan_in: {policy: ''}, fulfillment: {on_error: fail}}",
		"- {operation: a, id: b, timing: {on_timeout: ''}, fulfillment: {policy: output_match, result_match: {fulfilled_values: [1]}}}"), []string{
		`w.yaml:4:22: steps[0].id: id must not be an empty text`,
		`w.yaml:4:34: steps[0].target.resolve: resolve is missing: it must be one of static, capability, task_type`,
		`w.yaml:4:55: steps[0].fan_in.policy: policy must not be an empty text`,
		`w.yaml:4:73: steps[0].fulfillment.policy: policy is missing: it must be one of output_match, external_decision, requester_confirmation, auto, never`,
		`w.yaml:5:46: steps[1].timing.on_timeout: on_timeout must not be an empty text`,
		`w.yaml:5:101: steps[1].fulfillment.result_match.path: path is missing`}},
	{"a queue timeout that has no effect", workflow("operations: {o: {value: 1}}", "steps:",
		"- {operation: o, timing: {queue_timeout: PT5M}}",
		"- {operation: a, id: s, timing: {queue_timeout: PT0S}, fulfillment: {policy: external_decision, decision_source: {kind: operator, capability_id: c, timing: {queue_timeout: PT1M}}}}",
		"- {operation: a, timing: {queue_timeout: soon}}"), []string{
		`w.yaml:5:42: steps[0].timing.queue_timeout: queue_timeout has no effect: the operation is bound, so no worker takes its calls: "PT5M"`,
		`w.yaml:6:49: steps[1].timing.queue_timeout: invalid duration "PT0S": it is zero`,
		`w.yaml:6:173: steps[1].fulfillment.decision_source.timing.queue_timeout: queue_timeout has no effect: a decision is asked for at once: "PT1M"`,
		`w.yaml:7:42: steps[2].timing.queue_timeout: invalid duration "soon": write it as PT30S, PT5M or P1DT12H`}},
	{"a limit of all attempts to decide", step("fulfillment: {policy: external_decision, decision_source: {kind: operator, timing: {total_timeout: PT5M}}}"), []string{
		`w.yaml:3:123: steps[0].fulfillment.decision_source.timing.total_timeout: total_timeout does not limit a decision: timeout limits each attempt, and retry their number`}},
	{"no attempts and no growth", step("timing: {retry: {max_attempts: 0, backoff_multiplier: 0}}"), []string{
		`w.yaml:3:55: steps[0].timing.retry.max_attempts: max_attempts must be at least 1, not 0`,
		`w.yaml:3:78: steps[0].timing.retry.backoff_multiplier: backoff_multiplier must be at least 1, not 0`}},

	{"targets", workflow("steps:",
		"- {operation: a, id: s0, target: {resolve: statik, limit: 0}}",
		"- {operation: a, id: s1, target: {resolve: static, capability_id: c, filter: {a: 1}, limit: 3}}",
		"- {operation: a, id: s2, target: {resolve: capability, participants: [p]}}",
		"- {operation: a, id: s3, target: {resolve: static, participants: [\"\"]}}",
		"- {operation: a, id: s4, fan_in: {policy: all}}"), []string{
		`w.yaml:4:44: steps[0].target.resolve: resolve must be one of static, capability, task_type, not "statik" (did you mean "static"?)`,
		`w.yaml:4:59: steps[0].target.limit: limit must be at least 1, not 0`,
		`w.yaml:5:34: steps[1].target.participants: static needs participants`,
		`w.yaml:5:67: steps[1].target.capability_id: capability_id needs resolve capability`,
		`w.yaml:5:78: steps[1].target.filter: filter needs resolve capability`,
		`w.yaml:5:93: steps[1].target.limit: limit needs resolve capability`,
		`w.yaml:6:34: steps[2].target.capability_id: capability needs capability_id`,
		`w.yaml:6:70: steps[2].target.participants: participants needs resolve static`,
		`w.yaml:7:67: steps[3].target.participants[0]: participants must have names`,
		`w.yaml:8:34: steps[4].fan_in: fan_in needs a target`}},
	{"fan-in", workflow("steps:",
		"- {operation: a, id: s0, target: &t {}}"), []string{`w.yaml:4:34: anchors are not allowed: "&t"`}},
	{"fan-in policies", workflow("steps:",
		"- {operation: a, id: s0, target: {resolve: static, participants: [p, p, q]}, fan_in: {policy: quorum}}",
		"- {operation: a, id: s1, target: {resolve: static, participants: [p, p, q]}, fan_in: {policy: quorum, min_responses: 3}}",
		"- {operation: a, id: s2, target: {resolve: static, participants: [p, p, q]}, fan_in: {policy: quorum, min_responses: 0}}",
		"- {operation: a, id: s3, target: {resolve: static, participants: [p, p, q]}, fan_in: {min_responses: 2}}",
		"- {operation: a, id: s4, target: {resolve: static, participants: [p, p, q]}, fan_in: {policy: all, min_responses: 2, hedge_after: PT1S}}",
		"- {operation: a, id: s5, target: {resolve: capability, capability_id: c, limit: 2}, fan_in: {policy: most, min_responses: 3}}",
		"- {operation: a, id: s6, target: {resolve: static, participants: [p, p, q]}, fan_in: {policy: best_of, score_order: up}}",
		"- {operation: a, id: s7, target: {resolve: static, participants: [p, p, q]}, fan_in: {policy: all, score_field: /a, score_order: asc}}",
		"- {operation: a, id: s8, target: {resolve: static, participants: [p, p, q]}, timing: {timeout: P1M}, fan_in: {policy: best_of, score_field: $$}}"), []string{
		`w.yaml:4:86: steps[0].fan_in.min_responses: quorum needs min_responses`,
		`w.yaml:5:118: steps[1].fan_in.min_responses: min_responses is 3 but there are 2 participants`,
		`w.yaml:6:118: steps[2].fan_in.min_responses: min_responses must be at least 1, not 0`,
		`w.yaml:7:102: steps[3].fan_in.min_responses: min_responses must be 1 with policy any_one, which takes the first answer`,
		`w.yaml:8:115: steps[4].fan_in.min_responses: min_responses cannot be combined with policy all, which requires every answer`,
		`w.yaml:8:131: steps[4].fan_in.hedge_after: hedge_after needs policy any_one`,
		`w.yaml:9:102: steps[5].fan_in.policy: policy must be one of any_one, all, quorum, best_of, not "most"`,
		`w.yaml:9:123: steps[5].fan_in.min_responses: min_responses is 3 but limit is 2`,
		`w.yaml:10:86: steps[6].fan_in.score_field: best_of needs score_field`,
		`w.yaml:10:95: steps[6].fan_in.policy: best_of needs a timeout or a deadline`,
		`w.yaml:10:117: steps[6].fan_in.score_order: score_order must be one of asc, desc, not "up"`,
		`w.yaml:11:113: steps[7].fan_in.score_field: score_field needs policy best_of`,
		`w.yaml:11:130: steps[7].fan_in.score_order: score_order needs policy best_of`,
		`w.yaml:12:96: steps[8].timing.timeout: invalid duration "P1M": years and months have no fixed length`,
		`w.yaml:12:141: steps[8].fan_in.score_field: score_field "$$" is not a field: write a path such as /offer/price`}},
	{"a workflow that fans out to itself", workflow("operations: {again: {workflow: {name: w}}}",
		"steps: [{operation: again, target: {resolve: static, participants: [p]}}]"), []string{
		`w.yaml:4:36: steps[0].target: nested fan-out: workflow "w" asks participants itself`}},

	{"fulfillment", workflow("steps:",
		"- {operation: a, id: s0, fulfillment: {policy: ask, on_not_fulfilled: retry, on_error: stop}}",
		"- {operation: a, id: s1, fulfillment: {policy: external_decision}}",
		"- {operation: a, id: s2, fulfillment: {policy: output_match}}",
		"- {operation: a, id: s3, fulfillment: {policy: output_match, result_match: {path: status}}}",
		"- {operation: a, id: s4, fulfillment: {policy: output_match, result_match: {path: /s, fulfilled_values: [1, ok], not_fulfilled_values: [no, 1]}}}",
		"- {operation: a, id: s5, fulfillment: {policy: external_decision, decision_source: {kind: capability, timing: {on_timeout: x}}}}",
		"- {operation: a, id: s6, fulfillment: {policy: external_decision, decision_source: {kind: oracle, operation: b}}}"), []string{
		`w.yaml:4:48: steps[0].fulfillment.policy: policy must be one of output_match, external_decision, requester_confirmation, auto, never, not "ask"`,
		`w.yaml:4:71: steps[0].fulfillment.on_not_fulfilled: on_not_fulfilled must be one of fail, pause, skip, abort_workflow, not "retry"`,
		`w.yaml:4:88: steps[0].fulfillment.on_error: on_error must be one of fail, pause, skip, abort_workflow, retry, not "stop"`,
		`w.yaml:5:39: steps[1].fulfillment.decision_source: external_decision needs decision_source`,
		`w.yaml:6:39: steps[2].fulfillment.result_match: output_match needs result_match`,
		`w.yaml:7:76: steps[3].fulfillment.result_match.fulfilled_values: result_match needs fulfilled_values or not_fulfilled_values`,
		`w.yaml:7:83: steps[3].fulfillment.result_match.path: path must be a JSON pointer such as /verification/status, not "status"`,
		`w.yaml:8:141: steps[4].fulfillment.result_match.not_fulfilled_values[1]: fulfilled_values and not_fulfilled_values both contain 1`,
		`w.yaml:9:84: steps[5].fulfillment.decision_source.capability_id: capability needs capability_id`,
		`w.yaml:9:124: steps[5].fulfillment.decision_source.timing.on_timeout: on_timeout must be one of fail, skip, abort_workflow, not "x"`,
		`w.yaml:10:91: steps[6].fulfillment.decision_source.kind: kind must be one of capability, operator, requester, automatic, not "oracle"`,
		`w.yaml:10:110: steps[6].fulfillment.decision_source.operation: unknown operation "b": bind it under operations, or a program or worker must have it`}},

	{"directory", workflow("directory:", "  participants: [p]", "  capabilities:", "    c: p", "    d:",
		"    - {valid_from: yesterday, valid_until: 2027-01-01, revoked: yes}",
		"    - {participant: p, valid_from: 2027-01-01T00:00:00Z, valid_until: 2026-01-01T00:00:00Z}", "steps: []"), []string{
		`w.yaml:4:17: directory.participants: participants must be a mapping, not a list`,
		`w.yaml:6:8: directory.capabilities.c: c must be a list, not a string: "p"`,
		`w.yaml:8:7: directory.capabilities.d[0].participant: participant is missing`,
		`w.yaml:8:20: directory.capabilities.d[0].valid_from: valid_from must be a time such as 2027-01-31T12:00:00Z: "yesterday"`,
		`w.yaml:8:44: directory.capabilities.d[0].valid_until: valid_until must be a time such as 2027-01-31T12:00:00Z: "2027-01-01"`,
		`w.yaml:8:65: directory.capabilities.d[0].revoked: revoked must be a boolean, not a string: "yes"`,
		`w.yaml:9:71: directory.capabilities.d[1].valid_until: valid_until must be after valid_from`}},

	{"data about participants", workflow("directory: {participants: {a: {id: b}, b: {id: b, price: 3}, c: null, d: 7, e: [x], f: {}, g: {id: 7}}}", "steps: []"), []string{
		`w.yaml:3:36: directory.participants.a.id: the id of participant "a" is its key, not "b": omit id, or use another key`,
		`w.yaml:3:74: directory.participants.d: participant "d" must be a mapping or null, not an integer`,
		`w.yaml:3:80: directory.participants.e: participant "e" must be a mapping or null, not a list`,
		`w.yaml:3:100: directory.participants.g.id: the id of participant "g" is its key, not "7": omit id, or use another key`}},

	{"a binding of nothing", operation("{}"), []string{`w.yaml:3:17: operations.x: operation "x" must have one of command, http, sleep, wait, workflow, value, fail`}},
	{"a binding of two things", operation("{value: 1, fail: {code: a}}"), []string{
		`w.yaml:3:17: operations.x: operation "x" must have one of command, http, sleep, wait, workflow, value, fail`}},
	{"a misspelt binding", operation("{comand: {argv: [ls]}}"), []string{`w.yaml:3:18: operations.x.comand: unknown key "comand" (did you mean "command"?)`}},
	{"a command of nothing", operation("{command: {output: yaml}}"), []string{
		`w.yaml:3:27: operations.x.command.argv: command must have one of argv, shell`,
		`w.yaml:3:36: operations.x.command.output: output must be one of text, json, lines, not "yaml"`}},
	{"a request that follows nowhere", operation("{http: {url: \"http://x\", follow_redirects: all}}"), []string{
		`w.yaml:3:60: operations.x.http.follow_redirects: follow_redirects must be one of same_host, any, not "all"`}},
	{"requests without a URL", workflow("operations: {a: {http: {url: example.com/}}, b: {http: {url: \"ftp://a/\"}}, c: {http: {url: \"https:///x\"}}, d: {http: {url: \"http://a{{ input }}\"}}}", "steps: []"), []string{
		`w.yaml:3:30: operations.a.http.url: "example.com/" is no URL: write one such as https://example.com/`,
		`w.yaml:3:62: operations.b.http.url: the URL "ftp://a/" begins with neither http:// nor https://`,
		`w.yaml:3:92: operations.c.http.url: the URL "https:///x" names no host`}},
	{"requests that cannot be made", workflow("operations: {a: {http: {url: \"http://a:65536/\", method: G T}}, b: {http: {url: \"http://a:80/\", method: get, headers: {a b: 1, X-A: 1, \"\": 2}}}}", "steps: []"), []string{
		`w.yaml:3:30: operations.a.http.url: the URL "http://a:65536/" has a port that is none: a port is at most 65535`,
		`w.yaml:3:57: operations.a.http.method: "G T" is no method: write one such as POST`,
		`w.yaml:3:124: operations.b.http.headers["a b"]: "a b" is no name of a header: write one such as X-Order-Id`,
		`w.yaml:3:139: operations.b.http.headers[""]: "" is no name of a header: write one such as X-Order-Id`}},
	{"a command of two things", operation("{command: {argv: [\"\"], shell: ls}}"), []string{
		`w.yaml:3:47: operations.x.command.shell: shell cannot be combined with argv`}},
	{"a command without a program", operation("{command: {argv: [\"\"]}}"), []string{
		`w.yaml:3:34: operations.x.command.argv: argv must begin with a program`}},
	{"variables that have no names", operation("{command: {shell: ls, env: {A=B: c, \"\": d, E: f}}}"), []string{
		`w.yaml:3:44: operations.x.command.env: env has "", which is not the name of a variable: write NAME: value`,
		`w.yaml:3:44: operations.x.command.env: env has "A=B", which is not the name of a variable: write NAME: value`}},
	{"a shell that runs its input", operation("{command: {shell: \"ls {{ input }}\"}}"), []string{
		`w.yaml:3:35: operations.x.command.shell: shell takes no expressions: pass values in env and quote them there, as in "$NAME"`}},
	{"variables that are null", operation("{command: {argv: [ls], env: null}}"), []string{
		`w.yaml:3:45: operations.x.command.env: env must be a mapping, not null`}},
	{"a variable that is null", operation("{command: {argv: [ls], env: {HOME: null}}}"), []string{
		`w.yaml:3:52: operations.x.command.env.HOME: HOME must be a string, not null: remove it, or write an expression, which may give null`}},
	{"arguments that are no texts", operation("{command: {argv: [ls, [a], 1.5], env: {A: true}}}"), []string{
		`w.yaml:3:39: operations.x.command.argv[1]: argv[1] must be a string, not a list`,
		`w.yaml:3:44: operations.x.command.argv[2]: argv[2] must be a string, not a number: quote it`,
		`w.yaml:3:59: operations.x.command.env.A: A must be a string, not a boolean: quote it`}},
	{"http, sleep, wait, workflow and fail without what they need",
		workflow("operations: {h: {http: {}}, s: {sleep: {}}, w: {wait: {}}, c: {workflow: {}}, d: {workflow: {path: a, name: b}}, f: {fail: {}}}", "steps: []"), []string{
			`w.yaml:3:24: operations.h.http.url: http needs url`,
			`w.yaml:3:40: operations.s.sleep.for: sleep needs for`,
			`w.yaml:3:55: operations.w.wait.message: wait needs message`,
			`w.yaml:3:74: operations.c.workflow: workflow must have one of path, name`,
			`w.yaml:3:109: operations.d.workflow.name: name cannot be combined with path`,
			`w.yaml:3:124: operations.f.fail.code: fail needs code`}},
	{"a sleep of no duration", operation("{sleep: {for: 5 minutes}}"), []string{
		`w.yaml:3:31: operations.x.sleep.for: invalid duration "5 minutes": write it as PT30S, PT5M or P1DT12H`}},
	{"a binding that reads a step", operation("{value: [1, \"{{ steps.x.output }}\"]}"), []string{
		`w.yaml:3:29: operations.x.value[1]: an operation cannot read steps.x.output: pass it in the input of the step`}},
	{"a binding with an unknown name", operation("{value: \"{{ inptu }}\"}"), []string{
		`w.yaml:3:25: operations.x.value: unknown name "inptu" (did you mean "input"?)`}},

	{"unknown operation", workflow("operations: {order.split: {value: 1}}", "steps: [{operation: order.splitt}]"), []string{
		`w.yaml:4:21: steps[0].operation: unknown operation "order.splitt" (did you mean "order.split"?)`}},
	{"duplicate ids", workflow("steps:", "- {operation: a}", "- {map: {id: a, over: [], steps: [{operation: a, id: b}]}}", "- {conditional: {id: b, test: a, then: []}}"), []string{
		`w.yaml:5:14: steps[1].map.id: duplicate step id "a", first at steps[0]`,
		`w.yaml:6:22: steps[2].conditional.id: duplicate step id "b", first at steps[1].map.steps[0]`}},
	{"ids that keys could not hold", workflow("steps: [{operation: a, id: \"a b\"}, {operation: a, id: \"a[1]\"}, {operation: a, id: \"a\\u0007\"}, {operation: a, id: a/b}, {operation: a, id: \"a#1\"}]"), []string{
		`w.yaml:3:28: steps[0].id: invalid step id "a b": an id has no spaces and none of / [ ] #`,
		`w.yaml:3:55: steps[1].id: invalid step id "a[1]": an id has no spaces and none of / [ ] #`,
		`w.yaml:3:83: steps[2].id: invalid step id "a\a": remove the character U+0007, which cannot be seen`,
		`w.yaml:3:114: steps[3].id: invalid step id "a/b": an id has no spaces and none of / [ ] #`,
		`w.yaml:3:139: steps[4].id: invalid step id "a#1": an id has no spaces and none of / [ ] #`}},

	{"operations whose names are no ids", workflow("operations: {team/pay: {value: 1}}", "steps: [{operation: team/pay}, {operation: team/pay, id: pay}]"), []string{
		`w.yaml:4:21: steps[0].operation: invalid step id "team/pay": an id has no spaces and none of / [ ] #: the name of the operation is no id, so give the step one`}},
	{"names that look like others", workflow(
		"operations: {\"b\\u202e\": {command: {argv: [b]}}}",
		"directory: {participants: {\"hill\\u200b\": {}}, capabilities: {\"quote\\u200b\": [{participant: \"hill\\u200b\"}]}}",
		"steps:",
		"- {operation: a, id: s1, target: {resolve: static, participants: [hill, \"hi\\u202ell\", \"hi\\nll\"]}}",
		"- {operation: a, id: s2, target: {resolve: capability, capability_id: \"quo\\u200bte\"}}"), []string{
		`w.yaml:3:25: operations["b\u202e"]: invalid name "b\u202e": remove the character U+202E, which cannot be seen`,
		`w.yaml:4:42: directory.participants["hill\u200b"]: invalid name "hill\u200b": remove the character U+200B, which cannot be seen`,
		`w.yaml:4:77: directory.capabilities["quote\u200b"]: invalid name "quote\u200b": remove the character U+200B, which cannot be seen`,
		`w.yaml:4:92: directory.capabilities["quote\u200b"][0].participant: invalid name "hill\u200b": remove the character U+200B, which cannot be seen`,
		`w.yaml:6:73: steps[0].target.participants[1]: invalid name "hi\u202ell": remove the character U+202E, which cannot be seen`,
		`w.yaml:6:87: steps[0].target.participants[2]: invalid name "hi\nll": remove the character U+000A, which cannot be seen`,
		`w.yaml:7:71: steps[1].target.capability_id: invalid name "quo\u200bte": remove the character U+200B, which cannot be seen`}},

	{"unknown steps, named in every way", workflow("steps:",
		"- {operation: a, id: split}",
		"- {operation: a, id: s1, needs: [splt]}",
		"- {operation: a, id: s2, input: {x: [\"{{ steps.splt.output }}\"], y: {from: /steps/splt/output}}}",
		"- {conditional: {test: splt, then: []}}",
		"- {conditional: {test: \"{{ steps.splt.status == 'failed' }}\", then: []}}",
		"- {map: {id: m, over: \"{{ steps.splt.output }}\", steps: [{operation: a, id: s3}]}}",
		"- {operation: a, id: s4, func: {name: f, args: [\"{{ steps.splt.output }}\"]}}",
		"output: \"{{ steps.splt.output }}\""), []string{
		`w.yaml:5:34: steps[1].needs[0]: unknown step "splt" (did you mean "split"?)`,
		`w.yaml:6:38: steps[2].input.x[0]: unknown step "splt" (did you mean "split"?)`,
		`w.yaml:6:76: steps[2].input.y.from: unknown step "splt" (did you mean "split"?)`,
		`w.yaml:7:24: steps[3].conditional.test: unknown step "splt" (did you mean "split"?)`,
		`w.yaml:8:24: steps[4].conditional.test: unknown step "splt" (did you mean "split"?)`,
		`w.yaml:9:23: steps[5].map.over: unknown step "splt" (did you mean "split"?)`,
		`w.yaml:10:49: steps[6].func.args[0]: unknown step "splt" (did you mean "split"?)`,
		`w.yaml:11:9: output: unknown step "splt" (did you mean "split"?)`}},
	{"fields that runs and errors do not have", workflow("operations: {x: {value: \"{{ run.idd }}\"}}", "steps:",
		"- {operation: x}",
		"- {conditional: {test: \"{{ run.nmae == 'w' or steps.x.error.cod == 'late' }}\", then: []}}",
		"output: {from: /run/startd_at}"), []string{
		`w.yaml:3:25: operations.x.value: unknown field "idd" of run (did you mean "id"?)`,
		`w.yaml:6:24: steps[1].conditional.test: unknown field "cod" of a step's error (did you mean "code"?)`,
		`w.yaml:6:24: steps[1].conditional.test: unknown field "nmae" of run (did you mean "name"?)`,
		`w.yaml:7:16: output.from: unknown field "startd_at" of run (did you mean "started_at"?)`}},
	{"durations that are nothing like one", workflow("deadline: null",
		"steps: [{operation: a, timing: {timeout: [PT1S], total_timeout: {seconds: 1}, retry: {max_attempts: 2, backoff: true}}}]"), []string{
		`w.yaml:3:11: deadline: deadline must be a duration, such as PT30S, not null`,
		`w.yaml:4:42: steps[0].timing.timeout: timeout must be a duration, such as PT30S, not a list`,
		`w.yaml:4:65: steps[0].timing.total_timeout: total_timeout must be a duration, such as PT30S, not a mapping`,
		`w.yaml:4:113: steps[0].timing.retry.backoff: invalid duration "true": write it as PT30S, PT5M or P1DT12H`}},
	{"steps inside a map, named in every way", workflow("steps:",
		"- {map: {id: m, over: [], steps: [{map: {id: n, over: [], steps: [{operation: a, id: x}]}}, {operation: a, id: y, input: \"{{ steps.x.output }}\"}]}}",
		"- {operation: a, id: s1, needs: [x]}",
		"- {operation: a, id: s2, input: {from: /steps/x/output}}",
		"- {conditional: {test: x, then: []}}",
		"output: \"{{ steps.x.output }}\""), []string{
		`w.yaml:4:122: steps[0].map.steps[1].input: step "x" is inside map "n"`,
		`w.yaml:5:34: steps[1].needs[0]: step "x" is inside map "m"`,
		`w.yaml:6:40: steps[2].input.from: step "x" is inside map "m"`,
		`w.yaml:7:24: steps[3].conditional.test: step "x" is inside map "m"`,
		`w.yaml:8:9: output: step "x" is inside map "m"`}},
	{"steps that come later, named in every way", workflow("steps:",
		"- {operation: a, id: s1, needs: [z]}",
		"- {operation: a, id: s2, input: {from: /steps/z/output}}",
		"- {conditional: {test: z, then: []}}",
		"- {parallel: {steps: [{sequential: {steps: [{operation: a, id: s3, needs: [s4]}, {operation: a, id: s4}]}}]}}",
		"- {conditional: {test: s5, then: [{operation: a, id: s5}]}}",
		"- {operation: a, id: z}"), []string{
		`w.yaml:4:34: steps[0].needs[0]: step "z" comes later`,
		`w.yaml:5:40: steps[1].input.from: step "z" comes later`,
		`w.yaml:6:24: steps[2].conditional.test: step "z" comes later`,
		`w.yaml:7:76: steps[3].parallel.steps[0].sequential.steps[0].needs[0]: step "s4" comes later`,
		`w.yaml:8:24: steps[4].conditional.test: step "s5" comes later`}},
	{"steps that wait for what is around them", workflow("steps:",
		"- {operation: a, id: self, needs: [self]}",
		"- {map: {id: m, over: [], steps: [{operation: a, id: x, input: \"{{ steps.m.output }}\"}]}}",
		"- {conditional: {id: c, test: self, then: [{operation: a, id: y, needs: [c]}]}}"), []string{
		`w.yaml:4:36: steps[0].needs[0]: cycle: self -> self`,
		`w.yaml:5:64: steps[1].map.steps[0].input: cycle: m -> x -> m`,
		`w.yaml:6:74: steps[2].conditional.then[0].needs[0]: cycle: c -> y -> c`}},
	{"outputs of steps that may be skipped", workflow("steps:",
		"- {operation: a, id: first}",
		"- {conditional: {test: first, then: [{operation: a, id: x}, {parallel: {steps: [{operation: a, id: x2, input: \"{{ steps.x.output }}\"}]}}], else: [{operation: a, id: y, input: \"{{ steps.x.output }}\"}]}}",
		"- {operation: a, id: s1, input: \"{{ steps.x.output }}\"}",
		"- {operation: a, id: s2, input: \"{{ steps.x.output ?? steps.y.output }}\"}",
		"- {operation: a, id: s3, input: {from: /steps/x/output, required: true}}",
		"- {operation: a, id: s4, input: {from: /steps/x/output}, needs: [x]}",
		"- {operation: a, id: s5, input: \"{{ steps.x.status }} {{ steps.x2.output ?? 1 }}\"}",
		"output: \"{{ steps.x2.output }}\""), []string{
		`w.yaml:5:176: steps[1].conditional.else[0].input: step "x" may be skipped: give a default with ??: "steps.x.output"`,
		`w.yaml:6:33: steps[2].input: step "x" may be skipped: give a default with ??: "steps.x.output"`,
		`w.yaml:7:33: steps[3].input: step "y" may be skipped: give a default with ??: "steps.y.output"`,
		`w.yaml:8:40: steps[4].input.from: step "x" may be skipped: give a default with ??: "/steps/x/output"`,
		`w.yaml:11:9: output: step "x2" may be skipped: give a default with ??: "steps.x2.output"`}},
	{"output of a conditional", workflow("steps:", "- {conditional: {id: c, test: \"{{ input }}\", then: []}}", "output: \"{{ steps.c.output }} {{ steps.c.status }}\""), []string{
		`w.yaml:5:9: output: conditional "c" has no output: read a step of its branches: "steps.c.output"`}},

	{"conditionals", workflow("steps:",
		"- {conditional: {then: []}}",
		"- {conditional: {test: \"{{ input }}\", func: {name: f}}}",
		"- {conditional: {test: \"is {{ input }}\", then: []}}",
		"- {conditional: {func: {args: []}, then: []}}",
		"- {operation: a, id: s1}", "- {operation: a, id: s2}",
		"- {conditional: {test: a, then: []}}",
		"- {conditional: {test: \"{{ input }} and {{ input }}\", then: []}}"), []string{
		`w.yaml:4:17: steps[0].conditional.test: test is missing`,
		`w.yaml:5:17: steps[1].conditional.then: then is missing`,
		`w.yaml:5:45: steps[1].conditional.func: func cannot be combined with test`,
		`w.yaml:6:24: steps[2].conditional.test: test must be a step id or one expression, not "is {{ input }}"`,
		`w.yaml:7:24: steps[3].conditional.func.name: name is missing`,
		`w.yaml:10:24: steps[6].conditional.test: test "a" is ambiguous: steps s1, s2 call that operation`,
		`w.yaml:11:24: steps[7].conditional.test: test must be a step id or one expression, not "{{ input }} and {{ input }}"`}},
	{"maps", workflow("steps:",
		"- {map: {steps: []}}",
		"- {map: {id: m, over: [], func: {name: f}, as: run, max_concurrency: 0, steps: [{operation: a}]}}",
		"- {map: {id: n, over: [], as: a-b, steps: [{operation: a, id: b, input: \"{{ item }}\"}]}}"), []string{
		`w.yaml:4:9: steps[0].map.id: id is missing`,
		`w.yaml:4:9: steps[0].map.over: over is missing`,
		`w.yaml:4:17: steps[0].map.steps: steps must not be empty: the output of the last step is the item's`,
		`w.yaml:5:33: steps[1].map.func: func cannot be combined with over`,
		`w.yaml:5:48: steps[1].map.as: as cannot be "run": use a name that expressions can read and that has no other meaning`,
		`w.yaml:5:70: steps[1].map.max_concurrency: max_concurrency must be at least 1, not 0`,
		`w.yaml:6:31: steps[2].map.as: as cannot be "a-b": use a name that expressions can read and that has no other meaning`,
		`w.yaml:6:73: steps[2].map.steps[0].input: unknown name "item"; known here: a-b, index, input, run`}},
	{"a function beside an input", step("input: 1, func: {name: f, args: 1}"), []string{
		`w.yaml:3:40: steps[0].func: func cannot be combined with input`,
		`w.yaml:3:56: steps[0].func.args: args must be a list, not an integer`}},
	{"an item outside its map", workflow("steps:", "- {map: {id: m, over: \"{{ item }}\", steps: [{operation: a, input: \"{{ item }} {{ index }}\"}]}}", "- {operation: a, id: b, input: \"{{ index }}\"}"), []string{
		`w.yaml:4:23: steps[0].map.over: unknown name "item"; known here: input, run`,
		`w.yaml:5:32: steps[1].input: unknown name "index"; known here: input, run`}},
	{"a second document", workflow("steps: []", "---", "a: b"), []string{`w.yaml:5:1: a second document in the file of a workflow`}},
}

func TestRefusalsNamePlacePathTextAndSuggestion(t *testing.T) {
	known := template.Known{Operation: func(name string) bool { return name == "a" }, Operations: []string{"a"}}
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			_, err := template.Load("w.yaml", []byte(c.text), known)
			require.Error(t, err)
			require.Equal(t, strings.Join(c.want, "\n"), err.Error(), "%s", c.text)
		})
	}
}

func TestANameHasAnEnd(t *testing.T) {
	for length, ok := range map[int]bool{500: true, 501: false, 100_000: false} {
		_, err := template.Load("w.yaml", []byte("kind: Workflow\nname: "+strings.Repeat("n", length)+"\nsteps: []\n"), template.Known{Lenient: true})
		require.Equal(t, ok, err == nil, "%v", err)
		if !ok {
			require.ErrorContains(t, err, "at most 500")
			require.Less(t, len(err.Error()), 400)
		}
	}
}

func TestAMalformedExpressionIsShown(t *testing.T) {
	_, err := template.Load("w.yaml", []byte(step(`input: {x: "{{ steps.a. }}", y: "{{ 1 + }}"}`)), template.Known{Lenient: true})
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 2)
	require.Regexp(t, `^w\.yaml:3:35: steps\[0\]\.input\.x: .*steps\.a\.`, lines[0])
	require.Regexp(t, `^w\.yaml:3:56: steps\[0\]\.input\.y: .*1 \+`, lines[1])
}

func TestBuiltTreesAreRefusedWithTheirPaths(t *testing.T) {
	at := document.Pos{File: "main.go", Line: 7}
	twice := &template.Step{Operation: "a", ID: "twice", Pos: at}
	w := &template.Workflow{
		Name: "w", MaxConcurrency: -1, Deadline: -5,
		Steps: []template.Node{
			&template.Step{Pos: at},
			&template.Parallel{MaxConcurrency: -2, Steps: []template.Node{
				&template.Step{Operation: "b", Pos: at, Input: []any{"{{ steps.nobody.output }}"}},
				twice, twice,
			}},
			&template.Step{Operation: "a", Pos: at, Timing: &template.Timing{Timeout: -1, Retry: &template.Retry{Pos: at}}},
			&template.Step{Operation: "a", ID: "c", Target: &template.Target{Resolve: "static", Participants: []string{"p"}, Limit: -1},
				FanIn: &template.FanIn{Policy: "quorum", MinResponses: -1}},
			&template.Map{ID: "m", Over: []any{}, As: "x", Steps: []template.Node{&template.Step{Operation: "a", ID: "d", Input: "{{ y }}"}}},
		},
	}
	_, err := template.Check(w, template.Known{Operation: func(name string) bool { return name == "a" }})
	require.EqualError(t, err, strings.Join([]string{
		`deadline: invalid duration "-PT0.000000005S": it is negative`,
		`max_concurrency: max_concurrency must be at least 1, not -1`,
		`steps[1].parallel.max_concurrency: max_concurrency must be at least 1, not -2`,
		`steps[2].timing.timeout: invalid duration "-PT0.000000001S": it is negative`,
		`steps[3].fan_in.min_responses: min_responses must be at least 1, not -1`,
		`steps[3].target.limit: limit must be at least 1, not -1`,
		`steps[3].target.limit: limit needs resolve capability`,
		`steps[4].map.steps[0].input: unknown name "y"; known here: index, input, run, x`,
		`main.go:7: steps[0].operation: operation is missing`,
		`main.go:7: steps[1].parallel.steps[0].input[0]: unknown step "nobody"`,
		`main.go:7: steps[1].parallel.steps[0].operation: unknown operation "b": bind it under operations, or a program or worker must have it`,
		`main.go:7: steps[1].parallel.steps[2]: step "twice" is in the tree twice`,
		`main.go:7: steps[2].timing.retry.max_attempts: max_attempts must be at least 1, not 0`,
	}, "\n"))
}

func TestContainersNestSixtyFourDeep(t *testing.T) {
	nested := func(depth int) *template.Workflow {
		steps := []template.Node{&template.Step{Operation: "a"}}
		for range depth {
			steps = []template.Node{&template.Sequential{Steps: steps}}
		}
		return &template.Workflow{Name: "w", Steps: steps}
	}
	_, err := template.Check(nested(template.DepthMax), template.Known{Lenient: true})
	require.NoError(t, err)
	_, err = template.Check(nested(template.DepthMax+1), template.Known{Lenient: true})
	require.ErrorContains(t, err, "containers nest deeper than 64")
}

func ExampleLoad() {
	const text = `
kind: Workflow
name: orders
deadline: P1M
steps:
  - {operation: order.split, id: split}
  - operation: ordr.notify
    input: "{{ steps.splt.output }}"
`
	_, err := template.Load("orders.yaml", []byte(text), template.Known{
		Operation:  func(name string) bool { return name == "order.split" || name == "order.notify" },
		Operations: []string{"order.split", "order.notify"},
	})
	fmt.Println(err)
	// Output:
	// orders.yaml:4:11: deadline: invalid duration "P1M": years and months have no fixed length
	// orders.yaml:7:16: steps[1].operation: unknown operation "ordr.notify" (did you mean "order.notify"?)
	// orders.yaml:8:12: steps[1].input: unknown step "splt" (did you mean "split"?)
}

// TestWhatWasAcceptedIsReadAgain: the run of an earlier document continues, although the document would be refused now.
func TestWhatWasAcceptedIsReadAgain(t *testing.T) {
	for _, text := range []string{
		operation(`{http: {url: "ftp://a/"}}`), step(`input: "{{ run.nmae }}"`),
		operation(`{http: {url: "http://a/", method: G T, headers: {a b: c}}}`),
		step("fulfillment: {policy: external_decision, decision_source: {kind: operator, timing: {total_timeout: PT5M}}}"),
	} {
		_, err := template.Load("w.yaml", []byte(text), template.Known{Lenient: true})
		require.NoError(t, err)
		_, err = template.Load("w.yaml", []byte(text), template.Known{Operation: func(string) bool { return true }})
		require.Error(t, err)
	}
}
