package playbook_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWarnings(t *testing.T) {
	const (
		no     = "tool: {kind: noop}"
		gate   = "spec: {policy: {admit: {"
		rewrit = "{else: {then: {set_ctx: {"
	)
	jinja := func(more string) string { return strings.Replace(head, "sluice/v1", "noetl.io/v2", 1) + more }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing to say", steps("- {step: a, "+no+", next: {arcs: [{step: b}]}}", "- {step: b, "+no+"}"), nil},
		{"keys without effect on a secret", root("keychain: [{name: a, kind: env, scope: shared, auto_renew: true, data: {b: V}}, {name: c, kind: file, scope: local, data: {d: F}}]"), []string{
			`p.yaml:5:40: keychain[0].scope: scope has no effect: every run resolves its own secrets`,
			`p.yaml:5:60: keychain[0].auto_renew: auto_renew has no effect: only secrets of kind http expire`}},
		{"an arc after a step that can fail", steps("- {step: a, tool: {kind: work}, next: {arcs: [{step: b}]}}", "- {step: b, "+no+"}"), []string{
			`p.yaml:5:47: workflow[0].next.arcs[0]: step "a" can fail, and this arc is then followed as well, without handling the failure: give it a when such as event.name == "step.done"`}},
		{"an arc after a loop that can fail", steps("- {step: a, tool: {kind: work}, loop: {in: [1], iterator: i}, next: {spec: {mode: inclusive}, arcs: [{step: b, when: '{{ event.name == \"loop.done\" }}'}, {step: b}]}}", "- {step: b, "+no+"}"), []string{
			`p.yaml:5:154: workflow[0].next.arcs[1]: step "a" can fail, and this arc is then followed as well, without handling the failure: give it a when such as event.name == "loop.done"`}},
		{"an arc before which a failure was looked for", steps("- {step: a, tool: {kind: work}, next: {arcs: [{step: c, when: '{{ event.name == \"step.failed\" }}'}, {step: b}]}}", "- {step: b, "+no+"}", "- {step: c, "+no+"}"), nil},
		{"an arc after a task whose rules let nothing fail", steps("- {step: a, tool: {kind: work, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}, next: {arcs: [{step: b}]}}", "- {step: b, "+no+"}"), nil},
		{"an arc after a rule that fails", steps("- {step: a, tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: fail}}}]}}}, next: {arcs: [{step: b}]}}", "- {step: b, "+no+"}"), []string{
			`p.yaml:5:102: workflow[0].next.arcs[0]: step "a" can fail, and this arc is then followed as well, without handling the failure: give it a when such as event.name == "step.done"`}},
		{"endings that there are not", steps("- {step: a, tool: {kind: noop, spec: {policy: {rules: [{when: '{{ outcome.status == \"success\" }}', then: {do: continue}}, {else: {then: {do: break}}}]}}}, next: {arcs: [{step: b, when: '{{ event.name == \"step.dne\" }}'}, {step: b, when: '{{ event.status == \"ok\" && event.name == \"step.failed\" }}'}]}}",
			"- {step: b, loop: {in: [1], iterator: i}, "+no+", next: {arcs: [{step: a, when: '{{ event.name == \"step.done\" && ctx.x }}'}]}}"), []string{
			`p.yaml:5:56: workflow[0].tool.spec.policy.rules[0]: outcome.status is never "success": after step "a" it is ok or error`,
			`p.yaml:5:170: workflow[0].next.arcs[0]: event.name is never "step.dne": after step "a" it is step.done or step.failed`,
			`p.yaml:5:221: workflow[0].next.arcs[1]: event.status is never "ok": after step "a" it is done or failed`,
			`p.yaml:6:77: workflow[1].next.arcs[0]: event.name is never "step.done": after step "b" it is loop.done or step.failed`}},
		{"endings however they are compared", steps("- {step: a, "+no+", next: {arcs: [{step: b, when: '{{ \"step.dne\" == event.name || event.status in [\"ok\"] }}'}]}}", "- {step: b, "+no+"}"), []string{
			`p.yaml:5:47: workflow[0].next.arcs[0]: event.name is never "step.dne": after step "a" it is step.done or step.failed`,
			`p.yaml:5:47: workflow[0].next.arcs[0]: event.status is never "ok": after step "a" it is done or failed`}},
		{"an ending in a text", steps("- {step: a, "+no+", next: {arcs: [{step: b, when: '{{ ctx.note == \" event.name == ''x''\" }}'}]}}", "- {step: b, "+no+"}"), nil},
		{"an ending of something else", steps("- {step: a, "+no+", next: {arcs: [{step: b, when: '{{ args.event.status == \"new\" }}'}]}}", "- {step: b, "+no+"}"), nil},
		{"endings one of which there is", steps("- {step: a, "+no+", next: {arcs: [{step: b, when: '{{ event.name == \"step.done\" || event.name == \"loop.done\" }}'}]}}", "- {step: b, "+no+"}"), nil},
		{"endings by their names in Jinja", strings.Replace(steps("- {step: a, "+no+", next: {arcs: [{step: b, when: '{{ event.name == \"call.done\" }}'}]}}", "- {step: b, "+no+", next: {arcs: [{step: a, when: '{{ event.name == \"call.dne\" }}'}]}}"), "sluice/v1", "noetl.io/v2", 1), []string{
			`p.yaml:6:47: workflow[1].next.arcs[0]: event.name is never "call.dne": after step "b" it is step.done or step.failed`}},
		{"rules without an else", steps("- {step: a, tool: {kind: work, spec: {policy: {rules: [{when: '{{ ctx.x == 1 }}', then: {do: fail}}]}}}}"), []string{
			`p.yaml:5:55: workflow[0].tool.spec.policy.rules: no else: after an error that no rule handles, the pipeline continues`}},
		{"rules that are about every error", steps("- {step: a, tool: {kind: work, spec: {policy: {rules: [{when: '{{ outcome.status == \"error\" }}', then: {do: fail}}]}}}}"), nil},
		{"rules whose errors fail", steps("- {step: a, tool: {kind: work, spec: {policy: {on_unmatched: fail, rules: [{when: '{{ ctx.x == 1 }}', then: {do: retry}}]}}}}"), nil},
		{"rules after an else", steps("- {step: a, tool: {kind: work, spec: {policy: {rules: [{else: {then: {do: fail}}}, {when: true, then: {do: fail}}]}}}}"), []string{
			`p.yaml:5:84: workflow[0].tool.spec.policy.rules[1]: this rule is never evaluated: it comes after an else`}},
		{"shapes of else", steps("- {step: a, tool: {kind: noop, spec: {policy: {rules: [{else: {do: fail}}]}}}}", "- {step: b, tool: {kind: noop, spec: {policy: {rules: [{else: , then: {do: fail}}]}}}}"), []string{
			`p.yaml:5:63: workflow[0].tool.spec.policy.rules[0].else: else has no then: write else: {then: {…}}`,
			`p.yaml:6:3: workflow[1]: step "b" never runs: no arc leads to it`,
			`p.yaml:6:62: workflow[1].tool.spec.policy.rules[0].else: else is empty and has a then beside it: write else: {then: {…}}`}},
		{"a gate without an else", steps("- {step: a, " + no + ", " + gate + "rules: [{when: '{{ ctx.x == 1 }}', then: {allow: true}}]}}}}"), []string{
			`p.yaml:5:64: workflow[0].spec.policy.admit.rules: no else: a token that no rule matches is denied`}},
		{"a gate that nothing opens", steps("- {step: a, " + no + ", " + gate + "rules: [{when: '{{ ctx.x == 1 }}', then: {allow: false}}, {else: {then: {allow: false}}}]}}}}"), []string{
			`p.yaml:5:56: workflow[0].spec.policy.admit: nothing can open the gate of step "a": none of its rules allows a token`}},
		{"a gate that is written out as false", steps("- {step: a, " + no + ", " + gate + "rules: [{when: false, then: {allow: true}}, {else: {then: {allow: false}}}]}}}}"), []string{
			`p.yaml:5:56: workflow[0].spec.policy.admit: nothing can open the gate of step "a": none of its rules allows a token`}},
		{"a gate that each branch passes", steps(
			"- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}}",
			"- {step: b, tool: {kind: noop, spec: {policy: {rules: ["+rewrit+"b: true}}}}]}}}, next: {arcs: [{step: d}]}}",
			"- {step: c, set: {c: true}, next: {arcs: [{step: d}]}}",
			"- {step: d, "+no+", "+gate+"rules: [{when: '{{ ctx.b && ctx.c }}', then: {allow: true}}, {else: {then: {allow: false}}}]}}}}"), []string{
			`p.yaml:8:56: workflow[3].spec.policy.admit: each branch that leads here brings a token, and all of them pass this gate: step "d" runs once for each. Write coalesce: true, or spec.join`}},
		{"a gate that is latched", steps(
			"- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}}",
			"- {step: b, set: {b: true}, next: {arcs: [{step: d}]}}",
			"- {step: c, set: {c: true}, next: {arcs: [{step: d}]}}",
			"- {step: d, set: {d: true}, "+no+", "+gate+"rules: [{when: '{{ ctx.b && ctx.c && ctx.d == nil }}', then: {allow: true}}, {else: {then: {allow: false}}}]}}}}"), nil},
		{"a gate that coalesces", steps(
			"- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}}",
			"- {step: b, set: {b: true}, next: {arcs: [{step: d}]}}",
			"- {step: c, set: {c: true}, next: {arcs: [{step: d}]}}",
			"- {step: d, "+no+", "+gate+"coalesce: true, rules: [{when: '{{ ctx.b && ctx.c }}', then: {allow: true}}, {else: {then: {allow: false}}}]}}}}"), nil},
		{"a final step that arcs lead to", head + "executor: {spec: {final_step: b}}\n" + "workflow: [{step: a, next: {arcs: [{step: b}]}}, {step: b, " + no + "}]\n", []string{
			`p.yaml:5:50: workflow[1]: arcs lead to final step "b": when one is followed it has run before the end, and is not run again`}},
		{"a final step that is the entry", head + "executor: {spec: {final_step: a}}\n" + "workflow: [{step: a, " + no + "}]\n", []string{
			`p.yaml:5:12: workflow[0]: final step "a" is where the run begins: it will have run before the end, and is not run again`}},
		{"keys of a final step that have no effect", head + "executor: {spec: {final_step: b}}\n" + "workflow: [{step: a, " + no + "}, {step: b, spec: {join: {mode: all}}, " + no + ", next: {arcs: []}}]\n", []string{
			`p.yaml:5:66: workflow[1].spec.join: join has no effect: one token comes to the final step`,
			`p.yaml:5:106: workflow[1].next: next has no effect: the run ends after its final step`}},
		{"keys of steps that have no effect", steps(
			"- {step: a, spec: {policy: {failure: {mode: best_effort}, admit: {on_deny: discard, coalesce: true}}}, "+no+", next: {arcs: [{step: b}]}}",
			"- {step: b, spec: {timeout: 3s, policy: {lifecycle: {timeout_s: 1, deadline_s: 2}}}, next: {arcs: [{step: c}]}}",
			"- {step: c, loop: {in: [1], iterator: i, spec: {policy: {on_conflict: append}}}, "+no+", next: {arcs: [{step: d, when: '{{ event.name == \"loop.done\" }}'}]}}",
			"- {step: d, spec: {join: {mode: any, on_missing: fire}, policy: {admit: {on_deny: discard, coalesce: true, rules: [{when: '{{ args.x == 1 }}', then: {allow: true}}, {else: {then: {allow: false}}}]}}}, "+no+"}"), []string{
			`p.yaml:5:45: workflow[0].spec.policy.failure.mode: mode has no effect: only a loop has iterations that fail`,
			`p.yaml:5:76: workflow[0].spec.policy.admit.on_deny: on_deny has no effect: a gate without rules lets all tokens in`,
			`p.yaml:5:95: workflow[0].spec.policy.admit.coalesce: coalesce has no effect: a gate without rules lets all tokens in`,
			`p.yaml:6:29: workflow[1].spec.timeout: timeout has no effect: a step without a tool ends at once`,
			`p.yaml:6:65: workflow[1].spec.policy.lifecycle.timeout_s: timeout_s has no effect: a step without a tool ends at once`,
			`p.yaml:6:80: workflow[1].spec.policy.lifecycle.deadline_s: deadline_s has no effect: a step without a tool ends at once`,
			`p.yaml:7:71: workflow[2].loop.spec.policy.on_conflict: on_conflict has no effect: the iterations of a sequential loop cannot conflict`,
			`p.yaml:8:50: workflow[3].spec.join.on_missing: on_missing has no effect: only a join of all waits for every branch`,
			`p.yaml:8:102: workflow[3].spec.policy.admit.coalesce: coalesce has no effect: no token waits at a gate that drops the denied ones`}},
		{"constants that are no numbers", steps(
			"- {step: a, loop: {in: [1], iterator: i, spec: {mode: parallel, max_in_flight: many}}, tool: {kind: noop, spec: {policy: {rules: [{when: '{{ ctx.x == 1 }}', then: {do: retry, delay: soon}}, {else: {then: {do: retry, delay: '{{ 0 - 1 }}'}}}]}}}}",
			"- {step: b, loop: {in: [1], iterator: i, spec: {mode: parallel, max_in_flight: '2'}}, tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: retry, delay: '1.5'}}}]}}}}"), []string{
			`p.yaml:5:80: workflow[0].loop.spec.max_in_flight: max_in_flight is never a whole number of at least 1: the step always fails`,
			`p.yaml:5:183: workflow[0].tool.spec.policy.rules[0].then.delay: delay is never a number of seconds: the step fails when this rule applies`,
			`p.yaml:5:224: workflow[0].tool.spec.policy.rules[1].else.then.delay: delay is never a number of seconds: the step fails when this rule applies`,
			`p.yaml:6:3: workflow[1]: step "b" never runs: no arc leads to it`}},
		{"calls that always fail", steps(
			"- {step: a, tool: [{name: b, kind: http, url: 'ftp://h/'}, {name: c, kind: http, url: null}, {name: d, kind: http, url: 'http://h/'}, {name: e, kind: http, url: '{{ ctx.u }}'}, {name: f, kind: wait, message: null}, {name: g, kind: wait, message: ''}, {name: h, kind: wait, message: 7}]}"), []string{
			`p.yaml:5:47: workflow[0].tool[0].url: the call always fails: the URL "ftp://h/" begins with neither http:// nor https://`,
			`p.yaml:5:87: workflow[0].tool[1].url: the call always fails: "" is no URL: write one such as https://example.com/`,
			`p.yaml:5:209: workflow[0].tool[4].message: the call always fails: the message has no name`,
			`p.yaml:5:247: workflow[0].tool[5].message: the call always fails: the message has no name`}},
		{"steps that never run", head + "executor: {spec: {final_step: d}}\n" +
			"workflow: [{step: a, " + no + "}, {step: b, next: {arcs: [{step: c}]}}, {step: c, " + no + "}, {step: d, next: {arcs: [{step: e}]}}, {step: e, " + no + "}]\n", []string{
			`p.yaml:5:43: workflow[1]: step "b" never runs: no arc leads to it`,
			`p.yaml:5:81: workflow[2]: step "c" never runs: the arcs that lead to it are never followed, such as that of step "b"`,
			`p.yaml:5:128: workflow[3].next: next has no effect: the run ends after its final step`,
			`p.yaml:5:150: workflow[4]: step "e" never runs: the arcs that lead to it are never followed, such as that of step "d"`}},
		{"arcs that are never followed", steps("- {step: a, next: {arcs: [{step: b, when: false}, {step: c}, {step: b}]}}", "- {step: b, "+no+"}", "- {step: c, "+no+"}"), []string{
			`p.yaml:5:27: workflow[0].next.arcs[0]: this arc is never followed: its when is false`,
			`p.yaml:5:62: workflow[0].next.arcs[2]: this arc is never followed: one before it always holds`,
			`p.yaml:6:3: workflow[1]: step "b" never runs: the arcs that lead to it are never followed, such as that of step "a"`}},
		{"a cycle without a way out", steps("- {step: a, next: {arcs: [{step: b}]}}", "- {step: b, next: {arcs: [{step: c, when: '{{ ctx.x }}'}, {step: c}]}}", "- {step: c, next: {arcs: [{step: b}]}}"), []string{
			`p.yaml:6:3: workflow[1]: nothing leads out of the cycle b -> c -> b: give one of its arcs a when`}},
		{"a cycle with a way out", steps("- {step: a, next: {arcs: [{step: a, when: '{{ ctx.x }}'}]}}"), nil},
		{"a join of more than can arrive", steps("- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: b}]}}", "- {step: b, "+no+", spec: {join: {mode: count, n: 3}}}"), []string{
			`p.yaml:6:46: workflow[1].spec.join: the join of step "b" waits for 3 tokens, and at most 2 can arrive`}},
		{"a join of a fan-out with a branch that leads elsewhere", steps("- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: j}, {step: log}]}}", "- {step: b, next: {arcs: [{step: j}]}}",
			"- {step: j, "+no+", spec: {join: {mode: all}}}", "- {step: log, "+no+"}"), []string{
			`p.yaml:7:46: workflow[2].spec.join: the join of step "j" merges only tokens of the innermost fan-out that is open: step "a" leads to it, but not by its arc to "log". Let a step on the way to the join lead to "log" instead`}},
		{"a join of a fan-out with a branch that begins again", steps("- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: j}]}}",
			"- {step: b, next: {arcs: [{step: a, when: '{{ ctx.x }}'}]}}", "- {step: j, "+no+", spec: {join: {mode: any}}}"), []string{
			`p.yaml:7:46: workflow[2].spec.join: the join of step "j" merges only tokens of the innermost fan-out that is open: step "a" leads to it, but by its arc to "b" only through "a" again. Let the way back begin behind the join instead`}},
		{"a join that some tokens come to from a fan-out that leads to it, and others not", steps("- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: j}, {step: log}]}}",
			"- {step: b, next: {spec: {mode: inclusive}, arcs: [{step: j}, {step: j}]}}", "- {step: j, "+no+", spec: {join: {mode: all}}}", "- {step: log, "+no+"}"), []string{
			`p.yaml:7:46: workflow[2].spec.join: the join of step "j" merges only tokens of the innermost fan-out that is open: step "a" leads to it, but not by its arc to "log". Let a step on the way to the join lead to "log" instead`}},
		{"a join in a branch, and one of several fan-outs", steps("- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}}",
			"- {step: b, next: {spec: {mode: inclusive}, arcs: [{step: d}, {step: e}]}}", "- {step: c, next: {spec: {mode: inclusive}, arcs: [{step: f}, {step: log}]}}",
			"- {step: d, next: {arcs: [{step: inner}]}}", "- {step: e, next: {arcs: [{step: inner}]}}", "- {step: inner, spec: {join: {mode: all}}, next: {arcs: [{step: outer}]}}",
			"- {step: f, next: {arcs: [{step: outer}]}}", "- {step: outer, "+no+", spec: {join: {mode: all}}}", "- {step: log, "+no+"}"), nil},
		{"a join behind one that has merged the only fan-out", strings.Replace(steps("- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}, {step: log}]}}",
			"- {step: b, next: {arcs: [{step: j}]}}", "- {step: c, next: {arcs: [{step: j}]}}", "- {step: j, next: {arcs: [{step: x, when: '{{ ctx.x }}'}, {step: k}]}}",
			"- {step: x, next: {arcs: [{step: k}]}}", "- {step: k, "+no+"}", "- {step: log, "+no+"}"), "workflow:", "executor: {spec: {implicit_join: true}}\nworkflow:", 1), []string{
			`p.yaml:9:3: workflow[3]: the join of step "j" merges only tokens of the innermost fan-out that is open: step "a" leads to it, but not by its arc to "log". Let a step on the way to the join lead to "log" instead`}},
		{"a fan-out with a branch that leads elsewhere, in a branch", steps("- {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: j}]}}",
			"- {step: b, next: {spec: {mode: inclusive}, arcs: [{step: j}, {step: log}]}}", "- {step: j, "+no+", spec: {join: {mode: all}}}", "- {step: log, "+no+"}"), nil},
		{"texts that are conditions in Jinja", strings.Replace(steps("- {step: a, next: {arcs: [{step: a, when: 'no'}, {step: b, when: 'yes'}]}}",
			"- {step: b, "+no+", "+gate+"rules: [{when: 'true', then: {allow: true}}, {else: {then: {allow: false}}}]}}}}"), "sluice/v1", "noetl.io/v10", 1), []string{
			`p.yaml:5:27: workflow[0].next.arcs[0]: this arc is never followed: its when is false`}},
		{"guards that are texts in Jinja", strings.Replace(steps("- {step: a, next: {arcs: [{step: a, when: 'ctx.n > 3'}, {step: a, when: '{{ ctx.n }} > 3'}, {step: a, when: ' {{ ctx.n > 3 }} '}]}}"), "sluice/v1", "noetl.io/v2", 1), []string{
			`p.yaml:5:27: workflow[0].next.arcs[0]: this arc is never followed: its when is false`,
			`p.yaml:5:43: workflow[0].next.arcs[0].when: when is a text and never holds: write it as {{ … }}`,
			`p.yaml:5:73: workflow[0].next.arcs[1].when: when is a text around an expression, and holds only when it reads true, yes or 1: write all of it as one {{ … }}`}},
		{"names that two things have in Jinja", jinja("workload: {rows: [1], y: 1, fine: 1}\n" +
			"workflow: [{step: y, tool: {kind: noop}, set: {fine: 1, rows: '{{ fine }}'}, next: {arcs: [{step: b, when: '{{ y }}', args: {rows: 1, row: 1}}]}}, " +
			"{step: b, loop: {in: '{{ rows }}', iterator: row}, tool: [{name: p, kind: work, n: '{{ row + workload.rows }}'}, {name: rows, kind: noop, spec: {policy: {rules: [{when: '{{ rows is defined and p }}', then: {do: continue, set_iter: {p: '{{ iter.row }}'}}}]}}}]}]\n"), []string{
			`p.yaml:5:63: workflow[0].set.rows: fine without a prefix is ctx.fine here, and hides workload.fine`,
			`p.yaml:5:108: workflow[0].next.arcs[0].when: y without a prefix is the result of step y here, and hides workload.y`,
			`p.yaml:5:169: workflow[1].loop.in: rows without a prefix is args.rows here, and hides ctx.rows and workload.rows`,
			`p.yaml:5:206: workflow[1].tool[0]: row without a prefix is iter.row here, and hides args.row`,
			`p.yaml:5:317: workflow[1].tool[1].spec.policy.rules[0].when: p without a prefix is iter.p here, and hides results.p`,
			`p.yaml:5:317: workflow[1].tool[1].spec.policy.rules[0].when: rows without a prefix is args.rows here, and hides results.rows and ctx.rows and workload.rows`}},
		{"names with a prefix in Jinja", jinja("workload: {n: 1}\nworkflow: [{step: a, tool: {kind: noop}, set: {n: '{{ workload.n + ctx.n | default(0) }}'}, next: {arcs: [{step: a, when: '{{ ctx.n < 2 }}'}]}}]\n"), nil},
		{"an iterator that cannot be read by its name", jinja("workflow: [{step: a, loop: {in: [1], iterator: input}, tool: {kind: noop}}]\n"), []string{
			`p.yaml:4:28: workflow[0].loop: input without a prefix is not this iterator: write iter.input, or give it another name`}},
		{"names that two things have in our own language", head + ("workload: {rows: [1]}\nworkflow: [{step: rows, loop: {in: '{{ workload.rows }}', iterator: rows}, tool: {kind: noop}, set: {rows: 1}}]\n"), nil},
		{"keys that are called as scopes are", steps("- {step: a, tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {ctx.a: 1, iter: 2}}}}]}}}, set: {ctx: {a: 1}, workload: 2, ctx.step: 3, step.iter: 4}}"), []string{
			`p.yaml:5:95: workflow[0].tool.spec.policy.rules[0].else.then.set_ctx["ctx.a"]: "ctx.a" writes ctx.ctx.a: a key here is one of ctx`,
			`p.yaml:5:105: workflow[0].tool.spec.policy.rules[0].else.then.set_ctx.iter: "iter" writes ctx.iter: a key here is one of ctx`,
			`p.yaml:5:128: workflow[0].set.ctx: "ctx" writes ctx.ctx: a key here is one of ctx`,
			`p.yaml:5:141: workflow[0].set.workload: "workload" writes ctx.workload: a key here is one of ctx`}},
		{"keys without effect", root("executor: {spec: {policy: {defaults: {}}, limits: {max_payload_bytes: 1}, results: {reference_first: true}, result: {store: {kind: auto, ttl: 1h, compression: gzip}}}}"), []string{
			`p.yaml:5:38: executor.spec.policy.defaults: defaults has no effect: write each policy where it applies`,
			`p.yaml:5:71: executor.spec.limits.max_payload_bytes: max_payload_bytes has no effect: the engine limits the size of outputs`,
			`p.yaml:5:102: executor.spec.results.reference_first: reference_first has no effect: large results are stored as configured by result`,
			`p.yaml:5:143: executor.spec.result.store.ttl: ttl has no effect: results live as long as their run`,
			`p.yaml:5:160: executor.spec.result.store.compression: compression has no effect: the engine decides how results are stored`}},
		{"a width of a sequential loop", steps("- {step: a, " + no + ", loop: {in: [1], iterator: i, spec: {max_in_flight: 2}}}"), []string{
			`p.yaml:5:84: workflow[0].loop.spec.max_in_flight: max_in_flight has no effect: a sequential loop runs one iteration at a time`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, book := load(t, c.text)
			var got []string
			for _, w := range book.Warnings {
				got = append(got, w.Error())
			}
			require.Equal(t, c.want, got)
		})
	}
}
