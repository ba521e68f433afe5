package playbook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

// load reads a playbook; all operations are known.
func load(t require.TestingT, text string) (*template.Checked, *playbook.Playbook) {
	checked, err := playbook.Load("p.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	book, ok := playbook.Of(checked.Workflow)
	require.True(t, ok)
	return checked, book
}

// head is the beginning of every document.
const head = "kind: Playbook\napiVersion: sluice/v1\nmetadata: {name: p}\n"

// tool returns a playbook of one step with the given tool.
func tool(text string) string { return head + "workflow: [{step: s, tool: " + text + "}]\n" }

// world is an environment in which every variable is an object that names itself.
type world struct{}

func (world) Name(name string) (value.Value, error) {
	if name == "keychain" {
		return map[string]any{"a": map[string]any{"k": "keychain.a.k"}, "api": map[string]any{"token": "keychain.api.token"}}, nil
	}
	if name == "_attempt" || name == "execution_id" {
		return name, nil
	}
	return map[string]any{
		"a": name + ".a", "b": name + ".b", "n": int64(3), "list": []any{"x", "y"}, "yes": true, "o": map[string]any{"k": name + ".o.k"},
		"name": "step.done", "item": name + ".item", "status": "ok", "result": map[string]any{"n": int64(7)}, "data": map[string]any{"n": int64(7)},
	}, nil
}

func (world) Step(string, expr.Field) (value.Value, error) { return nil, expr.ErrNoOutput }

// render returns the result of an expression as JSON, or its error.
func render(e playbook.Expr) string {
	v, err := e.Eval(world{})
	if err != nil {
		return "error: " + err.Error()
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(data)
}

// shape describes the meaning of a playbook, without places, zero fields and spellings.
func shape(p *playbook.Playbook) string {
	var b strings.Builder
	write(&b, "", reflect.ValueOf(struct {
		Name     string
		Executor playbook.Executor
		Workload map[string]value.Value
		Keychain []*secret.Entry
		Steps    []*playbook.Step
	}{p.Name, p.Executor, p.Workload, p.Keychain, p.Steps}))
	return b.String()
}

var (
	exprTypes = []reflect.Type{reflect.TypeFor[playbook.Expr](), reflect.TypeFor[secret.Expr]()}
	posType   = reflect.TypeFor[document.Pos]()
)

func write(b *strings.Builder, path string, v reflect.Value) {
	switch {
	case v.Type() == posType || v.IsZero():
		return
	case slices.Contains(exprTypes, v.Type()):
		fmt.Fprintf(b, "%s = %s\n", path, render(v.Interface().(playbook.Expr)))
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		write(b, path, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			write(b, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
		for _, key := range keys {
			write(b, path+"."+key.String(), v.MapIndex(key))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Text" {
				write(b, path+"."+f.Name, v.Field(i))
			}
		}
	default:
		fmt.Fprintf(b, "%s = %v\n", path, v.Interface())
	}
}

// requireRoundTrip checks that a playbook's document, stored as JSON and read again, yields the same playbook with the same
// identity, and that its plan has a row for each call site.
func requireRoundTrip(t require.TestingT, checked *template.Checked) {
	book, ok := playbook.Of(checked.Workflow)
	require.True(t, ok)
	require.NoError(t, playbook.Invariants(book))
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	require.Len(t, p.Nodes, len(book.CallSites))
	for i, site := range book.CallSites {
		require.Equal(t, i, site.CallSite)
		require.Same(t, &site.Call, p.Nodes[i].Step)
		require.Same(t, site, book.Steps[site.Step].Tasks[site.Index])
		require.Equal(t, book.Steps[site.Step].Name+"."+site.Label, p.Keys[i])
	}
	data, err := json.Marshal(checked.Workflow)
	require.NoError(t, err)
	again, err := playbook.Load("again.json", data, template.Known{Lenient: true})
	require.NoError(t, err, "%s", data)
	readAgain, _ := playbook.Of(again.Workflow)
	require.Equal(t, shape(book), shape(readAgain))
	first, err := checked.Workflow.Hash()
	require.NoError(t, err)
	second, err := again.Workflow.Hash()
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Equal(t, first, p.Hash)
}

// Documents with the same meaning but different spellings yield the same playbook.
func TestSpellingsAreOneForm(t *testing.T) {
	rule := func(text string) string { return tool("{kind: work, spec: {policy: {rules: [" + text + "]}}}") }
	for _, c := range []struct{ name, a, b string }{
		{"one tool is a list of one", tool("{kind: work, n: 1}"), tool("[{name: s_task, kind: work, n: 1}]")},
		{"a label as key", tool("[{a: {kind: work, n: 1}}, {b: {kind: noop}}]"), tool("[{name: a, kind: work, n: 1}, {name: b, kind: noop}]")},
		{"tasks without a label are counted from zero", tool("[{kind: noop}, {kind: noop}]"), tool("[{name: task_0, kind: noop}, {name: task_1, kind: noop}]")},
		{"args are input", tool("{kind: work, args: {n: 1}}"), tool("{kind: work, input: {n: 1}}")},
		{"input beside other keys is one input", tool("{kind: work, n: 1, input: {m: 2}}"), tool("{kind: work, input: {n: 1, m: 2}}")},
		{"set_ctx", rule("{else: {then: {set_ctx: {a: 1, b: 2}}}}"), rule("{else: {then: {set: {ctx.b: 2, ctx.a: 1}}}}")},
		{"a bare key of set writes ctx", rule("{else: {then: {set: {a: 1}}}}"), rule("{else: {then: {set: {ctx.a: 1}}}}")},
		{"set_iter", rule("{else: {then: {set_iter: {a: 1}}}}"), rule("{else: {then: {set: {iter.a: 1}}}}")},
		{"continue is what a rule does", rule("{else: {then: {set: {a: 1}}}}"), rule("{else: {then: {do: continue, set: {a: 1}}}}")},
		{"else without then", rule("{else: {do: break}}"), rule("{else: {then: {do: break}}}")},
		{"else beside then", rule("{else: null, then: {do: break}}"), rule("{else: {then: {do: break}}}")},
		{"backoff fixed", rule("{else: {then: {do: retry, backoff: fixed}}}"), rule("{else: {then: {do: retry, attempts: 3, backoff: none}}}")},
		{"outcome and output", rule("{when: '{{ outcome.result.n == 7 }}', then: {do: break}}"), rule("{when: '{{ output.data.n == 7 }}', then: {do: break}}")},
		{"a workbook by list and by map", head + "workbook: [{name: w, tool: {kind: work, n: 1}}]\nworkflow: [{step: s, tool: {kind: workbook, name: w}}]",
			head + "workbook: {tasks: {w: {kind: work, n: 1}}}\nworkflow: [{step: s, tool: {kind: workbook, task: w}}]"},
		{"a workbook and what it stands for", head + "workbook: {tasks: {w: {tool: {kind: work, n: 1, input: {a: 1, b: 2}, timing: {timeout: PT1S}}}}}\n" +
			"workflow: [{step: s, tool: [{name: t, kind: workbook, task: w, input: {b: 3}}]}]",
			tool("[{name: t, kind: work, n: 1, a: 1, b: 3, timing: {timeout: PT1S}}]")},
		{"durations", head + "workflow: [{step: s, spec: {timeout: 90s}, tool: {kind: noop}}]", head + "workflow: [{step: s, spec: {policy: {lifecycle: {timeout_s: 90, deadline_s: 100}}}, tool: {kind: noop}}]"},
		{"free keys", head + "x-a: 1\nworkflow: [{step: s, x-b: 2, tool: {kind: noop, x-c: 3}}]", tool("{kind: noop}")},
		{"defaults", tool("{kind: noop}"), head + "executor: {profile: auto, spec: {entry_step: s, no_next_is_error: false, policy: {completion: fail_on_any, final_failure: fail, on_unmatched: continue}, " +
			"limits: {max_step_runs: 100000, max_jumps: 250000, max_args_bytes: 65536}}}\nworkflow: [{step: s, spec: {policy: {admit: {rules: []}, failure: {mode: fail_fast}}}, tool: {kind: noop}}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, a := load(t, c.a)
			_, b := load(t, c.b)
			require.NotEmpty(t, shape(a))
			require.Equal(t, shape(b), shape(a))
		})
	}
}

// Every key of a document has its effect.
func TestADocumentIsReadWhole(t *testing.T) {
	text, err := os.ReadFile("testdata/whole.yaml")
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/whole.golden")
	require.NoError(t, err)
	checked, book := load(t, string(text))
	requireRoundTrip(t, checked)
	require.Equal(t, string(want), shape(book))
	require.Equal(t, 4, checked.Workflow.MaxConcurrency)
	require.NotNil(t, checked.Workflow.Directory)
	require.Equal(t, map[string]value.Value{"name": "whole", "path": "examples/whole", "owner": "ops"}, book.Metadata)
}
