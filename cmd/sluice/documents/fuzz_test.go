package documents

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/graph"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/explore"
	"github.com/sluiceflow/sluice/coordinator/scenario"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
)

// testLimits holds the limits of these tests. They are far below the defaults, so that a million documents can be tried: the work is
// proportional to the limits.
var testLimits = coordinator.Limits{
	MapItemsMax: 300, InstancesMax: 500, EventsMax: 300, ValueBytesMax: 1 << 18, DescendantsMax: 20, DepthMax: 4,
}

const (
	workMax  = 200_000
	bytesMax = 1 << 20
)

// crashLimits holds the limits of runs with crashes. Their work grows with the square of the number of events.
var crashLimits = coordinator.Limits{
	MapItemsMax: 50, InstancesMax: 50, EventsMax: 50, ValueBytesMax: 1 << 16, DescendantsMax: 5, DepthMax: 3,
}

// allocatedMax bounds the bytes that all verbs together may allocate for one document, freed ones included. It bounds the memory of
// each verb, and roughly its time.
const allocatedMax = 256 << 20

// FuzzDocuments: for any document, every verb ends within its limits. Bytes that begin with a zero drive the generator; all others are
// the text of one file, or of several, each after a line with its name, such as "-- child.yaml --".
func FuzzDocuments(f *testing.F) {
	for _, text := range texts(f) {
		f.Add([]byte(text))
	}
	for _, text := range []string{
		`{kind: Workflow, name: w, input: {"$ref": "#"}, operations: {v: {value: 1}}, steps: [{operation: v}]}`,
		`{kind: Workflow, name: w, operations: {self: {workflow: {path: main.yaml}}}, steps: [{map: {id: m, over: "{{ 1..20 }}", steps: [{operation: self}]}}]}`,
		`{kind: Workflow, name: w, operations: {}, steps: [{map: {id: a, over: "{{ 1..200 }}", steps: [{map: {id: b, over: "{{ 1..200 }}", steps: [{operation: ask}]}}]}}]}`,
	} {
		f.Add([]byte(text))
	}
	for _, text := range heavy() {
		f.Add([]byte(text))
	}
	for _, seed := range []string{"\x00", "\x00\x01\x07\x07\x07\x07", "\x00abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && data[0] == 0 {
			bounded(t, dir, generate(data[1:]))
			return
		}
		bounded(t, dir, splitFiles(string(data)))
	})
}

// bounded runs every verb on the files.
func bounded(t *testing.T, dir string, files map[string]string) {
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	defer func() {
		for name := range files {
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
		}
	}()
	before, begin, last := allocated(), computed(t), ""
	for _, verb := range verbs {
		start := allocated()
		verb.do(t, dir, files)
		if n := allocated() - start; n > 32<<20 {
			last += fmt.Sprintf(" %s %d MiB", verb.name, n>>20)
		}
	}
	n := allocated() - before
	most.note(t, n, computed(t)-begin, last)
	if n > allocatedMax && !raced {
		t.Fatalf("%d MiB were allocated:%s", n>>20, last)
	}
}

// maxima holds the largest memory and processor time that one document has taken in this process.
type maxima struct {
	bytes uint64
	time  time.Duration // of the processor
}

var most maxima

// computed returns the processor time of this process, which does not depend on other load of the machine.
func computed(t *testing.T) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// note adds a line to the file that SLUICE_FUZZ_MAXIMA names, if any, for a document that has taken more memory than all before it
// and an eighth of its bound, or more processor time than all before it and half a second. A fuzzing process does not show the output of a test that passes.
func (m *maxima) note(t *testing.T, n uint64, took time.Duration, verbs string) {
	name := os.Getenv("SLUICE_FUZZ_MAXIMA")
	if name == "" || (n <= m.bytes || n < allocatedMax/8) && (took <= m.time || took < time.Second/2) {
		return
	}
	m.bytes, m.time = max(m.bytes, n), max(m.time, took)
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = fmt.Fprintf(file, "%d MiB in %v:%s\n", n>>20, took.Round(time.Millisecond), verbs)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// verbs holds the verbs that read documents.
var verbs = []struct {
	name string
	do   func(t *testing.T, dir string, files map[string]string)
}{
	{"validate", func(t *testing.T, dir string, _ map[string]string) {
		v := &validation{out: io.Discard, err: io.Discard}
		v.file(filepath.Join(dir, mainFile))
		v.asJSON = true
		v.file(filepath.Join(dir, mainFile))
	}},
	{"graph", func(t *testing.T, dir string, _ map[string]string) {
		if planned(dir) == nil {
			return
		}
		for _, format := range []string{"mermaid", "dot", "json", "svg"} {
			cmd := graph.New()
			cmd.SetOut(io.Discard)
			cmd.SetArgs([]string{filepath.Join(dir, mainFile), "--format", format})
			require.NoError(t, cmd.Execute())
		}
	}},
	{"check", func(t *testing.T, dir string, _ map[string]string) {
		if p := planned(dir); p != nil {
			own, _ := neverOf(filepath.Join(dir, mainFile))
			_, _ = explore.Run(p, explore.Options{StatesMax: 50, DepthMax: 30, Never: own, Limits: testLimits, WorkMax: workMax, BytesMax: bytesMax})
		}
	}},
	{"test", func(_ *testing.T, dir string, files map[string]string) {
		left := scenariosMax
		for _, name := range slices.Sorted(maps.Keys(files)) {
			left -= play(filepath.Join(dir, name), left)
		}
	}},
	{"test without a scenario", func(t *testing.T, dir string, files map[string]string) {
		if _, scripted := files["test.yaml"]; scripted {
			return
		}
		if p := planned(dir); p != nil {
			file := filepath.Join(dir, "made.yaml")
			require.NoError(t, os.WriteFile(file, []byte(madeScenario(p)), 0o600))
			play(file, 1)
			require.NoError(t, os.Remove(file))
		}
	}},
}

const mainFile = "main.yaml"

// planned returns the compiled workflow; nil if it is invalid.
func planned(dir string) *plan.Plan {
	p, err := cli.Load(filepath.Join(dir, mainFile), template.Known{Lenient: true})
	if err != nil {
		return nil
	}
	return p
}

// scenariosMax bounds the scenarios that are run of all files: each scenario may use the whole budget.
const scenariosMax = 3

// play runs the scenarios of a file, if any, and at most most of them, without and with crashes. It returns their number.
func play(file string, most int) int {
	list, err := scenario.Load(file)
	if err != nil {
		return 0
	}
	list = list[:min(len(list), most)]
	for _, s := range list {
		_ = s.Run(scenario.Options{Limits: testLimits, WorkMax: workMax, BytesMax: bytesMax}).String()
		_ = s.Run(scenario.Options{Limits: crashLimits, WorkMax: workMax, BytesMax: bytesMax, Crash: true, Seed: 1}).String()
	}
	return len(list)
}

// madeScenario returns a scenario that answers all calls of a workflow.
func madeScenario(p *plan.Plan) string {
	answers := object{}
	if book, ok := playbook.Of(p.Workflow); ok {
		for _, task := range book.CallSites {
			if _, builtIn := map[string]bool{"noop": true, "sleep": true, "wait": true, "workflow": true, "value": true, "fail": true}[task.Kind]; !builtIn {
				answers[task.Kind] = object{"output": 1}
			}
		}
	} else {
		for i := range p.Nodes {
			if s := p.Nodes[i].Step; s != nil {
				if b := p.Workflow.Operations[s.Operation]; b.Sleep == nil && b.Wait == nil && b.Workflow == nil && b.Value == nil && b.Fail == nil {
					answers[s.Operation] = object{"output": 1, "after": "PT1S"}
				}
			}
		}
	}
	return new(generator).text(object{"kind": "Scenario", "name": "made", "workflow": mainFile, "operations": answers, "expect": object{}})
}

// allocated returns the number of bytes that this process has allocated so far, freed ones included.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// splitFiles splits a text into its files, and returns them by name.
func splitFiles(text string) map[string]string {
	files := map[string]string{}
	name := mainFile
	for line := range strings.Lines(text) {
		if named, ok := strings.CutPrefix(line, "-- "); ok {
			if named, ok := strings.CutSuffix(strings.TrimSpace(named), " --"); ok && filepath.IsLocal(named) && !strings.ContainsAny(named, "/\x00") && len(named) < 100 {
				name = named
				continue
			}
		}
		files[name] += line
	}
	return files
}

// texts returns the documents of the project.
func texts(f *testing.F) []string {
	var list []string
	for _, pattern := range []string{"../../../examples/*/*.yaml", "../../../testdata/scenarios/*/*.yaml", "../../../testdata/workflows/*.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(f, err)
			list = append(list, string(data))
		}
	}
	return list
}
