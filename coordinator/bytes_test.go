package coordinator_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// TestTheTotalSizeOfAJournalIsBounded: each value is small enough, but all together are not.
func TestTheTotalSizeOfAJournalIsBounded(t *testing.T) {
	const most = 1_000_000
	text := strings.Repeat("x", 100_000)
	large := operation.Define("large", func(context.Context, any) (string, error) { return text, nil })
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{large, echo}, Limits: coordinator.Limits{BytesMax: most}})
	for name, steps := range map[string]string{
		"inputs":  `{operation: size, id: s, input: "{{ repeat('x', 100000) }}"}`,
		"outputs": `{operation: large, id: s}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, e, `{kind: Workflow, name: w, operations: {size: {value: "{{ len(input) }}"}}, steps: [{map: {id: m, over: "{{ 1..100 }}", steps: [`+steps+`]}}]}`)
			result := wait(t, r)
			require.Equal(t, reactive.CodeLimit, result.Failure.Code)
			require.Contains(t, result.Failure.Message, "at most 1000000 are allowed together")
			bytes := 0
			for event, err := range r.Events(t.Context(), 1) {
				require.NoError(t, err)
				size, err := value.Size(event.Value, most)
				require.NoError(t, err)
				bytes += size
			}
			require.LessOrEqual(t, bytes, most)
			require.Greater(t, bytes, most-200_000)
		})
	}
	t.Run("from outside", func(t *testing.T) {
		r := start(t, e, `{kind: Workflow, name: w, operations: {hear: {wait: {message: end}}}, steps: [{operation: hear}], output: "{{ [steps.hear.output] }}"}`)
		for i := range 9 {
			require.NoError(t, r.Send(t.Context(), "later", text), i)
		}
		require.ErrorIs(t, r.Send(t.Context(), "later", text), coordinator.ErrLimit)
		require.NoError(t, r.Send(t.Context(), "end", text[:45_000]))
		require.Equal(t, reactive.CodeLimit, wait(t, r).Failure.Code, "there is room for the message and the step's output, but not for the run's output")
	})
}

// TestATurnHoldsBoundedBytes: the stepper carries out value bindings itself. It journals a few large outputs per turn.
func TestATurnHoldsBoundedBytes(t *testing.T) {
	checked, err := kinds.Load("w.yaml", []byte(`{kind: Workflow, name: w, operations: {size: {value: "{{ len(input) }}"}},
		steps: [{map: {id: m, over: "{{ 1..40 }}", steps: [{operation: size, id: s, input: "{{ input }}"}]}}]}`), template.Known{})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	limits := decide.Limits{}
	root := decide.NewRoot(p)
	step := decide.NewStepper(root, alone{limits})
	items := []decide.Item{{Event: decide.Started("r", p, strings.Repeat("x", 10<<20), limits)}}
	steps := 0
	for more := true; more; items = nil {
		before := root.Bytes()
		more = step.Step(1, items).More
		require.Less(t, root.Bytes()-before, 64<<20)
		steps++
	}
	require.Greater(t, steps, 8)
	require.Equal(t, reactive.RunCompleted, reactive.RunStatus(root.Finished().Detail.State))
}

// TestOutputsTakeLittleMoreThanTheirEncodings: decoded, sixteen of these outputs take 180 MB, in the run or in the store.
func TestOutputsTakeLittleMoreThanTheirEncodings(t *testing.T) {
	if testing.Short() {
		t.Skip("it weighs megabytes, which the race detector makes heavier")
	}
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before, held := heap(), 0
	measure := operation.Define("measure", func(context.Context, any) (any, error) {
		held = heap() - before
		return nil, nil
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{measure}})
	steps := ""
	for i := range 16 {
		steps += fmt.Sprintf("{operation: many, id: s%d},", i)
	}
	result := run(t, e, parse(t, `{kind: Workflow, name: w, operations: {many: {value: "{{ map(1..200000, [#]) }}"}}, steps: [`+steps+`{operation: measure}],
		output: "{{ len(steps.s0.output) + len(steps.s15.output) }}"}`), nil)
	require.NoError(t, result.Err())
	require.EqualValues(t, 2*200_000, result.Output)
	require.Less(t, held, 90<<20)
}

// TestAnOutputIsNotDecodedForEachRead: decoding it for each item would allocate 5 MB per item.
func TestAnOutputIsNotDecodedForEachRead(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine reads megabytes again and again")
	}
	e := newEngine(t, coordinator.Config{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result := run(t, e, parse(t, `{kind: Workflow, name: w, operations: {many: {value: "{{ map(1..100000, [#]) }}"}, size: {value: "{{ input }}"}}, steps: [{operation: many, id: s},
		{map: {id: m, over: "{{ 1..300 }}", steps: [{operation: size, id: n, input: "{{ steps.s.output[item] }}"}]}}]}`), nil)
	require.NoError(t, result.Err())
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(300), "MiB allocated")
}
