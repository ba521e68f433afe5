package program_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/plan"
)

// parts returns a script that answers the calls with these names.
func parts(names ...string) script.Parts {
	p := script.Parts{}
	for _, name := range names {
		p[name] = &script.Part{}
	}
	return p
}

func node(t *testing.T, text string) *document.Node {
	nodes, err := document.Parse("scenario.yaml", []byte(text), document.Limits{})
	require.NoError(t, err)
	return nodes[0]
}

func write(t *testing.T, folder, name, text string) {
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
}

// compile compiles a workflow that is inline in a scenario.
func compile(t *testing.T, folder, text string, operations, decisions script.Parts) (*program.Program, error) {
	src, err := program.NewLibrary().Find(node(t, text), nil, folder)
	require.NoError(t, err)
	return program.NewLibrary().Compile(src, operations, decisions, "", nil)
}

const hello = "{kind: Workflow, name: hello, steps: [{operation: greet}]}"

func TestFindLooksInTheScenarioInGoAndInFiles(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "hello.yaml", hello)
	write(t, folder, "two.yaml", hello+"\n---\n"+hello)
	write(t, folder, "torn.yaml", "{kind: Workflow")
	require.NoError(t, os.Mkdir(filepath.Join(folder, "sub"), 0o700))
	built := map[string]*template.Workflow{"built": {Name: "built", Steps: []template.Node{&template.Step{ID: "s", Operation: "greet"}}}}
	for name, c := range map[string]struct{ workflow, want, fault string }{
		"inline":         {hello, "hello", ""},
		"built in Go":    {"built", "built", ""},
		"in a file":      {"hello.yaml", "hello", ""},
		"by its path":    {filepath.Join(folder, "hello.yaml"), "hello", ""},
		"missing":        {"elsewhere.yaml", "", "elsewhere.yaml"},
		"a folder":       {"sub", "", "sub"},
		"two documents":  {"two.yaml", "", "a second document in the file of a workflow"},
		"not a document": {"torn.yaml", "", "torn.yaml:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := program.NewLibrary().Find(node(t, c.workflow), built, folder)
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault)
				return
			}
			require.NoError(t, err)
			p, err := program.NewLibrary().Compile(src, parts("greet"), nil, "", nil)
			require.NoError(t, err)
			require.Equal(t, c.want, p.Plan.Workflow.Name)
			require.Equal(t, folder, p.Folder)
		})
	}
}

// A workflow built in Go is copied: bind does not change the program's own workflow. The copy has its functions.
func TestAWorkflowBuiltInGoIsLeftAsItIs(t *testing.T) {
	w := &template.Workflow{
		Name:  "built",
		Steps: []template.Node{&template.Step{ID: "s", Operation: "ask"}},
	}
	twice := &template.Function{Name: "twice", Call: func(args []any) (any, error) { return args, nil }}
	require.NoError(t, w.Register(twice))
	src, err := program.NewLibrary().Find(node(t, "built"), map[string]*template.Workflow{"built": w}, "")
	require.NoError(t, err)
	directory := &template.Directory{}
	p, err := program.NewLibrary().Compile(src, parts("ask"), nil, "", directory)
	require.NoError(t, err)
	require.NotSame(t, w, p.Plan.Workflow)
	require.Same(t, directory, p.Plan.Workflow.Directory)
	require.Nil(t, w.Directory)
	require.Contains(t, p.Functions, "twice")
}

// Ten thousand child runs of a document read and compile it once, unless the script answers different steps of one of them.
func TestRunsShareAProgramWhereTheScriptAnswersTheSame(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "w.yaml", "{kind: Workflow, name: w, operations: {nap: {sleep: {for: PT1S}}}, steps: [{id: a, operation: nap}, {id: b, operation: greet}]}")
	l := program.NewLibrary()
	answers := parts("greet", "one/a")
	compiled := func(path string) *program.Program {
		src, err := l.OfChild(&template.Workflow{}, &template.Child{Path: "w.yaml"}, folder)
		require.NoError(t, err)
		p, err := l.Compile(src, answers, nil, path, nil)
		require.NoError(t, err)
		return p
	}
	first := compiled("two/")
	require.NotZero(t, first.Bytes)
	write(t, folder, "w.yaml", "no longer read")
	require.Same(t, first, compiled("three/"))
	require.Same(t, first, compiled("m[7]/"))
	one := compiled("one/")
	require.NotSame(t, first, one)
	require.Same(t, one, compiled("one/"))
	require.Equal(t, "nap", first.Plan.Nodes[0].Step.Operation)
	require.Equal(t, "nap", program.Operation(one.Plan.Nodes[0].Step.Operation))
	require.NotEqual(t, "nap", one.Plan.Nodes[0].Step.Operation, "the script answers it")
}

// The script answers the calls that it names, by step or operation, at the path of the run or within it. The engine answers
// built-ins. Any other call is a fault.
func TestTheScriptAnswersWhatItNames(t *testing.T) {
	const document = `
kind: Workflow
name: w
operations: {nap: {sleep: {for: PT1S}}, list: {command: {argv: [ls]}}}
steps: [{id: a, operation: ask}, {id: b, operation: nap}, {id: c, operation: list}, {id: d, operation: nap}]`
	for name, c := range map[string]struct {
		names []string
		want  []string // operations of the compiled steps
		fault string
	}{
		"by operation":       {[]string{"ask", "list"}, []string{"ask", "nap", "list", "nap"}, ""},
		"by step":            {[]string{"a", "c"}, []string{"ask", "nap", "list", "nap"}, ""},
		"a built-in":         {[]string{"ask", "list", "nap"}, []string{"ask", "nap (scripted)", "list", "nap (scripted)"}, ""},
		"one of two":         {[]string{"ask", "list", "d"}, []string{"ask", "nap", "list", "nap (scripted)"}, ""},
		"an instance":        {[]string{"a[0]", "list"}, []string{"ask", "nap", "list", "nap"}, ""},
		"no command":         {[]string{"ask"}, nil, `operation "list" of step "c" is not scripted`},
		"no bound at all":    {[]string{"list"}, nil, `unknown operation "ask"`},
		"everything at once": {nil, nil, `operation "list" of step "c" is not scripted`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := compile(t, "", document, parts(c.names...), nil)
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, row := range p.Plan.Rows {
				got = append(got, p.Plan.Operations[row.Op].Name)
			}
			require.Equal(t, c.want, got)
			for i, scripted := range got {
				require.Equal(t, []string{"ask", "nap", "list", "nap"}[i], program.Operation(scripted))
			}
		})
	}
}

// Of two steps with one operation, one may be scripted by its id and the other not at all.
func TestEveryStepOfAnOperationIsScripted(t *testing.T) {
	const document = "{kind: Workflow, name: w, steps: [{id: a, operation: ask}, {parallel: {steps: [{id: b, operation: ask}]}}]}"
	_, err := compile(t, "", document, parts("a"), nil)
	require.ErrorContains(t, err, `operation "ask" of step "b" is not scripted`)
	require.NotContains(t, err.Error(), `step "a"`)
	_, err = compile(t, "", document, parts("a", "b"), nil)
	require.NoError(t, err)
}

// A step deep within conditionals and maps is bound like any other.
func TestStepsAreBoundAtAnyDepth(t *testing.T) {
	for _, around := range []string{
		"sequential: {steps: [%s]}", "parallel: {steps: [%s]}", `conditional: {test: "{{ true }}", then: [%s]}`,
		`conditional: {test: "{{ true }}", then: [], else: [%s]}`, `map: {id: m, over: "{{ [1] }}", steps: [%s]}`,
	} {
		text := `{kind: Workflow, name: w, operations: {list: {command: {argv: [ls]}}}, steps: [{` + fmt.Sprintf(around, "{id: a, operation: list}") + "}]}"
		_, err := compile(t, "", text, parts(), nil)
		require.ErrorContains(t, err, `operation "list" of step "a" is not scripted`, around)
		_, err = compile(t, "", text, parts("a"), nil)
		require.NoError(t, err, around)
	}
}

// A decision source is known if the script has decisions of its step.
func TestDecisionsAreScriptedByStep(t *testing.T) {
	const document = "{kind: Workflow, name: w, steps: [{id: a, operation: ask, fulfillment: {policy: external_decision, decision_source: {kind: capability, capability_id: c, operation: judge}, result_match: {path: /ok, fulfilled_values: [true]}}}]}"
	_, err := compile(t, "", document, parts("ask"), parts("a"))
	require.NoError(t, err)
	_, err = compile(t, "", document, parts("ask"), parts("b"))
	require.ErrorContains(t, err, "judge")
}

func TestChildWorkflowsAreCheckedAtAnyDepth(t *testing.T) {
	folder := t.TempDir()
	asks := func(child string) string {
		return "kind: Workflow\nname: w\noperations: {sub: {workflow: " + child + "}}\nsteps: [{id: s, operation: sub, target: {resolve: static, participants: [p]}, fan_in: {policy: any_one}}]"
	}
	calls := func(child string) string {
		return "kind: Workflow\nname: w\noperations: {sub: {workflow: " + child + "}}\nsteps: [{id: s, operation: sub}]"
	}
	write(t, folder, "plain.yaml", hello)
	write(t, folder, "itself.yaml", calls("{path: itself.yaml}"))
	write(t, folder, "asks.yaml", "{kind: Workflow, name: w, steps: [{operation: greet, target: {resolve: static, participants: [p]}, fan_in: {policy: any_one}}]}")
	write(t, folder, "above.yaml", calls("{path: asks.yaml}"))
	write(t, folder, "broken.yaml", "{kind: Workflow, name: w, steps: [{operation: greet, nonsense: 1}]}")
	for name, c := range map[string]struct{ text, fault string }{
		"a plain child":            {calls("{path: plain.yaml}"), ""},
		"one that calls itself":    {calls("{path: itself.yaml}"), ""},
		"one that asks":            {calls("{path: asks.yaml}"), ""},
		"asked, and asks":          {asks("{path: asks.yaml}"), `nested fan-out: the workflow of operation "sub" asks participants itself`},
		"asked, and asks below":    {asks("{path: above.yaml}"), "nested fan-out"},
		"missing":                  {calls("{path: elsewhere.yaml}"), "elsewhere.yaml"},
		"broken":                   {calls("{path: broken.yaml}"), `broken.yaml:1:`},
		"by a name that is no one": {calls("{name: other}"), "a scenario cannot find a workflow by its name: give its path, or script the step"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := compile(t, folder, c.text, parts("greet"), nil)
			if c.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.fault)
		})
	}
}

// The names of a playbook's call, from the most specific to the most general.
func TestTaskNamesGoFromTheMostSpecific(t *testing.T) {
	at := routed.Place{Step: "fetch", Task: "get", Kind: "http", Iteration: -1}
	require.Equal(t, []string{"fetch.get", "fetch", "http"}, program.TaskNames("", at))
	at.Iteration = 2
	names := program.TaskNames("sub[1]/", at)
	require.Equal(t, []string{
		"sub[1]/fetch[2].get", "sub[1]/fetch[2]", "sub[1]/fetch.get", "sub[1]/fetch",
		"sub/fetch[2].get", "sub/fetch[2]", "sub/fetch.get", "sub/fetch",
		"fetch[2].get", "fetch[2]", "fetch.get", "fetch", "http",
	}, names)
	all := parts(names...)
	for len(names) > 0 {
		require.Same(t, all[names[0]], program.FindTask(all, "sub[1]/", at))
		delete(all, names[0])
		names = slices.Delete(names, 0, 1)
	}
	require.Nil(t, program.FindTask(all, "sub[1]/", at))
}

// A playbook's built-in is scripted if any name of its task is, in any iteration; other tasks need not be.
func TestTasksOfAPlaybookAreScriptedByName(t *testing.T) {
	const document = `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: p}
workflow: [{step: a, loop: {in: "{{ [1] }}", iterator: i}, tool: {kind: sleep, name: t, for: PT1S}}]`
	for name, scripted := range map[string]bool{"a.t": true, "a": true, "a[0]": true, "a[3].t": true, "sleep": true, "b": false, "b[0]": false} {
		p, err := compile(t, "", document, parts(name), nil)
		require.NoError(t, err, name)
		suffixed := slices.ContainsFunc(p.Plan.Operations, func(op plan.Operation) bool { return program.Operation(op.Name) != op.Name })
		require.Equal(t, scripted, suffixed, name)
	}
}

// If any word of a rich document is replaced, the document is refused or compiled, without a panic: the tree of a refused document
// may have steps without tasks.
func TestADocumentWithAnyWordReplacedIsRefusedOrCompiled(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "template", "playbook", "testdata", "whole.yaml"))
	require.NoError(t, err)
	words := regexp.MustCompile(`[A-Za-z_]+`).FindAllIndex(text, -1)
	require.Greater(t, len(words), 200)
	refused, folder := 0, t.TempDir()
	for _, at := range words {
		changed := slices.Concat(text[:at[0]], []byte("other"), text[at[1]:])
		nodes, err := document.Parse("scenario.yaml", changed, document.Limits{})
		if err != nil {
			continue
		}
		library := program.NewLibrary()
		src, err := library.Find(nodes[0], nil, folder)
		if err == nil {
			_, err = library.Compile(src, parts("step.done", "work"), nil, "", nil)
		}
		if err != nil {
			refused++
		}
	}
	require.Greater(t, refused, 30)
}
