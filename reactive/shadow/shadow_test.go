package shadow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// idle is a host without functions.
type idle struct{}

func (idle) Function(name string, _ []any) (value.Value, *journal.Failure) {
	return nil, call.NewFailure("missing", name)
}
func (idle) Pure(int32, any) (call.Result, bool) { return call.Result{}, false }
func (idle) Reserve(reactive.Room) bool          { return true }

func compiled(t testing.TB, text string) *plan.Plan {
	checked, err := kinds.Load("w.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	return p
}

// recorded runs a workflow. pick returns the open call to end next, and its result; ends are the lengths of the journal after each
// turn.
func recorded(p *plan.Plan, input value.Value, pick func(open []reactive.Request) (int, call.Result)) (list []journal.Event, ends []int) {
	root := decide.NewRoot(p)
	s := decide.NewStepper(root, idle{})
	now := int64(1_000_000_000)
	items := []decide.Item{{Event: decide.Started("r", p, input, decide.Limits{}), Reply: func(error) {}}}
	for range 1_000_000 {
		out := s.Step(now, items)
		list = append(list, out.Batch...)
		ends = append(ends, len(list))
		items = nil
		open := s.OpenCalls()
		switch due := s.NextDue(); {
		case out.More:
			continue
		case root.Finished() != nil:
			return list, ends
		case len(open) > 0:
			i, result := pick(open)
			e := decide.Ending(open[i], result)
			e.Node = root.Key(open[i].Node)
			items = []decide.Item{{Event: e}}
			now += 1000
		case due > 0:
			now = max(now+1, due)
		default:
			return list, ends
		}
	}
	return list, ends
}

func followed(t testing.TB, old, now *plan.Plan, list []journal.Event) *shadow.Report {
	s, err := shadow.New(old, now, decide.StartUnder(list[0].Detail.Start, now), func(*reactive.Root) decide.Host { return idle{} })
	require.NoError(t, err)
	for i := range list {
		s.Add(&list[i])
	}
	report, err := s.Report()
	require.NoError(t, err)
	return report
}

// steps draws steps that read each other, some of them in maps, with retries, sleeps and conditionals.
func steps(t *rapid.T) string {
	var b strings.Builder
	n := rapid.IntRange(1, 8).Draw(t, "steps")
	for i := range n {
		input := "{{ input }}"
		if i > 0 && rapid.Bool().Draw(t, "reads") {
			input = fmt.Sprintf("{{ steps.s%d.output ?? 'none' }}", rapid.IntRange(0, i-1).Draw(t, "of"))
		}
		operation := rapid.SampledFrom([]string{"work", "work", "work", "pass", "rest"}).Draw(t, "operation")
		step := fmt.Sprintf("{id: s%d, operation: %s, input: %q", i, operation, input)
		if operation == "work" && rapid.Bool().Draw(t, "retries") {
			step += ", timing: {timeout: PT10S, retry: {max_attempts: 2, backoff: PT1S}}"
		}
		step += "}"
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "guarded") == 0 {
			step = fmt.Sprintf("{conditional: {id: c%d, test: \"{{ steps.s0.status == 'completed' }}\", then: [%s]}}", i, step)
		}
		b.WriteString("    - " + step + "\n")
	}
	return b.String()
}

func document(t *rapid.T, list string) string {
	limit := rapid.SampledFrom([]string{"", "max_concurrency: 2, "}).Draw(t, "limit")
	return "kind: Workflow\nname: w\noperations: {pass: {value: '{{ input }}'}, rest: {sleep: {for: PT3S}}}\nsteps:\n- parallel:\n    " +
		strings.TrimSuffix(limit, ", ") + "\n    steps:\n" + list
}

// A run of any workflow, after any of its turns, has no differences under the same workflow.
func TestAnyRunGoesTheSameWay(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := compiled(t, document(r, steps(r)))
		list, ends := recorded(p, "in", func(open []reactive.Request) (int, call.Result) {
			i := rapid.IntRange(0, len(open)-1).Draw(r, "which")
			if rapid.IntRange(0, 3).Draw(r, "fails") == 0 {
				return i, call.Result{Failure: &journal.Failure{Code: "no", Retryable: true}}
			}
			return i, call.Result{Output: rapid.IntRange(0, 9).Draw(r, "output")}
		})
		report := followed(t, p, p, list[:rapid.SampledFrom(ends).Draw(r, "cut")])
		if !report.Same() {
			r.Fatalf("%v", report.Differences)
		}
	})
}

// An outcome that precedes the request of the other workflow is kept until the request.
func TestAnEarlyOutcomeIsKept(t *testing.T) {
	old := compiled(t, "kind: Workflow\nname: w\nsteps: [{parallel: {steps: [{id: a, operation: work}, {id: b, operation: work}]}}]\n")
	now := compiled(t, "kind: Workflow\nname: w\nsteps: [{id: b, operation: work}, {id: a, operation: work}]\n")
	list, _ := recorded(old, nil, func([]reactive.Request) (int, call.Result) { return 0, call.Result{Output: int64(1)} })
	report := followed(t, old, now, list)
	require.True(t, report.Same(), report.Differences)
	require.Equal(t, reactive.RunCompleted, report.Shadow)
}

// The engine computes, times and ends steps without calls again.
func TestWhatTheEngineDoesIsDoneAnew(t *testing.T) {
	head := "kind: Workflow\nname: w\noperations: {one: {value: '1'}, two: {value: '2'}, rest: {sleep: {for: PT1S}}, long: {sleep: {for: PT2S}}}\n"
	old := compiled(t, head+"steps: [{id: a, operation: one}, {id: b, operation: rest}]\noutput: '{{ steps.a.output }}'\n")
	now := compiled(t, head+"steps: [{id: a, operation: two}, {id: b, operation: long}]\noutput: '{{ steps.a.output }}'\n")
	list, _ := recorded(old, nil, nil)
	var kinds []string
	for _, d := range followed(t, old, now, list).Differences {
		kinds = append(kinds, d.Step+" "+string(d.Kind))
	}
	require.Equal(t, []string{"a operation", "a result", "b operation", "b input", "b result", " end"}, kinds)
}

// A world has no shadow, nor has a run under a workflow of another kind.
func TestOtherKindsAreRefused(t *testing.T) {
	tree := compiled(t, "kind: Workflow\nname: w\nsteps: [{operation: work}]\n")
	routed := compiled(t, "apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\nworkflow: [{step: a, tool: {kind: noop}}]\n")
	_, err := shadow.New(tree, routed, &journal.Start{}, nil)
	require.ErrorIs(t, err, shadow.ErrKind)
	require.ErrorContains(t, err, "the run is that of a Workflow, the document is a Playbook")
}

// BenchmarkShadow follows a run of 10,000 steps.
func BenchmarkShadow(b *testing.B) {
	var list strings.Builder
	for i := range 10_000 {
		input := "{{ input }}"
		if i >= 10 {
			input = fmt.Sprintf("{{ steps.s%d.output }}", i-10)
		}
		fmt.Fprintf(&list, "    - {id: s%d, operation: work, input: %q}\n", i, input)
	}
	checked, err := kinds.Load("w.yaml", []byte("kind: Workflow\nname: w\nsteps:\n- parallel:\n    steps:\n"+list.String()), template.Known{Lenient: true})
	require.NoError(b, err)
	p, err := plan.Compile(checked)
	require.NoError(b, err)
	events, _ := recorded(p, "in", func([]reactive.Request) (int, call.Result) { return 0, call.Result{Output: int64(1)} })
	for b.Loop() {
		require.True(b, followed(b, p, p, events).Same())
	}
	b.ReportMetric(float64(len(events)*b.N)/b.Elapsed().Seconds(), "events/s")
}
