package coordinator_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
	"github.com/sluiceflow/sluice/template/value"
)

// objects draws objects that are values already, so that only an explicit copy protects them.
func objects() *rapid.Generator[map[string]any] {
	var inner func(depth int) *rapid.Generator[any]
	inner = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Just[any](nil))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf, rapid.SliceOfN(inner(depth-1), 0, 3).AsAny(), rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), inner(depth-1), 0, 3).AsAny())
	}
	return rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), inner(2), 1, 3)
}

// scribble overwrites all lists and objects in a value.
func scribble(v any) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			scribble(v[i])
			v[i] = "scribbled"
		}
	case map[string]any:
		for k := range v {
			scribble(v[k])
			v[k] = "scribbled"
		}
	case map[string]string:
		for k := range v {
			v[k] = "scribbled"
		}
	}
}

// plainCaller is a Caller that returns its result without a copy.
type plainCaller func(*operation.Call) (any, error)

func (c plainCaller) Call(call *operation.Call) (any, error) { return c(call) }

// ownOperation is an Operation made without operation.Define.
type ownOperation struct {
	name   string
	caller operation.Caller
}

func (o ownOperation) Name() string        { return o.name }
func (o ownOperation) Implementation() any { return o.caller }

// TestValuesAreCopied: a program may write to the values that it has passed to the engine. Steps, the journal and readers receive the
// values as they were passed.
func TestValuesAreCopied(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		meant := objects().Draw(rt, "value")
		var mu sync.Mutex // of given and its elements, to which operations and the test write
		var given []any
		give := func() map[string]any { // another copy each time, to be overwritten later
			var v map[string]any
			require.NoError(t, value.Convert(meant, &v))
			mu.Lock()
			defer mu.Unlock()
			given = append(given, v)
			return v
		}
		write := func(list ...any) {
			mu.Lock()
			defer mu.Unlock()
			for _, v := range list {
				scribble(v)
			}
		}
		spoil := func() { write(given...) }
		spoils := operation.Define("spoil", func(context.Context, any) (any, error) { spoil(); return nil, nil })
		reports := operation.Define("report", func(ctx context.Context, _ any) (any, error) {
			v := give()
			err := operation.Report(ctx, "k", v)
			write(v)
			return nil, err
		})
		fails := operation.Define("fail", func(context.Context, any) (any, error) {
			return nil, &operation.Error{Code: "no", Permanent: true, Details: give()}
		})
		typed := operation.Define("typed", func(context.Context, any) (map[string]any, error) { return give(), nil })
		replies := operation.Define("reply", func(context.Context, any) (operation.Reply, error) {
			return operation.Reply{Output: give(), About: give()}, nil
		})
		plain := ownOperation{"plain", plainCaller(func(*operation.Call) (any, error) {
			return operation.Reply{Output: give(), About: give()}, nil
		})}
		writes := operation.Define("write", func(_ context.Context, in map[string]any) (any, error) { scribble(in); return nil, nil })

		e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Operations: []coordinator.Operation{
			spoils, reports, fails, typed, replies, plain, writes,
		}})
		require.NoError(t, err)
		defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
		w := parse(t, `
kind: Workflow
name: w
failure_policy: continue-running
operations: {hear: {wait: {message: m}}, value: {value: "{{ input }}"}}
steps:
  - {id: said, operation: hear}
  - parallel: {steps: [{operation: report}, {operation: typed}, {operation: reply}, {operation: plain}, {operation: fail}]}
  - conditional: {test: "{{ steps.fail.status == 'failed' }}", then: [{operation: spoil}]}
  - {operation: write, input: "{{ input }}"}
  - {id: seen, operation: value, input: {input: "{{ input }}", said: "{{ steps.said.output }}", report: "{{ steps.report.reports[0].payload }}",
      typed: "{{ steps.typed.output }}", reply: "{{ steps.reply.output }}", plain: "{{ steps.plain.output }}", caught: "{{ steps.fail.error.details }}"}}
output: "{{ steps.seen.output }}"`)
		input, labels := give(), map[string]string{"for": "ann"}
		r, err := e.Start(t.Context(), w, input, coordinator.WithLabels(labels))
		require.NoError(t, err)
		write(input, labels)
		message := give()
		require.NoError(t, r.Send(t.Context(), "m", message))
		write(message)
		result := wait(t, r)
		spoil()

		want, err := value.Own(meant)
		require.NoError(t, err)
		seen := map[string]any{}
		for _, name := range []string{"input", "said", "report", "typed", "reply", "plain", "caught"} {
			seen[name] = want
		}
		require.Equal(t, seen, result.Output)
		for event, err := range r.Events(t.Context(), 1) {
			require.NoError(t, err)
			data, err := value.JSON([]any{event.Value, detailsOf(&event)})
			require.NoError(t, err)
			require.NotContains(t, string(data), "scribbled", event.Type)
		}
		for head, err := range e.Runs(t.Context(), "") {
			require.NoError(t, err)
			require.Equal(t, map[string]string{"for": "ann"}, head.Labels)
		}
	})
}

// detailsOf returns the program's values in an event besides Value.
func detailsOf(e *journal.Event) []any {
	if e.Detail == nil {
		return nil
	}
	list := []any{e.Detail.About}
	if e.Detail.Failure != nil {
		list = append(list, e.Detail.Failure.Details)
	}
	return list
}

func TestValuesOfBuildersAndFunctionsAreCopied(t *testing.T) {
	literal, returned := map[string]any{"a": []any{"b"}}, []any{map[string]any{"c": "d"}}
	list := flow.NewFunc("list", func(int) []any { return returned })
	first := flow.Call("first", template.NewOp[map[string]any, any]("same", same.Implementation()), flow.Value(literal))
	each := flow.Each("each", list.Of(flow.Value(1)), func(item flow.Ref[any]) flow.Ref[any] {
		return flow.Call("item", template.NewOp[any, any]("same", same.Implementation()), item)
	})
	spoils := operation.Define("spoil", func(context.Context, any) (any, error) {
		scribble(returned)
		return nil, nil
	})
	spoil := flow.Call("spoil", template.NewOp[[]any, any]("spoil", spoils.Implementation()), flow.From(each))
	scribble(literal)
	w := flow.MustDefine("w", first, each, spoil, flow.Output(flow.Object[map[string]any](
		flow.With("first", flow.From(first)), flow.With("each", flow.From(each)))))
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{same, spoils}})
	r, err := e.Start(t.Context(), w, nil)
	require.NoError(t, err)
	want := map[string]any{"first": map[string]any{"a": []any{"b"}}, "each": []any{map[string]any{"c": "d"}}}
	require.Equal(t, want, wait(t, r).Output)
	for event, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		require.NotContains(t, fmt.Sprint(event.Value), "scribbled", event.Type)
	}
}
