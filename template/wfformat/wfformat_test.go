package wfformat_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
	"github.com/sluiceflow/sluice/template/wfformat"
)

var update = flag.Bool("update", false, "write the expected documents anew")

// files returns the instances to try: those of testdata, and those of the folder in SLUICE_INSTANCES.
func files(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, list)
	if dir := os.Getenv("SLUICE_INSTANCES"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, more, "SLUICE_INSTANCES=%s", dir)
		list = append(list, more...)
	}
	return list
}

func parse(t testing.TB, file string) *wfformat.Instance {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	instance, err := wfformat.Parse(data)
	require.NoError(t, err)
	return instance
}

// yaml writes a workflow as people see it.
func yaml(t require.TestingT, w *template.Workflow) string {
	doc, err := value.Of(w.Document())
	require.NoError(t, err)
	text, err := document.AppendYAML(nil, doc, "kind", "name", "version", "id", "operation")
	require.NoError(t, err)
	return string(text)
}

// steps returns the steps of an instance's workflow, in order.
func steps(t require.TestingT, w *template.Workflow) []*template.Step {
	require.Len(t, w.Steps, 1)
	var list []*template.Step
	for _, n := range w.Steps[0].(*template.Parallel).Steps {
		list = append(list, n.(*template.Step))
	}
	return list
}

// verify checks the properties of any instance's workflow.
func verify(t require.TestingT, in *wfformat.Instance, w *template.Workflow) {
	// Every task is a step, and every parent a need, and nothing else is.
	list := steps(t, w)
	require.Len(t, list, len(in.Tasks))
	taskOf := make(map[string]string)
	for i, step := range list {
		taskOf[step.ID] = in.Tasks[i].ID
	}
	require.Len(t, taskOf, len(in.Tasks))
	for i, step := range list {
		var needs []string
		for _, id := range step.Needs {
			needs = append(needs, taskOf[id])
		}
		require.Equal(t, in.Tasks[i].Parents, needs, "needs of %s", step.ID)
	}
	// The written workflow is read back as the same, in both dialects.
	hash, err := w.Hash()
	require.NoError(t, err)
	asJSON, err := w.MarshalJSON()
	require.NoError(t, err)
	for file, text := range map[string]string{"w.json": string(asJSON), "w.yaml": yaml(t, w)} {
		read, err := template.Parse(file, []byte(text))
		require.NoError(t, err, "%s", text)
		readHash, err := read.Hash()
		require.NoError(t, err)
		require.Equal(t, hash, readHash, "%s", text)
	}
	// It is valid, and can be run.
	checked, err := template.Check(w, template.Known{})
	require.NoError(t, err)
	_, err = plan.Compile(checked)
	require.NoError(t, err)
}

func TestEveryInstanceBecomesAWorkflow(t *testing.T) {
	for _, file := range files(t) {
		for _, opts := range []wfformat.Options{{}, {Speed: 1000}, {Commands: true}} {
			t.Run(fmt.Sprintf("%s %+v", filepath.Base(file), opts), func(t *testing.T) {
				in := parse(t, file)
				w, err := in.Workflow(opts)
				require.NoError(t, err)
				verify(t, in, w)
				again, err := parse(t, file).Workflow(opts)
				require.NoError(t, err)
				require.Equal(t, yaml(t, w), yaml(t, again))
			})
		}
	}
}

func TestDocumentsAreAsExpected(t *testing.T) {
	for name, opts := range map[string]wfformat.Options{"survey-speed-4": {Speed: 4}, "survey-commands": {Commands: true}} {
		t.Run(name, func(t *testing.T) {
			w, err := parse(t, "testdata/survey.json").Workflow(opts)
			require.NoError(t, err)
			golden := "testdata/" + name + ".yaml"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(yaml(t, w)), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), yaml(t, w))
		})
	}
}

// instance returns a file with the given tasks and executions.
func instance(tasks, executions string) string {
	return fmt.Sprintf(`{"name": "n", "schemaVersion": "1.5", "workflow": {
"specification": {"tasks": [%s]},
"execution": {"tasks": [%s]}}}`, tasks, executions)
}

func TestFilesThatAreRefused(t *testing.T) {
	const a = `{"id": "a", "parents": [], "children": []}`
	for _, tt := range []struct {
		name string
		file string
		want []string
	}{
		{"broken", `{"name": `, []string{"1:"}},
		{"no object", `[]`, []string{"schema version"}},
		{"an older schema", `{"schemaVersion": "1.4", "workflow": {"tasks": []}}`, []string{`1:19: schemaVersion: schema version "1.4" cannot be read: it must be 1.5`}},
		{"no schema", `{}`, []string{`schema version "" cannot be read`}},
		{"no tasks", instance("", ""), []string{"there are no tasks"}},
		{"no list of tasks", `{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": {}}}}`, []string{"there are no tasks"}},
		{"no specification", `{"schemaVersion": "1.5"}`, []string{"there are no tasks"}},
		{"a task without an id", instance(`{"name": "x"}`, ""), []string{"2:29: workflow.specification.tasks[0]: task 1 has no id"}},
		{"an id that is none", instance(`{"id": 7}`, ""), []string{"workflow.specification.tasks[0].id: id must be a string, not an integer"}},
		{"a task that is none", instance(`1`, ""), []string{"workflow.specification.tasks[0]: task 1 has no id"}},
		{"an id twice", instance(a+","+a, ""), []string{`duplicate task "a", first at workflow.specification.tasks[0]`}},
		{"an unknown parent", instance(`{"id": "a", "parents": ["b"]}`, ""), []string{`task "a" has unknown parent "b"`}},
		{"an unknown child", instance(`{"id": "a", "children": ["b"]}`, ""), []string{`task "a" has unknown child "b"`}},
		{"parents that are no list", instance(`{"id": "a", "parents": "b"}`, ""), []string{`the parents of task "a" must be a list, not a string`}},
		{"parents that are no texts", instance(`{"id": "a", "parents": [1]}`, ""), []string{`the parents of task "a" must be a string, not an integer`}},
		{"a child that does not know", instance(`{"id": "a", "children": ["b"]}, {"id": "b"}`, ""),
			[]string{`task "a" has child "b", which does not have it as a parent`}},
		{"a parent that does not know", instance(`{"id": "a", "children": []}, {"id": "b", "parents": ["a"]}`, ""),
			[]string{`task "b" has parent "a", which does not have it as a child`}},
		{"a cycle", instance(`{"id": "a", "parents": ["c"]}, {"id": "b", "parents": ["a"]}, {"id": "c", "parents": ["b"]}`, ""),
			[]string{"workflow.specification.tasks[0]: tasks follow each other in a cycle: a -> b -> c -> a"}},
		{"a task before itself", instance(`{"id": "a", "parents": ["a"]}`, ""), []string{`a -> a`}},
		{"an execution of nothing", instance(a, `{}`), []string{"execution 1 names no task"}},
		{"an execution of an unknown task", instance(a, `{"id": "b"}`), []string{`execution of unknown task "b"`}},
		{"two executions", instance(a, `{"id": "a"}, {"id": "a"}`), []string{`task "a" was executed twice`}},
		{"a runtime below zero", instance(a, `{"id": "a", "runtimeInSeconds": -0.5}`), []string{`the runtime of task "a" is negative`}},
		{"a runtime that is none", instance(a, `{"id": "a", "runtimeInSeconds": "1"}`), []string{`the runtime of task "a" must be a number, not a string`}},
		{"a program that is none", instance(a, `{"id": "a", "command": {"program": []}}`), []string{`the program of task "a" must be a string, not a list`}},
		{"everything at once", instance(`{"id": "a", "parents": ["x", "y"]}, {}`, `{"id": "a", "runtimeInSeconds": -1}, {"id": "z"}`),
			[]string{"task 2 has no id", `unknown parent "x"`, `unknown parent "y"`, "is negative", `unknown task "z"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := wfformat.Parse([]byte(tt.file))
			require.Error(t, err)
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), ".json")
		})
	}
}

func TestAFileThatIsTooLargeIsRefused(t *testing.T) {
	_, err := wfformat.Parse(make([]byte, wfformat.SizeMax+1))
	require.ErrorIs(t, err, document.ErrLimit)
}

func TestTasksThatNoStepCanBeMadeOf(t *testing.T) {
	in, err := wfformat.Parse([]byte(instance(`{"id": "a"}, {"id": "b"}, {"id": "c"}`, `{"id": "b", "runtimeInSeconds": 1e12, "command": {"program": "b"}}`)))
	require.NoError(t, err)
	for _, tt := range []struct {
		opts wfformat.Options
		want []string
	}{
		{wfformat.Options{}, []string{`task "b": a runtime of 1e+12 s at speed 1 is more than a hundred years`}},
		{wfformat.Options{Speed: 1e-300}, []string{`task "b": a runtime`}},
		{wfformat.Options{Commands: true}, []string{`task "a": no command was recorded`, `task "c": no command was recorded`}},
		{wfformat.Options{Speed: -1}, []string{"speed must be positive, not -1"}},
	} {
		_, err := in.Workflow(tt.opts)
		for _, want := range tt.want {
			require.ErrorContains(t, err, want)
		}
	}
}

func TestRuntimesAreScaled(t *testing.T) {
	in, err := wfformat.Parse([]byte(instance(`{"id": "a"}`, `{"id": "a", "runtimeInSeconds": 100.187}`)))
	require.NoError(t, err)
	for speed, want := range map[float64]any{0: "PT1M40.187S", 1: "PT1M40.187S", 10: "PT10.0187S", 0.5: "PT3M20.374S", 1e9: "PT0.0000001S", 1e12: nil} {
		w, err := in.Workflow(wfformat.Options{Speed: speed})
		require.NoError(t, err)
		require.Equal(t, want, steps(t, w)[0].Input, "speed %v", speed)
	}
}

func TestIdsAreMadeValidAndStayApart(t *testing.T) {
	for _, tt := range []struct{ tasks, want []string }{
		{[]string{"a", "B.c-d_1", "é"}, []string{"a", "B.c-d_1", "é"}},
		{[]string{"a b", "a/b", "a[b]", "#", "a\tb"}, []string{"a_b", "a_b-2", "a_b_", "_", "a_b-3"}},
		{[]string{"a b", "a_b", "a_b-2", "a/b"}, []string{"a_b-3", "a_b", "a_b-2", "a_b-4"}},
	} {
		in := &wfformat.Instance{}
		for _, id := range tt.tasks {
			in.Tasks = append(in.Tasks, wfformat.Task{ID: id})
		}
		w, err := in.Workflow(wfformat.Options{})
		require.NoError(t, err)
		var got []string
		for _, step := range steps(t, w) {
			got = append(got, step.ID)
		}
		require.Equal(t, tt.want, got)
	}
}

func TestNamesAreMadeValid(t *testing.T) {
	for name, want := range map[string]string{
		"montage": "montage", "Sky survey.json": "sky-survey", "": "instance", "-._": "instance", "a/B c.": "a-b-c", "é1": "1",
	} {
		w, err := (&wfformat.Instance{Name: name, Tasks: []wfformat.Task{{ID: "a"}}}).Workflow(wfformat.Options{})
		require.NoError(t, err)
		require.Equal(t, want, w.Name)
	}
}

// FuzzParse makes workflows of parsed instances, and finds the recorded commands in them again.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/survey.json", "testdata/forkjoin.json"} {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(instance(`{"id": "a b", "children": ["a_b"]}, {"id": "a_b", "parents": ["a b"]}`, `{"id": "a_b", "command": {"program": "{{{ }}}", "arguments": ["{{"]}}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := wfformat.Parse(data)
		if err != nil {
			return
		}
		for _, opts := range []wfformat.Options{{}, {Speed: 7}, {Commands: true}} {
			w, err := in.Workflow(opts)
			if err != nil {
				continue
			}
			verify(t, in, w)
			for i, step := range steps(t, w) {
				if cmd := w.Operations[step.Operation].Command; cmd != nil {
					words := append([]string{in.Tasks[i].Program}, in.Tasks[i].Arguments...)
					require.Equal(t, strings.Join(words, " "), executed(t, cmd))
				}
			}
		}
	})
}

// executed returns the words of a command binding with its expressions evaluated.
func executed(t require.TestingT, cmd *template.Command) string {
	words := slices.Clone(cmd.Argv)
	for i, word := range words {
		compiled, err := expr.Compile(word, expr.Scope{})
		require.NoError(t, err)
		v, isConstant := compiled.Constant()
		require.True(t, isConstant)
		words[i] = v.(string)
	}
	return cmd.Shell + strings.TrimPrefix(strings.Join(words, " "), "/bin/sh -c ")
}

func Example() {
	instance, err := wfformat.Parse([]byte(`{
		"name": "Sky survey", "schemaVersion": "1.5",
		"workflow": {
			"specification": {"tasks": [
				{"id": "split", "parents": [], "children": ["merge"]},
				{"id": "merge", "parents": ["split"], "children": []}
			]},
			"execution": {"tasks": [{"id": "split", "runtimeInSeconds": 15}, {"id": "merge", "runtimeInSeconds": 2.5}]}
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := instance.Workflow(wfformat.Options{Speed: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := document.AppendYAML(nil, w.Document(), "kind", "name", "id", "operation")
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// kind: Workflow
	// name: sky-survey
	// operations:
	//   sleep:
	//     sleep:
	//       for: "{{ input }}"
	// steps:
	//   - parallel:
	//       steps:
	//         - id: split
	//           operation: sleep
	//           input: PT1.5S
	//         - id: merge
	//           operation: sleep
	//           input: PT0.25S
	//           needs: [split]
	// <nil>
}

func BenchmarkWorkflow(b *testing.B) {
	for _, tasks := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			var list, executions []string
			for i := range tasks {
				id, parent := fmt.Sprintf("task_%d", i), ""
				if i > 0 {
					parent = fmt.Sprintf("%q", fmt.Sprintf("task_%d", i/2))
				}
				list = append(list, fmt.Sprintf(`{"id": %q, "parents": [%s]}`, id, strings.ReplaceAll(parent, `"`+id+`"`, "")))
				executions = append(executions, fmt.Sprintf(`{"id": %q, "runtimeInSeconds": %d.5}`, id, i))
			}
			data := []byte(instance(strings.Join(list, ","), strings.Join(executions, ",")))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				in, err := wfformat.Parse(data)
				if err != nil {
					b.Fatal(err)
				}
				if w, err := in.Workflow(wfformat.Options{Speed: 10}); err != nil || len(steps(b, w)) != tasks {
					b.Fatal(err)
				}
			}
		})
	}
}
