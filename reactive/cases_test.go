package reactive_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// TestCases runs the conformance cases: one JSON object per line with a template, a sequence of inputs, and the status of every
// node after each input. SLUICE_CASES names a folder with further *.jsonl files.
func TestCases(t *testing.T) {
	dirs := []string{"testdata/cases"}
	if dir := os.Getenv("SLUICE_CASES"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		require.NoError(t, err)
		require.NotEmpty(t, files, "no cases in %s", dir)
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) { runCases(t, file) })
		}
	}
}

func runCases(t *testing.T, file string) {
	for _, c := range readCases(t, file) {
		t.Run(c.ID, func(t *testing.T) {
			p := c.compile(t)
			live := newRun(t, p)
			for i, step := range c.Steps {
				live.input(step.In)
				require.Equal(t, step.Want, live.letters(c.Nodes), "%s\nafter step %d, %q\nnodes %v", c.Title, i, step.In, c.Nodes)
			}
			live.checkReplay(t, c.Nodes)
		})
	}
}

type testCase struct {
	ID, Title, Policy string
	Template          tree
	Retry             map[string]int
	Nodes             []string
	Steps             []struct{ In, Want string }
}

// tree is a case's template.
type tree struct {
	Op   string
	Seq  []tree
	Par  []tree
	Max  int
	Cond *struct {
		Test map[string]json.RawMessage
		Then tree
		Else *tree
	}
	Map *struct {
		Key  string
		Over int
		Max  int
		Body tree
	}
}

func readCases(t testing.TB, file string) []testCase {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var cases []testCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c testCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c), "%s:%d", file, len(cases)+1)
		cases = append(cases, c)
	}
	require.NoError(t, lines.Err())
	return cases
}

func (c *testCase) compile(t testing.TB) *plan.Plan {
	w := &template.Workflow{
		Name: "case", FailurePolicy: template.FailurePolicy(c.Policy), Steps: []template.Node{c.node(c.Template)},
	}
	return compile(t, w)
}

func compile(t testing.TB, w *template.Workflow) *plan.Plan {
	checked, err := template.Check(w, template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	return p
}

func (c *testCase) node(x tree) template.Node {
	switch {
	case x.Op != "":
		s := &template.Step{ID: x.Op, Operation: x.Op}
		if n := c.Retry[x.Op]; n > 1 {
			s.Timing = &template.Timing{Retry: &template.Retry{MaxAttempts: n}}
		}
		return s
	case x.Cond != nil:
		n := &template.Conditional{Test: testExpression(x.Cond.Test), Then: []template.Node{c.node(x.Cond.Then)}}
		if x.Cond.Else != nil {
			n.Else = []template.Node{c.node(*x.Cond.Else)}
		}
		return n
	case x.Map != nil:
		over := any("{{ run.id }}") // no list
		if x.Map.Over >= 0 {
			over = make([]any, x.Map.Over)
		}
		return &template.Map{
			ID: x.Map.Key, Over: over, MaxConcurrency: x.Map.Max, Steps: []template.Node{c.node(x.Map.Body)},
		}
	case x.Par != nil:
		return &template.Parallel{Steps: c.list(x.Par), MaxConcurrency: x.Max}
	}
	return &template.Sequential{Steps: c.list(x.Seq)}
}

func (c *testCase) list(xs []tree) []template.Node {
	nodes := make([]template.Node, len(xs))
	for i, x := range xs {
		nodes[i] = c.node(x)
	}
	return nodes
}

func testExpression(test map[string]json.RawMessage) string {
	for kind, raw := range test {
		var name string
		if kind == "error" {
			var names []string
			json.Unmarshal(raw, &names)
			return fmt.Sprintf(`{{ steps[%q].status }}`, names[0]) // a text is not a boolean
		}
		json.Unmarshal(raw, &name)
		switch kind {
		case "done":
			return name
		case "failed":
			return fmt.Sprintf(`{{ steps[%q].status in ["failed", "aborted"] }}`, name)
		case "skipped":
			return fmt.Sprintf(`{{ steps[%q].status == "skipped" }}`, name)
		}
	}
	panic("a test of no known kind")
}

// testRun is a root with the journal it was fed from.
type testRun struct {
	t       testing.TB
	plan    *plan.Plan
	root    *reactive.Root
	journal []journal.Event
}

func newRun(t testing.TB, p *plan.Plan) *testRun {
	return &testRun{t: t, plan: p, root: reactive.New(p)}
}

// input applies the input of a case's line.
func (r *testRun) input(in string) reactive.Effect {
	if in == "" {
		return reactive.Applied
	}
	return r.append(r.event(in))
}

func (r *testRun) append(e journal.Event) reactive.Effect {
	e.Seq = uint64(len(r.journal) + 1)
	e.At = int64(e.Seq) * 1e9
	r.journal = append(r.journal, e)
	out := r.root.Apply(&e)
	require.NoError(r.t, r.root.Check())
	return out
}

var endings = map[byte]journal.Type{
	'+': journal.CallRequested, '!': journal.CallResponded, 'x': journal.CallError, '~': journal.CallAborted, '.': journal.CallCompleted,
}

func (r *testRun) event(in string) journal.Event {
	switch {
	case in == "start":
		return journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "case"}}}
	case in == "abortAll":
		return journal.Event{Type: journal.RunCancelled}
	case strings.HasPrefix(in, "abortNode "):
		return journal.Event{Type: journal.NodeAborted, Node: strings.TrimPrefix(in, "abortNode ")}
	}
	key, attempt, ok := strings.Cut(in[:len(in)-1], "#")
	n := 1
	if ok {
		var err error
		n, err = strconv.Atoi(attempt)
		require.NoError(r.t, err)
	}
	e := journal.Event{Type: endings[in[len(in)-1]], Node: key, Attempt: int32(n)}
	switch e.Type {
	case journal.CallError:
		e.Detail = &journal.Detail{Failure: &journal.Failure{Code: "broken", Retryable: true}}
	case journal.CallResponded:
		e.Value = "output of " + key
	}
	return e
}

func (r *testRun) letters(nodes []string) string { return letters(r.root, nodes) }

// letters writes the status of each node as one letter.
func letters(root *reactive.Root, nodes []string) string {
	var b strings.Builder
	for _, key := range nodes {
		s := reactive.Absent
		if v, ok := root.Node(key); ok {
			s = root.Status(v)
		}
		b.WriteByte("-IWYRCFAS"[s])
	}
	return b.String()
}

// checkReplay rebuilds the root from every prefix of the journal, and applies every call event twice. Neither may change a
// status.
func (r *testRun) checkReplay(t testing.TB, nodes []string) {
	live := reactive.New(r.plan)
	for i := range r.journal {
		e := r.journal[i]
		live.Apply(&e)
		twice := r.journal[i]
		want := letters(live, nodes)
		if e.Attempt > 0 {
			require.NotEqual(t, reactive.Applied, live.Apply(&twice), "event %d counted twice", i+1)
			require.Equal(t, want, letters(live, nodes), "event %d twice", i+1)
		}
	}
	require.Equal(t, r.letters(nodes), letters(live, nodes), "replayed")
}
