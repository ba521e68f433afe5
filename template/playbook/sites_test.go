package playbook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// call is the environment of a binding's expressions.
type call struct{ input value.Value }

func (c call) Name(name string) (value.Value, error) {
	if name != "input" {
		return nil, fmt.Errorf("a binding of a playbook reads %q", name)
	}
	return c.input, nil
}

func (call) Step(string, expr.Field) (value.Value, error) { return nil, expr.ErrNoOutput }

// renderedBinding returns the binding of the only call site, and a function that renders its templates with the input of the task.
func renderedBinding(t *testing.T, text string) (*template.Bound, func(*expr.Template) value.Value) {
	checked, book := load(t, text)
	require.Len(t, book.CallSites, 1)
	var input value.Value
	if e := book.CallSites[0].Input; e != nil {
		v, err := e.Eval(world{})
		require.NoError(t, err)
		input = v
	}
	bound := checked.Bindings[book.CallSites[0].Call.Operation]
	return bound, func(tmpl *expr.Template) value.Value {
		if tmpl == nil {
			return nil
		}
		v, err := tmpl.Eval(call{input})
		require.NoError(t, err)
		return v
	}
}

func TestBuiltInToolsAreBindingsOfTheirCallSites(t *testing.T) {
	t.Run("an HTTP request", func(t *testing.T) {
		b, of := renderedBinding(t, tool(`{kind: http, method: PUT, url: "http://{{ ctx.a }}/x", headers: {X-A: "{{ iter.a }}", "a\"b": 1}, params: {n: "{{ ctx.n }}", q: "a b"}, body: {o: "{{ ctx.o }}"}}`))
		require.NotNil(t, b.Binding.HTTP)
		require.Equal(t, "PUT", of(b.Method))
		require.Equal(t, "http://ctx.a/x?n=3&q=a+b", of(b.URL))
		require.Equal(t, map[string]any{"X-A": "iter.a", `a"b`: int64(1)}, of(b.Headers))
		require.Equal(t, map[string]any{"o": map[string]any{"k": "ctx.o.k"}}, of(b.Body))
	})
	t.Run("parameters join those of the URL", func(t *testing.T) {
		b, of := renderedBinding(t, tool(`{kind: http, url: "http://x/?a=1", params: {b: 2}}`))
		require.Equal(t, "http://x/?a=1&b=2", of(b.URL))
		require.Equal(t, "GET", of(b.Method))
		b, of = renderedBinding(t, tool(`{kind: http, input: {url: "http://x/", params: {}, payload: "{{ args.a }}"}}`))
		require.Equal(t, "http://x/", of(b.URL))
		require.Equal(t, "POST", of(b.Method))
		require.Equal(t, "args.a", of(b.Body))
	})
	t.Run("a command", func(t *testing.T) {
		b, of := renderedBinding(t, tool(`{kind: command, argv: [jq, "{{ ctx.a }}", 5], stdin: "{{ ctx.o }}", env: {A: "{{ args.b }}"}, dir: "/{{ ctx.a }}", output: json}`))
		require.Equal(t, []any{"jq", "ctx.a", int64(5)}, of(b.Argv))
		require.Equal(t, map[string]any{"k": "ctx.o.k"}, of(b.Stdin))
		require.Equal(t, map[string]any{"A": "args.b"}, of(b.Env))
		require.Equal(t, "/ctx.a", of(b.Dir))
		require.Equal(t, "json", b.Binding.Command.Output)
	})
	t.Run("the text of a shell", func(t *testing.T) {
		b, of := renderedBinding(t, tool(`{kind: shell, shell: 'echo "$A"', env: {A: 1}}`))
		require.Equal(t, `echo "$A"`, of(b.Shell))
		require.Nil(t, b.Argv)
	})
	t.Run("a sleep and a wait", func(t *testing.T) {
		b, of := renderedBinding(t, tool(`{kind: sleep, for: "PT{{ ctx.n }}S"}`))
		require.Equal(t, "PT3S", of(b.For))
		b, of = renderedBinding(t, tool(`{kind: wait, message: "ok-{{ ctx.a }}"}`))
		require.Equal(t, "ok-ctx.a", of(b.Wanted))
	})
	t.Run("a child", func(t *testing.T) {
		for _, text := range []string{"{kind: workflow, path: child.yaml, input: {n: '{{ ctx.n }}'}}", "{name: c, kind: playbook, path: child.yaml, input: {n: '{{ ctx.n }}'}}", "[{name: c, kind: playbook, path: child.yaml, args: {n: '{{ ctx.n }}'}}]"} {
			checked, book := load(t, tool(text))
			child := checked.Bindings[book.CallSites[0].Call.Operation].Binding.Workflow
			require.Equal(t, "child.yaml", child.Path)
			require.Regexp(t, `^workflow\[0\].tool.*path$`, child.Pos.Path)
			require.Equal(t, `{"n":3}`, render(book.CallSites[0].Input))
		}
		for _, text := range []string{"{kind: workflow, name: child}", "[{name: c, kind: workflow, ref: child, input: '{{ ctx.list }}'}]"} {
			checked, book := load(t, tool(text))
			child := checked.Bindings[book.CallSites[0].Call.Operation].Binding.Workflow
			require.Equal(t, "child", child.Name)
			require.NotZero(t, child.Pos.Line)
		}
	})
}

func TestRegisteredOperationsAreCalledByTheirKind(t *testing.T) {
	checked, book := load(t, "keychain: [{name: a, kind: env, data: {k: V}}]\n"+steps("- step: s", "  tool:", "    - {kind: order.split, n: '{{ _prev.n }}', input: {m: '{{ keychain.a.k }}'}, idempotent: false}",
		"    - {name: quiet, kind: noop}", "    - {name: whole, kind: sum, input: '{{ results.list }}'}", "    - {name: bare, kind: ping}"))
	require.Len(t, book.CallSites, 3)
	require.Empty(t, checked.Bindings)
	require.Equal(t, "s.task_0 order.split true", fmt.Sprint(book.CallSites[0].Call.ID, " ", book.CallSites[0].Call.Operation, " ", book.CallSites[0].Call.NonIdempotent))
	require.Equal(t, `{"m":"keychain.a.k","n":3}`, render(book.CallSites[0].Input))
	require.Equal(t, `["x","y"]`, render(book.CallSites[1].Input))
	require.Nil(t, book.CallSites[2].Input, "a tool that says nothing is called with null")
	require.Equal(t, -1, book.Steps[0].Tasks[1].CallSite)
}

// Settings of specs override each other, in this order: executor, step, loop, workbook, task.
func TestSpecsAreHandedDown(t *testing.T) {
	_, book := load(t, head+`
executor: {spec: {timeout: {connect: 1, read: 2}, result: {inline_max_bytes: 10, select: [{path: a}]}}}
workbook: {tasks: {w: {kind: work, spec: {timeout: 40, policy: {rules: [{else: {then: {do: fail}}}]}}}}}
workflow:
  - {step: a, tool: {kind: work}}
  - {step: b, spec: {timeout: {read: 5}, result: {select: [{path: b}]}}, tool: {kind: work}}
  - {step: c, spec: {timeout: 60}, loop: {in: [], iterator: i, spec: {timeout: 7, result: {inline_max_bytes: 20}}}, tool: {kind: work}}
  - {step: d, tool: {kind: work, timing: {timeout: PT9S}, spec: {timeout: 8}, output: {inline_max_bytes: 30}}}
  - {step: e, tool: {kind: workbook, task: w}}
  - {step: f, tool: {kind: workbook, task: w, spec: {timeout: 50, policy: {rules: [{else: {then: {do: break}}}]}}}}
  - {step: g, tool: {kind: noop}}
`)
	var got []string
	for _, s := range book.Steps {
		task := s.Tasks[0]
		line := s.Name
		if task.Call.Timing != nil {
			line += " " + task.Call.Timing.Timeout.String()
		}
		line += fmt.Sprint(" ", task.Result.InlineMax, task.Result.Select)
		for _, rule := range task.Rules {
			line += " " + string(rule.Do)
		}
		got = append(got, line)
	}
	require.Equal(t, []string{
		"a 3s 10 [{[a] a}]", "b 5s 10 [{[b] b}]", "c 7s 20 [{[a] a}]", "d 9s 30 [{[a] a}]", "e 40s 10 [{[a] a}] fail",
		"f 50s 10 [{[a] a}] break", "g 10 [{[a] a}]",
	}, got)
	require.Equal(t, "1m0s", book.Steps[2].Timeout.String())
}

func TestWorkbooks(t *testing.T) {
	of := func(workbook string, tool string) string {
		return head + "workbook: " + workbook + "\nworkflow: [{step: s, tool: " + tool + "}]\n"
	}
	const w = "[{name: weigh, tool: {kind: work, input: {kg: 0, max: 30}}, assert: {expects: [kg, from], returns: [heavy]}}]"
	for _, c := range []struct{ name, text, want string }{
		{"expected input is present", of(w, "{kind: workbook, name: weigh, input: {from: x}}"), ""},
		{"expected input is missing", of(w, "{kind: workbook, name: weigh}"), `p.yaml:5:28: workflow[0].tool: the workbook entry expects input "from"`},
		{"an entry that is not there", of(w, "{kind: workbook, name: wiegh}"), `p.yaml:5:51: workflow[0].tool.name: unknown workbook entry "wiegh" (did you mean "weigh"?)`},
		{"a name in a list is a label", of(w, "[{kind: workbook, name: weigh}]"), `p.yaml:5:29: workflow[0].tool[0].task: a tool of kind workbook needs task, the name of an entry`},
		{"an entry for an entry", of("{tasks: {a: {kind: work}, b: {tool: {kind: workbook, name: a}}}}", "{kind: noop}"),
			`p.yaml:4:54: workbook.tasks.b.tool.kind: an entry of the workbook cannot refer to another entry`},
		{"entries without tools", of("[{name: a}, {name: a, tool: work}, {tool: {n: 1}}, x]", "{kind: noop}"),
			"p.yaml:4:12: workbook[0].tool: tool is missing\n" +
				`p.yaml:4:30: workbook[1].name: duplicate workbook entry "a", first at workbook[0].name` + "\n" +
				`p.yaml:4:39: workbook[1].tool: tool must be a mapping, not a string: "work"` + "\n" +
				`p.yaml:4:46: workbook[2].name: name is missing` + "\n" + `p.yaml:4:53: workbook[2].tool.kind: kind is missing` + "\n" +
				`p.yaml:4:62: workbook[3]: an entry of the workbook must be a mapping, not a string: "x"`},
		{"an unknown operation", of("{tasks: {a: {kind: wrok}}}", "{kind: workbook, task: a}"), `p.yaml:4:30: workbook.tasks.a.kind: unknown operation "wrok" (did you mean "work"?)`},
		{"faults of an entry stand where it does", of("{tasks: {a: {kind: work, n: '{{ nope }}', timing: {timeout: 1}}}}", "{kind: workbook, task: a}"),
			`p.yaml:4:39: workbook.tasks.a.n: unknown name "nope"; known here: _attempt, _prev, _task, args, ctx, execution_id, input, iter, keychain, results, step, workload` + "\n" + `p.yaml:4:71: workbook.tasks.a.timing.timeout: invalid duration "1": write it as PT30S, PT5M or P1DT12H`},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, refusal(c.text)) })
	}
}

func TestBuiltInToolsRefuse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{kind: http, method: GET}", `p.yaml:4:28: workflow[0].tool.url: tool http needs url`},
		{"{kind: http, ulr: x}", `p.yaml:4:41: workflow[0].tool.ulr: unknown key "ulr" of tool http (did you mean "url"?)`},
		{"{kind: http, url: x, headers: '{{ ctx.h }}'}", `p.yaml:4:58: workflow[0].tool.headers: headers must be a mapping, not a string: "{{ ctx.h }}"`},
		{"{kind: http, url: x, body: 1, payload: 2}", `p.yaml:4:67: workflow[0].tool.payload: payload cannot be combined with body: they are two names of one key`},
		{"{kind: http, input: '{{ ctx.h }}'}", `p.yaml:4:48: workflow[0].tool.input: input of tool http must be a mapping: "{{ ctx.h }}"`},
		{"{kind: http, url: x, follow_redirects: all}", `p.yaml:4:67: workflow[0].tool.follow_redirects: follow_redirects must be one of same_host, any, not "all"`},
		{"{kind: command}", `p.yaml:4:28: workflow[0].tool.argv: tool command needs one of argv, shell`},
		{"{kind: command, argv: ls}", `p.yaml:4:50: workflow[0].tool.argv: argv must be a list that begins with a program: "ls"`},
		{"{kind: command, argv: [ls], shell: ls}", `p.yaml:4:63: workflow[0].tool.shell: shell cannot be combined with argv: "ls"`},
		{"{kind: shell, shell: 'rm {{ ctx.a }}'}", `p.yaml:4:49: workflow[0].tool.shell: shell takes no expressions: pass values in env and quote them there, as in "$NAME": "rm {{ ctx.a }}"`},
		{"{kind: command, argv: [ls], output: yaml}", `p.yaml:4:64: workflow[0].tool.output: output must be one of text, json, lines, not "yaml"`},
		{"{kind: sleep}", `p.yaml:4:28: workflow[0].tool.for: tool sleep needs for`},
		{"{kind: sleep, for: 5s}", `p.yaml:4:47: workflow[0].tool.for: invalid duration "5s": write it as PT30S, PT5M or P1DT12H`},
		{"{kind: sleep, for: 5}", `p.yaml:4:47: workflow[0].tool.for: for must be a duration such as PT30S, not an integer`},
		{"{kind: wait, mesage: x}", `p.yaml:4:41: workflow[0].tool.mesage: unknown key "mesage" of tool wait (did you mean "message"?)`},
		{"{kind: workflow}", `p.yaml:4:28: workflow[0].tool: tool workflow needs one of path, ref (a registered workflow)`},
		{"{kind: workflow, path: a.yaml, n: 1}", `p.yaml:4:59: workflow[0].tool.n: unknown key "n" of tool workflow`},
		{"{kind: playbook, path: '{{ ctx.a }}'}", `p.yaml:4:51: workflow[0].tool.path: path takes no expressions: which workflow is called must be known before a run: "{{ ctx.a }}"`},
		{"{kind: 'a#b'}", `p.yaml:4:35: workflow[0].tool.kind: kind must be the name of an operation, which has no #: "a#b"`},
	} {
		t.Run(c.text, func(t *testing.T) { require.Equal(t, c.want, refusal(tool(c.text))) })
	}
}

func TestOfOtherWorkflowsThereIsNoPlaybook(t *testing.T) {
	book, ok := playbook.Of(&template.Workflow{Name: "w"})
	require.False(t, ok)
	require.Nil(t, book)
}

// In Jinja's dialect a guard may use other names for the ends of steps; texts in other places stay unchanged.
func TestGuardsInJinjaKnowTheEndsOfStepsByOtherNames(t *testing.T) {
	_, book := load(t, strings.Replace(steps(
		"- step: s",
		"  tool: {kind: work, n: \"{{ ctx.a }} 'call.done'\"}",
		"  next: {arcs: [{step: s, when: \"{{ event.name == 'call.done' }}\"}, {step: s, when: '{{ event.name == \"call.error\" }}'}]}"),
		"sluice/v1", "noetl.io/v2", 1))
	require.True(t, book.Jinja)
	arcs := book.Steps[0].Next.Arcs
	done, err := arcs[0].When.EvalBool(world{})
	require.NoError(t, err)
	require.True(t, done, "the event of this world is step.done")
	failed, err := arcs[1].When.EvalBool(world{})
	require.NoError(t, err)
	require.False(t, failed)
	require.Equal(t, "event.name == 'call.done'", arcs[0].Text, "as it was written")
	require.Equal(t, `{"n":"ctx.a 'call.done'"}`, render(book.CallSites[0].Input))
}
