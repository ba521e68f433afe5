package coordinator_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/value"
)

// TestAnswersBeyondTheRoomComeOneByOne: each answer needs more room than there is; all calls end, and all room is released.
func TestAnswersBeyondTheRoomComeOneByOne(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("[" + strings.Repeat("0,", 20_000) + "0]"))
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	text := fmt.Sprintf(`
kind: Workflow
name: w
operations: {get: {http: {url: %q}}}
steps: [{map: {id: m, over: [1, 2, 3, 4, 5, 6, 7, 8], steps: [{operation: get, id: one}]}}]
output: "{{ sum(map(steps.m.output, len(#.body))) }}"`, server.URL)
	for _, most := range []int{4, 60_000, -1, 0} {
		e := newEngine(t, coordinator.Config{Limits: coordinator.Limits{AnswersBytesMax: most}})
		for range 2 { // the second waits for ever if the first has kept its room
			result := run(t, e, parse(t, text), nil)
			require.NoError(t, result.Err())
			require.EqualValues(t, 8*20_001, result.Output)
		}
	}
}

func TestAValueOfTooManyNodesFailsWithACode(t *testing.T) {
	many := make([]any, 2000)
	makes := operation.Define("makes", func(context.Context, any) (any, error) { return many, nil })
	e := newEngine(t, coordinator.Config{
		Limits: coordinator.Limits{ValueBytesMax: 2_100, ValueNodesMax: 1000}, Operations: []coordinator.Operation{makes},
	})
	result := run(t, e, parse(t, `{kind: Workflow, name: w, steps: [{operation: makes}]}`), nil)
	require.NotNil(t, result.Failure)
	require.Contains(t, result.Failure.Code+result.Failure.Message, operation.CodeTooLarge)

	hears := `{kind: Workflow, name: w, operations: {hear: {wait: {message: m}}}, steps: [{operation: hear}]}`
	_, err := e.Start(t.Context(), parse(t, hears), many)
	require.ErrorIs(t, err, coordinator.ErrLimit)
	require.ErrorContains(t, err, "more than 1000 lists, objects, keys and scalars")
	r := start(t, e, hears)
	require.ErrorIs(t, r.Send(t.Context(), "m", many), coordinator.ErrLimit)
	require.NoError(t, r.Send(t.Context(), "m", many[:100]))
	require.NoError(t, wait(t, r).Err())
}

// TestMessagesThatWaitTakeLittleMoreThanTheirEncodings: decoded, fifteen of these messages take 180 MB.
func TestMessagesThatWaitTakeLittleMoreThanTheirEncodings(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory, of which the race detector takes more")
	}
	store, err := disk.Open(t.TempDir(), disk.Config{})
	require.NoError(t, err)
	e, err := coordinator.New(t.Context(), store, coordinator.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Shutdown(t.Context())) }()
	r := start(t, e, `{kind: Workflow, name: w, operations: {hear: {wait: {message: end}}}, steps: [{operation: hear}]}`)
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	text := []byte("[" + strings.Repeat("[],", 300_000) + "0]")
	before := heap()
	for range 15 {
		v, err := value.ParseJSON(text)
		require.NoError(t, err)
		require.NoError(t, r.Send(t.Context(), "later", v))
	}
	require.Less(t, heap()-before, 60<<20)
	v, err := value.ParseJSON(text)
	require.NoError(t, err)
	require.NoError(t, r.Send(t.Context(), "end", v))
	result := wait(t, r)
	require.NoError(t, result.Err())
}

func TestAMessageIsTheSameEncodedOrDecoded(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	r := start(t, e, `
kind: Workflow
name: w
operations: {first: {wait: {message: a}}, then: {wait: {message: b}}}
steps: [{operation: first}, {operation: then}]
output: "{{ steps.then.output[4999].n }}"`)
	list := make([]any, 5000)
	for i := range list {
		list[i] = map[string]any{"n": i}
	}
	require.NoError(t, r.Send(t.Context(), "b", list))
	require.NoError(t, r.Send(t.Context(), "a", nil))
	result := wait(t, r)
	require.NoError(t, result.Err())
	require.EqualValues(t, 4999, result.Output)
}

func TestTheContextOfAPlaybookIsBounded(t *testing.T) {
	book := func(text string) *coordinator.Result {
		nodes, err := document.Parse("book.yaml", []byte("apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: w}\nworkflow:"+text), document.Limits{})
		require.NoError(t, err)
		w, err := kinds.ParseNode(nodes[0])
		require.NoError(t, err)
		return run(t, newEngine(t, coordinator.Config{Limits: coordinator.Limits{ValueBytesMax: 10_000}}), w, nil)
	}
	for name, text := range map[string]string{
		"a text that doubles": `
  - {step: start, tool: {kind: noop}, set: {ctx.a.text: "xxxxxxxx"}, next: {arcs: [{step: grow}]}}
  - {step: grow, tool: {kind: noop}, set: {ctx.a.text: "{{ ctx.a.text ~ ctx.a.text }}"}, next: {arcs: [{step: grow}]}}`,
		"on an arc": `
  - {step: start, tool: {kind: noop}, set: {ctx.text: "xxxxxxxx"}, next: {arcs: [{step: grow}]}}
  - {step: grow, tool: {kind: noop}, next: {arcs: [{step: grow, set: {ctx.text: "{{ ctx.text ~ ctx.text }}"}}]}}`,
		"many places": `
  - {step: start, tool: {kind: noop}, next: {arcs: [{step: b}]}}
  - {step: b, tool: {kind: noop}, set: {ctx.a: "{{ 'x' * 6000 }}", ctx.b: "{{ 'x' * 6000 }}"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			result := book(text)
			require.Equal(t, reactive.RunFailed, result.Status)
			require.Equal(t, reactive.CodeLimit, result.Failure.Code, result.Failure.Message)
			require.Contains(t, result.Failure.Message, "at most 10000 are allowed")
		})
	}
	result := book(`
  - {step: start, tool: {kind: noop}, set: {ctx.n: 0, ctx.text: "x"}, next: {arcs: [{step: again}]}}
  - {step: again, tool: {kind: noop}, set: {ctx.n: "{{ ctx.n + 1 }}", ctx.text: "{{ 'x' * 6000 }}"}, next: {arcs: [{step: again, when: "{{ ctx.n < 20 }}"}]}}`)
	require.Equal(t, reactive.RunCompleted, result.Status, "a replaced value no longer counts: %v", result.Failure)
}

func TestAnEngineForgetsWorkflows(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	text := func(i int) string { return fmt.Sprintf(`{kind: Workflow, name: w%d, steps: [{operation: echo}]}`, i) }
	const more = 20
	for i := range registry.WorkflowsMax + more {
		require.NoError(t, wait(t, start(t, e, text(i))).Err())
	}
	for kind, n := range coordinator.RegistrySizes(e) {
		require.LessOrEqual(t, n, registry.WorkflowsMax, kind)
	}
	require.NoError(t, wait(t, start(t, e, text(0))).Err())
}
