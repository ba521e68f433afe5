package playbook_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
)

// steps returns a playbook of the given steps, one per line, beginning at line 5.
func steps(lines ...string) string { return head + "workflow:\n" + strings.Join(lines, "\n") + "\n" }

// root returns a playbook of one step with the given lines at the root, beginning at line 5.
func root(lines ...string) string {
	return head + "workflow: [{step: s, tool: {kind: noop}}]\n" + strings.Join(lines, "\n") + "\n"
}

func rules(text string) string {
	return steps("- step: s", "  tool:", "    kind: work", "    spec: {policy: {rules: ["+text+"]}}")
}

func refusal(text string) string {
	known := template.Known{Operations: []string{"work"}, Operation: func(name string) bool { return name == "work" }}
	checked, err := playbook.Load("p.yaml", []byte(text), known)
	if err == nil {
		return ""
	}
	if checked != nil {
		return "there is a workflow beside " + err.Error()
	}
	return err.Error()
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing but a kind", "kind: Playbook\n", []string{
			`p.yaml:1:1: apiVersion: apiVersion is missing`,
			`p.yaml:1:1: metadata: metadata is missing`,
			`p.yaml:1:1: workflow: workflow is missing`,
		}},
		{"no mapping", "[]\n", []string{
			`p.yaml:1:1: the document must be a mapping, not a list`,
		}},
		{"another kind", strings.Replace(root(), "Playbook", "Workflow", 1), []string{
			`p.yaml:1:7: kind: kind must be Playbook, not "Workflow"`,
		}},
		{"an unknown apiVersion", strings.Replace(root(), "sluice/v1", "sluice/v2", 1), []string{
			`p.yaml:2:13: apiVersion: apiVersion must be one of sluice/v1, noetl.io/v2, noetl.io/v10, not "sluice/v2" (did you mean "sluice/v1"?)`,
		}},
		{"no name", strings.Replace(root(), "name: p", "nmae: p", 1), []string{
			`p.yaml:3:11: metadata.name: name is missing`,
		}},
		{"a name that is none", strings.Replace(root(), "name: p", "name: a b", 1), []string{
			`p.yaml:3:18: metadata.name: invalid name "a b": a name has a-z, 0-9, dots, dashes and underscores, at most 500`,
		}},
		{"keys at the root", root("vars: {a: 1}", "workbok: []"), []string{
			`p.yaml:5:1: vars: unknown key "vars": write the initial values of a run under workload`,
			`p.yaml:6:1: workbok: unknown key "workbok" (did you mean "workbook"?)`,
		}},
		{"no steps", head + "workflow: []\n", []string{
			`p.yaml:4:11: workflow: workflow must have at least one step`,
		}},
		{"steps that are no list", head + "workflow: {step: s}\n", []string{
			`p.yaml:4:11: workflow: workflow must be a list, not a mapping`,
		}},
		{"a step that is no mapping", steps("- s"), []string{
			`p.yaml:5:3: workflow[0]: workflow[0] must be a mapping, not a string: "s"`,
		}},
		{"a step that does nothing", steps("- {step: s, desc: idle}"), []string{
			`p.yaml:5:3: workflow[0]: a step needs a tool or a next`,
		}},
		{"names of steps", steps("- {step: a b, tool: {kind: noop}}", "- {step: a.b, tool: {kind: noop}}", "- {step: a@1, tool: {kind: noop}}",
			"- {step: 1, tool: {kind: noop}}", "- {tool: {kind: noop}}", "- {step: twin, tool: {kind: noop}}", "- {step: twin, tool: {kind: noop}}"), []string{
			`p.yaml:5:10: workflow[0].step: invalid step name "a b": an id has no spaces and none of / [ ] #`,
			`p.yaml:6:10: workflow[1].step: invalid step name "a.b": a name has no dots and no @`,
			`p.yaml:7:10: workflow[2].step: invalid step name "a@1": a name has no dots and no @`,
			`p.yaml:8:10: workflow[3].step: step must be a string, not an integer`,
			`p.yaml:9:3: workflow[4].step: step is missing`,
			`p.yaml:11:10: workflow[6].step: duplicate step name "twin", first at workflow[5].step`,
		}},
		{"keys of a step from before", steps("- step: s", "  tool: {kind: noop}", "  when: x", "  case: x", "  retry: x", "  sink: x", "  type: x", "  vars: x", "  eval: x", "  expr: x", "  args: x", "  nxt: x", "  spec: {next_mode: x}"), []string{
			`p.yaml:7:3: workflow[0].when: unknown key "when": write the condition of a step in spec.policy.admit`,
			`p.yaml:8:3: workflow[0].case: unknown key "case": write branches in next.arcs, as arcs with a when`,
			`p.yaml:9:3: workflow[0].retry: unknown key "retry": write a rule with do: retry in the spec.policy of the task`,
			`p.yaml:10:3: workflow[0].sink: unknown key "sink": store values by a task of its own`,
			`p.yaml:11:3: workflow[0].type: unknown key "type": write the kind of its tool`,
			`p.yaml:12:3: workflow[0].vars: unknown key "vars": set values with set, in ctx or step`,
			`p.yaml:13:3: workflow[0].eval: unknown key "eval": write conditions in when, of arcs and rules`,
			`p.yaml:14:3: workflow[0].expr: unknown key "expr": write conditions in when, of arcs and rules`,
			`p.yaml:15:3: workflow[0].args: unknown key "args": args come with the token, from the arc that leads here; write the input of a call in its tool`,
			`p.yaml:16:3: workflow[0].nxt: unknown key "nxt" (did you mean "next"?)`,
			`p.yaml:17:10: workflow[0].spec.next_mode: unknown key "next_mode": write how arcs are chosen in next.spec.mode`,
		}},
		{"policies where they do not belong", root("executor: {spec: {policy: {admit: {}, rules: []}}}"), []string{
			`p.yaml:5:28: executor.spec.policy.admit: unknown key "admit": only steps are admitted: write admit in the spec.policy of a step`,
			`p.yaml:5:39: executor.spec.policy.rules: unknown key "rules": only tasks have rules: write rules in the spec.policy of a task`,
		}},
		{"an executor of steps that are not there", root("executor: {spec: {entry_step: t, final_step: ss}}"), []string{
			`p.yaml:5:31: executor.spec.entry_step: unknown step "t"`,
			`p.yaml:5:46: executor.spec.final_step: unknown step "ss" (did you mean "s"?)`,
		}},
		{"choices of an executor", root("executor: {profile: remote, spec: {no_next_is_error: 1, policy: {completion: fail_on_all, on_blocked: wiat}, limits: {max_jumps: 0}}}"), []string{
			`p.yaml:5:21: executor.profile: profile must be one of local, distributed, auto, not "remote"`,
			`p.yaml:5:54: executor.spec.no_next_is_error: no_next_is_error must be a boolean, not an integer`,
			`p.yaml:5:78: executor.spec.policy.completion: completion must be one of fail_on_any, fail_fast, allow_partial, not "fail_on_all" (did you mean "fail_on_any"?)`,
			`p.yaml:5:103: executor.spec.policy.on_blocked: on_blocked must be one of wait, fail, discard, not "wiat" (did you mean "wait"?)`,
			`p.yaml:5:130: executor.spec.limits.max_jumps: max_jumps must be at least 1, not 0`,
		}},
		{"unknown required tools", root("executor: {requires: {tools: [http, wrok, work]}}"), []string{
			`p.yaml:5:37: executor.requires.tools[1]: unknown operation "wrok" (did you mean "work"?)`,
		}},
		{"an unknown tool", steps("- {step: s, tool: {kind: htpp, url: x}}", "- {step: t, tool: [{a: {kind: wrok}}]}"), []string{
			`p.yaml:5:26: workflow[0].tool.kind: unknown operation "htpp" (did you mean "http"?)`,
			`p.yaml:6:31: workflow[1].tool[0].a.kind: unknown operation "wrok" (did you mean "work"?)`,
		}},
		{"tools of no kind", steps("- {step: a, tool: {kind: '', set: 1}}"), []string{`p.yaml:5:26: workflow[0].tool.kind: kind must not be an empty text`}},
		{"shapes of tools", steps("- {step: a, tool: work}", "- {step: b, tool: []}", "- {step: c, tool: [work, {a: {kind: noop}, b: {kind: noop}}, {name: x}]}", "- {step: d, tool: {name: x}}"), []string{
			`p.yaml:5:19: workflow[0].tool: tool must be a mapping or a list, not a string: "work"`,
			`p.yaml:6:19: workflow[1].tool: tool must not be an empty list: leave it out`,
			`p.yaml:7:20: workflow[2].tool[0]: a task must be a mapping, not a string: "work"`,
			`p.yaml:7:26: workflow[2].tool[1].kind: kind is missing`,
			`p.yaml:7:62: workflow[2].tool[2].kind: kind is missing`,
			`p.yaml:8:19: workflow[3].tool.kind: kind is missing`,
		}},
		{"labels of tasks", steps("- {step: s, tool: [{name: a, kind: noop}, {a: {kind: noop}}, {name: a.b, kind: noop}, {name: a b, kind: noop}]}"), []string{
			`p.yaml:5:47: workflow[0].tool[1].a: duplicate task label "a", first at workflow[0].tool[0].name`,
			`p.yaml:5:69: workflow[0].tool[2].name: invalid task label "a.b": a label has no dots and no @`,
			`p.yaml:5:94: workflow[0].tool[3].name: invalid task label "a b": an id has no spaces and none of / [ ] #`,
		}},
		{"input in two places", steps("- {step: s, tool: {kind: work, n: 1, input: {n: 2}, args: {m: 1}}}", "- {step: t, tool: {kind: work, n: 1, input: 5}}"), []string{
			`p.yaml:5:49: workflow[0].tool.input.n: "n" is given twice: here and at workflow[0].tool.n`,
			`p.yaml:5:59: workflow[0].tool.args: args cannot be combined with input: they are two names of one key`,
			`p.yaml:6:45: workflow[1].tool.input: input must be a mapping beside other keys of the tool`,
		}},
		{"a noop that is asked to call", steps("- {step: s, tool: {kind: noop, n: 1, timing: {timeout: PT1S}}}"), []string{
			`p.yaml:5:19: workflow[0].tool: a noop takes no input, target, fan_in, timing, fulfillment or idempotent: it makes no call`,
			`p.yaml:5:32: workflow[0].tool.n: a noop takes no "n": it makes no call`,
		}},
		{"what a call is made with", steps("- {step: s, tool: {kind: work, target: {resolve: statc}, timing: {timeout: 5s}}}"), []string{
			`p.yaml:5:50: workflow[0].tool.target.resolve: resolve must be one of static, capability, task_type, not "statc" (did you mean "static"?)`,
			`p.yaml:5:76: workflow[0].tool.timing.timeout: invalid duration "5s": write it as PT30S, PT5M or P1DT12H`,
		}},
		{"a join of too many", steps("- {step: a, spec: {join: {mode: count, n: 2147483648}}, tool: {kind: noop}}"), []string{
			`p.yaml:5:43: workflow[0].spec.join.n: n must be at most 2147483647, not 2147483648`,
		}},
		{"admission", steps("- step: s", "  tool: {kind: noop}", "  spec:", "    policy:", "      admit:",
			"        {mode: inclusive, on_deny: drop, rules: [{when: '{{ ctx.a }}', then: {allow: 1}}, {when: '{{ iter.a }}', then: {}}, {then: {allow: true}}, {when: 5, then: {allow: true}}, {else: {then: {do: fail}}}, 7]}"), []string{
			`p.yaml:10:16: workflow[0].spec.policy.admit.mode: mode must be one of exclusive, not "inclusive" (did you mean "exclusive"?)`,
			`p.yaml:10:36: workflow[0].spec.policy.admit.on_deny: on_deny must be one of pending, discard, not "drop"`,
			`p.yaml:10:86: workflow[0].spec.policy.admit.rules[0].then.allow: allow must be a boolean, not an integer`,
			`p.yaml:10:98: workflow[0].spec.policy.admit.rules[1].when: unknown name "iter"; known here: args, ctx, event, execution_id, workload`,
			`p.yaml:10:120: workflow[0].spec.policy.admit.rules[1].then.allow: allow is missing`,
			`p.yaml:10:125: workflow[0].spec.policy.admit.rules[2]: a rule needs a when or an else`,
			`p.yaml:10:155: workflow[0].spec.policy.admit.rules[3].when: when must be an expression, not an integer`,
			`p.yaml:10:194: workflow[0].spec.policy.admit.rules[4].else.then.allow: allow is missing`,
			`p.yaml:10:195: workflow[0].spec.policy.admit.rules[4].else.then.do: unknown key "do"`,
			`p.yaml:10:208: workflow[0].spec.policy.admit.rules[5]: a rule must be a mapping, not an integer`,
		}},
		{"joins", steps("- {step: a, tool: {kind: noop}, spec: {join: {mode: some}}}", "- {step: b, tool: {kind: noop}, spec: {join: {mode: count}}}",
			"- {step: c, tool: {kind: noop}, spec: {join: {n: 2, on_missing: wait}}}", "- {step: d, tool: {kind: noop}, spec: {join: {mode: count, n: 0}}}"), []string{
			`p.yaml:5:53: workflow[0].spec.join.mode: mode must be one of all, any, count, not "some"`,
			`p.yaml:6:46: workflow[1].spec.join: a join of mode count needs n`,
			`p.yaml:7:50: workflow[2].spec.join.n: n needs mode count`,
			`p.yaml:7:65: workflow[2].spec.join.on_missing: on_missing must be one of fire, skip, not "wait"`,
			`p.yaml:8:63: workflow[3].spec.join.n: n must be at least 1, not 0`,
		}},
		{"loops", steps("- {step: a, tool: {kind: noop}, loop: {in: 5, iterator: index}}", "- {step: b, tool: {kind: noop}, loop: {iterator: a-b}}",
			"- {step: c, tool: {kind: noop}, loop: {in: [1], iterator: x, spec: {mode: cursor, max_in_flight: 0, policy: {on_conflict: first}}}}",
			"- {step: d, tool: {kind: noop}, loop: {in: '{{ iter.x }}', iterator: x}}"), []string{
			`p.yaml:5:44: workflow[0].loop.in: in must be a list`,
			`p.yaml:5:57: workflow[0].loop.iterator: iterator cannot be "index": expressions must be able to read iter.<iterator>, beside iter.index and iter.parent`,
			`p.yaml:6:39: workflow[1].loop.in: in is missing`,
			`p.yaml:6:50: workflow[1].loop.iterator: iterator cannot be "a-b": expressions must be able to read iter.<iterator>, beside iter.index and iter.parent`,
			`p.yaml:7:75: workflow[2].loop.spec.mode: mode must be one of sequential, parallel, not "cursor"`,
			`p.yaml:7:98: workflow[2].loop.spec.max_in_flight: max_in_flight must be at least 1, not 0`,
			`p.yaml:7:123: workflow[2].loop.spec.policy.on_conflict: on_conflict must be one of reject_conflict, append, last_wins, not "first"`,
			`p.yaml:8:44: workflow[3].loop.in: unknown name "iter"; known here: args, ctx, execution_id, input, workload`,
		}},
		{"timeouts", steps("- {step: a, tool: {kind: noop}, spec: {timeout: soon}}", "- {step: b, tool: {kind: noop}, spec: {timeout: 0}}", "- {step: c, tool: {kind: noop}, spec: {policy: {lifecycle: {timeout_s: [1]}}}}"), []string{
			`p.yaml:5:49: workflow[0].spec.timeout: invalid duration "soon": write seconds, 30s, 1m30s or PT30S`,
			`p.yaml:6:49: workflow[1].spec.timeout: invalid duration "0": write seconds, 30s, 1m30s or PT30S`,
			`p.yaml:7:72: workflow[2].spec.policy.lifecycle.timeout_s: timeout_s must be a duration, not a list`,
		}},
		{"a rule's directive", rules("{else: {then: {do: skip}}}"), []string{
			`p.yaml:8:48: workflow[0].tool.spec.policy.rules[0].else.then.do: do cannot be skip: a task's rules are evaluated after it has run`,
		}},
		{"a misspelt directive", rules("{else: {then: {do: brake}}}"), []string{
			`p.yaml:8:48: workflow[0].tool.spec.policy.rules[0].else.then.do: do must be one of continue, retry, jump, break, fail, not "brake" (did you mean "break"?)`,
		}},
		{"a jump nowhere", rules("{else: {then: {do: jump, to: s_tsk}}}, {when: true, then: {do: jump}}, {when: true, then: {to: s_task}}"), []string{
			`p.yaml:8:58: workflow[0].tool.spec.policy.rules[0].else.then.to: unknown task "s_tsk" in this pipeline (did you mean "s_task"?)`,
			`p.yaml:8:87: workflow[0].tool.spec.policy.rules[1].then.to: do: jump needs to`,
			`p.yaml:8:124: workflow[0].tool.spec.policy.rules[2].then.to: to needs do: jump: "s_task"`,
		}},
		{"retries", rules("{when: true, then: {do: retry, attempts: 0, backoff: fast, delay: -1}}, {when: true, then: {do: break, attempts: 2}}, {when: true, then: {allow: true}}"), []string{
			`p.yaml:8:70: workflow[0].tool.spec.policy.rules[0].then.attempts: attempts must be at least 1, not 0`,
			`p.yaml:8:82: workflow[0].tool.spec.policy.rules[0].then.backoff: backoff must be one of none, linear, exponential, not "fast"`,
			`p.yaml:8:95: workflow[0].tool.spec.policy.rules[0].then.delay: delay must not be negative`,
			`p.yaml:8:142: workflow[0].tool.spec.policy.rules[1].then.attempts: attempts needs do: retry`,
			`p.yaml:8:167: workflow[0].tool.spec.policy.rules[2].then.allow: unknown key "allow": only the rules of admission allow or deny; a task's have a do`,
		}},
		{"shapes of rules", rules("{when: true, else: {then: {do: fail}}}, {else: {then: {do: fail}}, then: {do: fail}}, {else: {}}, {when: true}"), []string{
			`p.yaml:8:48: workflow[0].tool.spec.policy.rules[0].else: else cannot be combined with when: it is a rule of its own`,
			`p.yaml:8:102: workflow[0].tool.spec.policy.rules[1].then: then cannot be combined with else: write else: {then: {…}}`,
			`p.yaml:8:115: workflow[0].tool.spec.policy.rules[2].then: then is missing`,
			`p.yaml:8:127: workflow[0].tool.spec.policy.rules[3].then: then is missing`,
		}},
		{"a tool that waits for no worker", steps("- {step: a, tool: {kind: sleep, for: PT1S, timing: {queue_timeout: PT1S}}}"), []string{
			`p.yaml:5:68: workflow[0].tool.timing.queue_timeout: queue_timeout has no effect: the operation is bound, so no worker takes its calls: "PT1S"`}},
		{"tools without participants", steps("- {step: a, tool: [{name: b, kind: sleep, for: PT1S, target: {resolve: static, participants: [p]}}, {name: c, kind: resolve, ref: '{{ ctx.r }}', target: {resolve: capability, capability_id: q}}]}"), []string{
			`p.yaml:5:62: workflow[0].tool[0].target: a target needs an operation with participants, but "sleep" is a sleep`,
			`p.yaml:5:154: workflow[0].tool[1].target: a target needs an operation with participants, but "resolve" is a value`}},
		{"commands that cannot run", steps("- {step: a, tool: [{name: b, kind: shell, shell: ''}, {name: c, kind: command, argv: [x], env: {A=B: 1}}]}"), []string{
			`p.yaml:5:50: workflow[0].tool[0].shell: shell must not be an empty text`,
			`p.yaml:5:96: workflow[0].tool[1].env: env has "A=B", which is not the name of a variable: write NAME: value`}},
		{"scopes that cannot be written", rules("{else: {then: {set: {args.x: 1, workload.y: 2, cxt.z: 3, ctx.: 4, ctx..a: 5}, set_ctx: {k: 1}, set_iter: {i: 1}}}}"), []string{
			`p.yaml:8:50: workflow[0].tool.spec.policy.rules[0].else.then.set["args.x"]: "args.x" cannot be written here: ctx, iter, step can`,
			`p.yaml:8:61: workflow[0].tool.spec.policy.rules[0].else.then.set["workload.y"]: "workload.y" cannot be written here: ctx, iter, step can`,
			`p.yaml:8:76: workflow[0].tool.spec.policy.rules[0].else.then.set["cxt.z"]: "cxt.z" cannot be written here: ctx, iter, step can (did you mean "ctx"?)`,
			`p.yaml:8:86: workflow[0].tool.spec.policy.rules[0].else.then.set["ctx."]: "ctx." is no path: write ctx.key or ctx.key.inner`,
			`p.yaml:8:95: workflow[0].tool.spec.policy.rules[0].else.then.set["ctx..a"]: "ctx..a" is no path: write ctx.key or ctx.key.inner`,
		}},
		{"one key in two spellings", rules("{else: {then: {set: {ctx.k: 1}, set_ctx: {k: 2}}}}"), []string{
			`p.yaml:8:71: workflow[0].tool.spec.policy.rules[0].else.then.set_ctx.k: "k" is written twice, first at workflow[0].tool.spec.policy.rules[0].else.then.set["ctx.k"]`,
		}},
		{"scopes that a step and an arc cannot write", steps("- {step: s, set: {iter.i: 1}, next: {arcs: [{step: s, set: {step.x: 1}}]}}"), []string{
			`p.yaml:5:19: workflow[0].set["iter.i"]: "iter.i" cannot be written here: ctx, step can`,
			`p.yaml:5:61: workflow[0].next.arcs[0].set["step.x"]: "step.x" cannot be written here: ctx can`,
		}},
		{"next as a name", steps("- {step: s, next: s}"), []string{
			`p.yaml:5:19: workflow[0].next: next must be a mapping with arcs, such as {arcs: [{step: s}]}, not a string: "s"`,
		}},
		{"next as a list", steps("- {step: s, next: [s]}"), []string{
			`p.yaml:5:19: workflow[0].next: next must be a mapping with arcs, such as {arcs: [{step: s}]}, not a list`,
		}},
		{"next as an arc", steps("- {step: s, next: {step: s}}"), []string{
			`p.yaml:5:20: workflow[0].next.step: unknown key "step": write the next steps in arcs: [{step: s}]`,
		}},
		{"arcs", steps("- step: fetch", "  next:", "    spec: {mode: inclusiv}", "    arcs: [{step: fetsh}, {when: true}, {step: fetch, args: 5}, {step: fetch, args: '5'}, {step: fetch, when: '{{ iter.x }}', then: 1}]"), []string{
			`p.yaml:7:18: workflow[0].next.spec.mode: mode must be one of exclusive, inclusive, not "inclusiv" (did you mean "inclusive"?)`,
			`p.yaml:8:19: workflow[0].next.arcs[0].step: unknown step "fetsh" (did you mean "fetch"?)`,
			`p.yaml:8:27: workflow[0].next.arcs[1].step: step is missing`,
			`p.yaml:8:61: workflow[0].next.arcs[2].args: args must be a mapping, not an integer`,
			`p.yaml:8:85: workflow[0].next.arcs[3].args: args must be a mapping, not a string: "5"`,
			`p.yaml:8:111: workflow[0].next.arcs[4].when: unknown name "iter"; known here: args, ctx, event, execution_id, input, outcome, output, results, step, workload`,
			`p.yaml:8:127: workflow[0].next.arcs[4].then: unknown key "then" (did you mean "when"?)`,
		}},
		{"guards", steps("- step: s", "  next: {arcs: [{step: s, when: yes}, {step: s, when: '{{ ctx.a'}, {step: s, when: '{{ 1 }}'}, {step: s, when: '{{ steps.s.output }}'}, {step: s, when: '{{ keychain.k }}'}]}"), []string{
			`p.yaml:6:33: workflow[0].next.arcs[0].when: when must be an expression {{ … }} that returns true or false: "yes"`,
			`p.yaml:6:55: workflow[0].next.arcs[1].when: malformed expression {{ ctx.a: it is not closed by }}`,
			`p.yaml:6:84: workflow[0].next.arcs[2].when: when must be an expression {{ … }} that returns true or false: "{{ 1 }}"`,
			`p.yaml:6:112: workflow[0].next.arcs[3].when: a playbook has no steps.s.output: pass the result of a step in the args of an arc, or set it in ctx`,
			`p.yaml:6:153: workflow[0].next.arcs[4].when: unknown name "keychain"; known here: args, ctx, event, execution_id, input, outcome, output, results, step, workload`,
		}},
		{"places within a value", steps("- {step: s, tool: {kind: work, list: [1, '{{ nope }}'], o: {k: '{{ 1 + }}'}, input: {i: '{{ event }}'}}}"), []string{
			`p.yaml:5:42: workflow[0].tool.list[1]: unknown name "nope"; known here: _attempt, _prev, _task, args, ctx, execution_id, input, iter, keychain, results, step, workload`,
			`p.yaml:5:64: workflow[0].tool.o.k: malformed expression {{ 1 + }}: unexpected end`,
			`p.yaml:5:89: workflow[0].tool.input.i: unknown name "event"; known here: _attempt, _prev, _task, args, ctx, execution_id, input, iter, keychain, results, step, workload`,
		}},
		{"keychains", root("keychain: [{name: a}, {name: a, kind: vault}, 5]"), []string{
			`p.yaml:5:12: keychain[0].kind: kind is missing`,
			`p.yaml:5:30: keychain[1].name: duplicate keychain entry "a", first at keychain[0].name`,
			`p.yaml:5:39: keychain[1].kind: kind must be one of env, file, http, not "vault"`,
			`p.yaml:5:47: keychain[2]: keychain[2] must be a mapping, not an integer`,
		}},
		{"secrets", root("keychain:", "- {name: a.b, kind: env, data: {}, scope: all}", "- {name: c, kind: file, data: {k: '{{ x }}', 'l m': p}}",
			"- {name: d, kind: env, endpoint: x}", "- {name: e, kind: http, method: PUT, headers: 5, data: '{{ keychain.f.k }}'}"), []string{
			`p.yaml:6:10: keychain[0].name: invalid name "a.b": a secret's name has no dots, spaces and none of / [ ] #`,
			`p.yaml:6:32: keychain[0].data: data must name at least one secret and its source`,
			`p.yaml:6:43: keychain[0].scope: scope must be one of local, global, shared, not "all"`,
			`p.yaml:7:35: keychain[1].data.k: the name of a source takes no expressions: "{{ x }}"`,
			`p.yaml:7:53: keychain[1].data["l m"]: invalid name "l m": a secret's name has no dots, spaces and none of / [ ] #`,
			`p.yaml:8:3: keychain[2].data: data is missing`,
			`p.yaml:8:24: keychain[2].endpoint: unknown key "endpoint"`,
			`p.yaml:9:3: keychain[3].endpoint: endpoint is missing`,
			`p.yaml:9:33: keychain[3].method: method must be one of GET, POST, not "PUT"`,
			`p.yaml:9:47: keychain[3].headers: headers must be a mapping, not an integer`,
			`p.yaml:9:56: keychain[3].data: the keychain has no entry "f"`,
		}},
		{"secrets that are not there", steps("- {step: s, input: '{{ keychain }}', tool: {kind: work, a: '{{ keychain.shop.tokn }}'}}",
			"- {step: t, tool: [{kind: work, a: '{{ keychain.shp.token }}'}, {kind: work, a: '{{ keychain.shop }}'}, {kind: sleep, for: '{{ keychain.shop.token }}'}]}",
			"keychain: [{name: shop, kind: env, data: {token: T}}]"), []string{
			`p.yaml:5:20: workflow[0].input: a secret is read by its name and key, written out: keychain.name.key`,
			`p.yaml:5:51: workflow[0].tool.kind: keychain entry "shop" has no "tokn" (did you mean "token"?)`,
			`p.yaml:6:27: workflow[1].tool[0].kind: the keychain has no entry "shp" (did you mean "shop"?)`,
			`p.yaml:6:72: workflow[1].tool[1].kind: a secret is read by its name and key, written out: keychain.shop.key`,
			`p.yaml:6:112: workflow[1].tool[2].kind: a tool of kind sleep is given no secrets`,
		}},
		{"texts around expressions", steps("- {step: s, loop: {in: 'a {{ ctx.a }}', iterator: i, spec: {mode: parallel, max_in_flight: '{{ 1 }}{{ 2 }}'}}, tool: {kind: work, spec: {policy: {rules: [{else: {then: {do: retry, delay: '{{ ctx.n }}s'}}}]}}}," +
			" next: {arcs: [{step: s, when: '{{ ctx.a }} and {{ ctx.b }}'}]}}"), []string{
			`p.yaml:5:24: workflow[0].loop.in: in must be one expression {{ … }} that returns a list: "a {{ ctx.a }}"`,
			`p.yaml:5:92: workflow[0].loop.spec.max_in_flight: max_in_flight must be one expression {{ … }} that returns a whole number: "{{ 1 }}{{ 2 }}"`,
			`p.yaml:5:188: workflow[0].tool.spec.policy.rules[0].else.then.delay: delay must be one expression {{ … }} that returns a number of seconds: "{{ ctx.n }}s"`,
			`p.yaml:5:241: workflow[0].next.arcs[0].when: when must be an expression {{ … }} that returns true or false: "{{ ctx.a }} and {{ ctx.b }}"`,
		}},
		{"workloads", root("workload: [1]"), []string{
			`p.yaml:5:11: workload: workload must be a mapping, not a list`,
		}},
		{"results", steps("- {step: s, tool: {kind: work, spec: {result: {inline_max_bytes: 0, select: [{as: x}, {path: /}], preview_max_bytes: 1, store: {scope: all}}}}}"), []string{
			`p.yaml:5:66: workflow[0].tool.spec.result.inline_max_bytes: inline_max_bytes must be at least 1, not 0`,
			`p.yaml:5:78: workflow[0].tool.spec.result.select[0].path: path is missing`,
			`p.yaml:5:94: workflow[0].tool.spec.result.select[1].path: path must name a field, such as rows.total or /rows/total: "/"`,
			`p.yaml:5:99: workflow[0].tool.spec.result.preview_max_bytes: unknown key "preview_max_bytes": name the fields that stay readable under select`,
			`p.yaml:5:136: workflow[0].tool.spec.result.store.scope: scope must be one of step, execution, workflow, permanent, not "all"`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, strings.Join(c.want, "\n"), refusal(c.text))
		})
	}
}

// In Jinja's dialect an unknown name is undefined, and not a fault.
func TestRefusalsInJinja(t *testing.T) {
	const jinja = "kind: Playbook\napiVersion: noetl.io/v2\nmetadata: {name: p}\nworkflow: "
	for _, c := range []struct{ name, text, want string }{
		{"an undefined name", "[{step: s, set: {a: '{{ nobody | default(1) }}'}, tool: {kind: noop}}]", ""},
		{"a guard that is a text", "[{step: s, next: {arcs: [{step: s, when: 'yes'}]}}]", ""},
		{"an expression that is none", "[{step: s, set: {a: '{{ 1 + }}'}, tool: {kind: noop}}]",
			`p.yaml:4:31: workflow[0].set.a: malformed expression {{ 1 + }}: unexpected end`},
		{"a statement", "[{step: s, set: {a: '{% if x %}'}, tool: {kind: noop}}]",
			"p.yaml:4:31: workflow[0].set.a: malformed expression {% if x %}: statements {% … %} are not read: only expressions {{ … }} are"},
		{"the keychain in a guard", "[{step: s, next: {arcs: [{step: s, when: '{{ keychain.a.b }}'}]}}]",
			`p.yaml:4:52: workflow[0].next.arcs[0].when: only tools can read the keychain: values read here are visible to everyone`},
		{"the keychain in a tool", "[{step: s, tool: {kind: work, k: '{{ keychain.a.b }}'}}]\nkeychain: [{name: a, kind: env, data: {b: V}}]", ""},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, refusal(jinja+c.text+"\n")) })
	}
}
