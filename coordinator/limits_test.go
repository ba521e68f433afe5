package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

// TestIDsOfChildRunsFit: for steps and participants with names of any length, at any allowed depth, the id of a child run is
// unique, fits the store, and contains the id of its parent.
func TestIDsOfChildRunsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-zé]{1,128}`)
		id := rapid.StringMatching(`[a-z]{1,128}`).Draw(t, "run")
		for depth := range 16 {
			made := &call.Request{Run: id, Node: name.Draw(t, "step"), Attempt: rapid.Int32Range(1, 1e9).Draw(t, "attempt")}
			if rapid.Bool().Draw(t, "asks") {
				made.Participant = rapid.StringN(1, 300, -1).Draw(t, "participant")
			}
			next := &call.Request{Run: id, Node: made.Node, Attempt: made.Attempt + 1, Participant: made.Participant}
			child := coordinator.ChildOf(made)
			require.Equal(t, child, coordinator.ChildOf(made))
			require.NotEqual(t, child, coordinator.ChildOf(next))
			require.Equal(t, id, coordinator.ParentOf(child))
			require.Equal(t, depth+1, coordinator.Generation(child))
			require.LessOrEqual(t, len(child), journal.StreamNameMax)
			id = child
		}
	})
}

func TestInvalidIDsAreRefused(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	w := parse(t, `{kind: Workflow, name: w, steps: [{operation: echo}]}`)
	for id, text := range map[string]string{strings.Repeat("é", 65): "at most 128 bytes, not 130", "a\xff": "is written in UTF-8", "a b": "an id has no"} {
		_, err := e.Start(t.Context(), w, nil, coordinator.WithID(id))
		require.ErrorContains(t, err, text)
	}
	_, err := e.Start(t.Context(), w, nil, coordinator.WithID(strings.Repeat("é", 64)))
	require.NoError(t, err)
	long := fmt.Sprintf(`{kind: Workflow, name: w, steps: [{id: %s, operation: echo}]}`, strings.Repeat("s", 129))
	_, err = e.Start(t.Context(), parse(t, long), nil)
	require.ErrorContains(t, err, "at most 128 bytes, not 129")
}

// TestDescendantsAndDepthAreBounded: a workflow that starts itself fails, and the process goes on.
func TestDescendantsAndDepthAreBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "self.yaml")
	text := `
kind: Workflow
name: self
operations: {again: {workflow: {path: self.yaml}}}
steps: [{map: {id: m, over: [1, 2, 3], steps: [{id: s, operation: again}]}}]`
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	w, err := template.Parse(file, []byte(text))
	require.NoError(t, err)
	for name, limits := range map[string]coordinator.Limits{
		"many": {DescendantsMax: 20},
		"deep": {DepthMax: 2},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, coordinator.Config{Limits: limits})
			result := run(t, e, w, nil)
			require.Equal(t, reactive.RunFailed, result.Status)
			require.Contains(t, result.Failure.Code+result.Failure.Message, reactive.CodeLimit)
			count, deepest := 0, 0
			for head, err := range e.Runs(t.Context(), "") {
				require.NoError(t, err)
				count++
				deepest = max(deepest, coordinator.Generation(head.Run))
			}
			if name == "many" {
				require.Equal(t, 21, count)
			} else {
				require.Equal(t, 2, deepest)
				require.Equal(t, 1+3+9, count)
			}
		})
	}
}

// TestLimitsBeyond32BitsAreNotSmall: the start of a run keeps limits in 32 bits.
func TestLimitsBeyond32BitsAreNotSmall(t *testing.T) {
	e := newEngine(t, coordinator.Config{
		Limits: coordinator.Limits{MapItemsMax: 1<<32 + 1, InstancesMax: 1<<32 + 1}, Operations: []coordinator.Operation{echo},
	})
	result := run(t, e, parse(t, `{kind: Workflow, name: w, steps: [{map: {id: m, over: [1, 2], steps: [{operation: echo}]}}]}`), nil)
	require.NoError(t, result.Err())
}

// TestAValueThatIsTooLargeFailsWithACode: it is not journaled; the call fails, or the command is refused.
func TestAValueThatIsTooLargeFailsWithACode(t *testing.T) {
	const most = 1000
	large, fits := strings.Repeat("x", most), strings.Repeat("x", most-3)
	answers := operation.Define("large", func(_ context.Context, out any) (any, error) { return out, nil })
	pure := operation.DefinePure("pure", func(in any) (any, error) { return fmt.Sprint(in, in), nil })
	fails := operation.Define("fails", func(context.Context, any) (any, error) {
		return nil, &operation.Error{Code: "no", Details: large}
	})
	replies := operation.Define("replies", func(context.Context, any) (operation.Reply, error) {
		return operation.Reply{About: map[string]any{"status": large}}, nil
	})
	makes := operation.Define("makes", func(context.Context, any) (string, error) { return large, nil })
	config := coordinator.Config{
		Limits:     coordinator.Limits{ValueBytesMax: most},
		Operations: []coordinator.Operation{answers, pure, fails, replies, makes, echo},
	}
	for name, test := range map[string]struct{ text, code string }{
		"output":   {`steps: [{operation: makes}]`, operation.CodeTooLarge},
		"pure":     {`steps: [{operation: pure, input: "{{ input }}"}]`, operation.CodeTooLarge},
		"details":  {`steps: [{operation: fails}]`, operation.CodeTooLarge},
		"about":    {`steps: [{operation: replies}]`, operation.CodeTooLarge},
		"value":    {`operations: {twice: {value: "{{ input }}{{ input }}"}}, steps: [{operation: twice, input: "{{ input }}"}]`, operation.CodeTooLarge},
		"input":    {`steps: [{operation: large, input: "{{ input }}{{ input }}"}]`, reactive.CodeInputTooLarge},
		"result":   {`steps: [{operation: large, input: "{{ input }}"}], output: "{{ steps.large.output }}{{ steps.large.output }}"`, operation.CodeTooLarge},
		"decision": {`steps: [{operation: echo, fulfillment: {policy: external_decision, decision_source: {kind: automatic, operation: large, input: "{{ input }}{{ input }}"}, on_error: fail}}]`, reactive.CodeInputTooLarge},
		"verdict":  {`steps: [{operation: echo, fulfillment: {policy: external_decision, decision_source: {kind: automatic, operation: makes}, on_error: fail}}]`, operation.CodeTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, config)
			r, err := e.Start(t.Context(), parse(t, "{kind: Workflow, name: w, "+test.text+"}"), fits)
			require.NoError(t, err)
			result := wait(t, r)
			require.Equal(t, reactive.RunFailed, result.Status)
			text := result.Failure.Code + " " + result.Failure.Message
			for event, err := range r.Events(t.Context(), 1) {
				require.NoError(t, err)
				require.NotContains(t, fmt.Sprint(event.Value, detailsOf(&event)), large)
				if event.Detail != nil && event.Detail.Failure != nil {
					text += " " + event.Detail.Failure.Code
				}
			}
			require.Contains(t, text, test.code)
		})
	}
	t.Run("list", func(t *testing.T) {
		list := flow.NewFunc("list", func(int) []string { return []string{large} })
		each := flow.Each("each", list.Of(flow.Value(1)), func(item flow.Ref[string]) flow.Ref[any] {
			return flow.Call("item", template.NewOp[string, any]("echo", echo.Implementation()), item)
		})
		result := run(t, newEngine(t, config), flow.MustDefine("w", each), nil)
		require.Equal(t, operation.CodeTooLarge, result.Failure.Code)
	})
	t.Run("from outside", func(t *testing.T) {
		e := newEngine(t, config)
		hears := parse(t, `{kind: Workflow, name: w, operations: {hear: {wait: {message: m}}}, steps: [{operation: hear}]}`)
		_, err := e.Start(t.Context(), hears, large)
		require.ErrorIs(t, err, coordinator.ErrLimit)
		r, err := e.Start(t.Context(), hears, fits)
		require.NoError(t, err)
		require.ErrorIs(t, r.Send(t.Context(), "m", large), coordinator.ErrLimit)
		require.NoError(t, r.Send(t.Context(), "m", fits))
		require.NoError(t, wait(t, r).Err())
	})
}

func TestMessagesThatNoStepTakesAreBounded(t *testing.T) {
	e := newEngine(t, coordinator.Config{Limits: coordinator.Limits{MessagesMax: 3, MailboxBytesMax: 1000}})
	r := start(t, e, `
kind: Workflow
name: w
operations: {first: {wait: {message: a}}, last: {wait: {message: end}}}
steps: [{operation: first}, {operation: first, id: second}, {operation: last}]`)
	for range 4 {
		require.NoError(t, r.Send(t.Context(), "later", nil))
		if err := r.Send(t.Context(), "a", nil); err != nil {
			require.ErrorIs(t, err, coordinator.ErrMailboxFull)
			break
		}
	}
	require.ErrorIs(t, r.Send(t.Context(), "later", nil), coordinator.ErrMailboxFull, "three messages wait")
	require.NoError(t, r.Cancel(t.Context(), "done"))

	r = start(t, e, `{kind: Workflow, name: v, operations: {last: {wait: {message: end}}}, steps: [{operation: last}]}`)
	require.NoError(t, r.Send(t.Context(), "b", strings.Repeat("x", 600)))
	require.ErrorIs(t, r.Send(t.Context(), "b", strings.Repeat("x", 600)), coordinator.ErrMailboxFull)
	require.NoError(t, r.Send(t.Context(), "b", strings.Repeat("x", 300)))
	require.NoError(t, r.Send(t.Context(), "end", strings.Repeat("x", 50)))
	require.NoError(t, wait(t, r).Err())
}

// TestLargeOutputsAreAppendedInParts: outputs that together exceed a batch are appended one after the other, and no call is
// repeated.
func TestLargeOutputsAreAppendedInParts(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int32
	all := make(chan struct{})
	big := operation.Define("big", func(_ context.Context, n int) (string, error) {
		if calls.Add(1) == 4 {
			close(all)
		}
		<-all
		return strings.Repeat(fmt.Sprint(n), 12<<20), nil
	})
	for again := range 2 {
		store, err := disk.Open(dir, disk.Config{})
		require.NoError(t, err)
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{big}})
		require.NoError(t, err)
		r, err := e.Start(t.Context(), parse(t, `
kind: Workflow
name: w
steps: [{map: {id: m, over: [1, 2, 3, 4], steps: [{operation: big, id: one, input: "{{ item }}"}]}}]
output: "{{ len(input) + len(steps.m.output) }}"`), strings.Repeat("i", 30<<20), coordinator.WithID("r"))
		require.NoError(t, err)
		result := wait(t, r)
		require.NoError(t, result.Err())
		require.EqualValues(t, 30<<20+4, result.Output)
		require.EqualValues(t, 4, calls.Load(), again)
		require.NoError(t, e.Shutdown(t.Context()))
	}
}

// TestAnAppendThatFailsForGoodParksTheRun: the store returns the same unknown error each time.
func TestAnAppendThatFailsForGoodParksTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		store := &flaky{Store: memory.New()}
		store.fail = func(_ string, after uint64, _ []journal.Event) error {
			if after == 0 {
				return nil
			}
			tries++
			return errors.New("the disk is full")
		}
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{echo}})
		require.NoError(t, err)
		r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: echo}]}`)
		_, err = r.Wait(t.Context())
		require.ErrorIs(t, err, coordinator.ErrParked)
		require.ErrorContains(t, err, "the disk is full")
		require.Equal(t, 10, tries)
		require.NoError(t, e.Shutdown(t.Context()))
	})
}
