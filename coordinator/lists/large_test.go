package lists_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/value"
)

// largeSteps returns steps with large outputs: n steps, one that a conditional reads, and the steps of a map.
func largeSteps(n int) string {
	var steps strings.Builder
	for i := range n {
		fmt.Fprintf(&steps, "  - {id: s%d, operation: text, input: '{{ input }}'}\n", i)
	}
	return "kind: Workflow\nname: large\noperations: {text: {value: '{{ input }}'}}\nsteps:\n" + steps.String()
}

// endedWith runs a workflow to its end, and opens its store again, so that nothing is in memory.
func endedWith(t *testing.T, document string, input any) (*disk.Store, *coordinator.Engine, *coordinator.Run) {
	dir := t.TempDir()
	e := engineOn(t, opened(t, dir))
	w, err := kinds.Load("large.yaml", []byte(document), template.Known{})
	require.NoError(t, err)
	run, err := e.Start(t.Context(), w.Workflow, input, coordinator.WithID("r"))
	require.NoError(t, err)
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, reactive.RunCompleted, result.Status)
	require.NoError(t, e.Shutdown(context.Background()))
	s := opened(t, dir)
	e = engineOn(t, s)
	run, err = e.Run(t.Context(), "r")
	require.NoError(t, err)
	return s, e, run
}

// Statuses, lists and watches load only the large values that they need; Output loads any.
func TestStatusesLoadNoLargeValues(t *testing.T) {
	text := strings.Repeat("large ", 10_000)
	s, e, run := endedWith(t, largeSteps(20)+"output: '{{ steps.s3.output }}'\n", text)
	state, err := run.State(t.Context())
	require.NoError(t, err)
	for _, step := range state.Steps {
		require.Equal(t, reactive.Completed, step.Status)
		shown, whole, err := value.Preview(step.Output, 1000)
		require.NoError(t, err)
		require.False(t, whole)
		require.Len(t, shown, 256)
		require.True(t, strings.HasPrefix(string(shown), `"large large `))
		require.Equal(t, "string", step.Output.(value.Large).Kind)
		require.Equal(t, len(text)+3, step.Output.(value.Large).Bytes)
	}
	require.Zero(t, s.Work().BlobsRead)
	for h, err := range e.Find(t.Context(), "status:completed") {
		require.NoError(t, err)
		require.Equal(t, "r", h.Run)
	}
	require.Zero(t, s.Work().BlobsRead)
	watched := 0
	for u, err := range run.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if _, large := u.Event.Value.(value.Large); large {
			watched++
		}
	}
	require.Positive(t, watched)
	require.Zero(t, s.Work().BlobsRead)

	out, err := run.Output(t.Context(), "s7", "")
	require.NoError(t, err)
	require.Equal(t, text, out)
	require.Positive(t, s.Work().BlobsRead)
	for event, err := range run.Events(t.Context(), 1) {
		require.NoError(t, err)
		_, large := event.Value.(value.Large)
		require.False(t, large)
	}
	for u, err := range run.History(t.Context(), 1) {
		require.NoError(t, err)
		_, large := u.Event.Value.(value.Large)
		require.False(t, large)
	}
}

// Explanations and past moments of a workflow load no large value either.
func TestThePastLoadsNoLargeValues(t *testing.T) {
	s, _, run := endedWith(t, largeSteps(20), strings.Repeat("large ", 10_000))
	past := run.At(coordinator.Moment{Seq: 30})
	state, err := past.State(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 30, state.Seq)
	for _, step := range []string{"", "s3"} {
		why, err := run.Explain(t.Context(), step)
		require.NoError(t, err)
		require.Equal(t, "completed", why.Status)
		_, err = past.Explain(t.Context(), step)
		require.NoError(t, err)
	}
	_, err = run.At(coordinator.Moment{Time: time.Unix(0, state.Updated)}).State(t.Context())
	require.NoError(t, err)
	require.Zero(t, s.Work().BlobsRead)
}

// For a playbook, the workload and the answers that an expression may read are loaded, but not the inputs of its tools, its output, or
// the other answers.
func TestStatusesOfAPlaybookLoadWhatIsRead(t *testing.T) {
	text := strings.Repeat("large ", 10_000)
	s, _, run := endedWith(t, `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: large}
workload: {text: ""}
workflow:
  - step: one
    tool: {kind: command, output: text, stdin: "{{ workload.text }}", shell: "head -c 60000 /dev/zero | tr '\\0' x"}
    next: {arcs: [{step: two, when: "{{ outcome.status == 'ok' and outcome.result != '' }}"}]}
  - step: two
    tool: {kind: command, output: text, stdin: "{{ workload.text }}", shell: "head -c 60000 /dev/zero | tr '\\0' y"}
`, map[string]any{"text": text})
	loads := func(read func()) int64 {
		before := s.Work().BlobsRead
		read()
		return s.Work().BlobsRead - before
	}
	require.EqualValues(t, 6, loads(func() {
		for _, err := range run.Events(t.Context(), 1) {
			require.NoError(t, err)
		}
	}), "the workload, two inputs, two answers, and the output")
	require.EqualValues(t, 2, loads(func() {
		state, err := run.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, reactive.RunCompleted, state.Status)
	}), "the workload and the answer that the guard reads")
	require.EqualValues(t, 2, loads(func() {
		why, err := run.Explain(t.Context(), "")
		require.NoError(t, err)
		require.Equal(t, "completed", why.Status)
	}))
	require.EqualValues(t, 1, loads(func() {
		_, err := run.At(coordinator.Moment{Seq: 2}).State(t.Context())
		require.NoError(t, err)
	}))
}

// The values that a conditional, a map or a decision reads are loaded, and no others: the statuses equal those derived from all values.
func TestStatusesLoadWhatTheyFollowFrom(t *testing.T) {
	large := strings.Repeat("x", 100_000)
	document := `
kind: Workflow
name: reads
operations:
  text: {value: "{{ input }}"}
steps:
  - {id: unread, operation: text, input: "{{ input.text }}"}
  - {id: tested, operation: text, input: {go: true, text: "{{ input.text }}"}}
  - {id: listed, operation: text, input: "{{ input.list }}"}
  - map:
      id: each
      over: "{{ steps.listed.output }}"
      as: item
      steps: [{id: say, operation: text, input: "{{ item }}"}]
  - conditional:
      id: choice
      test: "{{ steps.tested.output.go and steps.each.output[1] != null }}"
      then: [{id: chosen, operation: text, input: yes}]
      else: [{id: other, operation: text, input: no}]
`
	s, _, run := endedWith(t, document, map[string]any{"text": large, "list": []any{large + "1", large + "2"}})
	lean, err := run.State(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 5, s.Work().BlobsRead, "the input, what is tested and listed, and two items")
	whole := statusesOf(t, run)
	require.Len(t, lean.Steps, len(whole))
	for _, step := range lean.Steps {
		require.Equal(t, whole[step.Step], step.Status, step.Step)
	}
	require.Equal(t, reactive.RunCompleted, lean.Status)
}

// statusesOf derives the statuses of a run that has ended from all values.
func statusesOf(t *testing.T, run *coordinator.Run) map[string]reactive.Status {
	list := map[string]reactive.Status{}
	for root, err := range run.Roots(t.Context()) {
		require.NoError(t, err)
		for v := range root.Len() {
			if root.Key(v) != "" && root.Status(v) != reactive.Absent {
				list[root.Key(v)] = root.Status(v)
			}
		}
	}
	return list
}

// The status of a playbook does not load a hundred answers that no expression reads, in a loop or not.
func TestAnswersOfAPlaybookThatNothingReadsAreLeft(t *testing.T) {
	s, _, run := endedWith(t, `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: large}
workload: {items: [], one: ""}
workflow:
  - step: many
    loop: {in: "{{ workload.items }}", iterator: item}
    tool: {kind: command, output: text, shell: "printf %060000d 0", spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: fail}}]}}}
    next: {arcs: [{step: one, when: "{{ event.name == 'loop.done' }}"}]}
  - step: one
    tool: {kind: command, output: text, shell: "head -c 60000 /dev/zero | tr '\\0' y"}
`, map[string]any{"items": make([]any, 100)})
	state, err := run.State(t.Context())
	require.NoError(t, err)
	for range run.Watch(t.Context(), 1) {
		continue
	}
	require.Zero(t, s.Work().BlobsRead)
	require.Equal(t, reactive.RunCompleted, state.Status)
	for _, step := range state.Steps {
		require.Equal(t, reactive.Completed, step.Status, step.Step)
	}
	shown, whole, err := value.Preview(state.Steps[1].Output, 1000)
	require.NoError(t, err)
	require.False(t, whole)
	require.True(t, strings.HasPrefix(string(shown), `"yyy`))
	out, err := run.Output(t.Context(), "many", "")
	require.NoError(t, err)
	require.Len(t, out, 100)
	require.Equal(t, strings.Repeat("0", 60_000), out.([]any)[99])
}
