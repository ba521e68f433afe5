package coordinator_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

// constant returns a closure of one literal: only its handle distinguishes it from the others.
func constant(name string, n int) flow.Function[int, []int] {
	return flow.NewFunc(name, func(int) []int { return []int{n} })
}

var same = operation.DefinePure("same", func(in any) (any, error) { return in, nil })

// asking returns a workflow that calls each function twice: for a step's input and for a map's list.
func asking(name string, functions ...flow.Function[int, []int]) *template.Workflow {
	parts := []flow.Part{}
	outputs := []flow.Field{}
	for i, f := range functions {
		step := flow.Call(fmt.Sprint("step", i), template.NewOp[[]int, any]("same", same.Implementation()), f.Of(flow.Value(i)))
		each := flow.Each(fmt.Sprint("each", i), f.Of(flow.Value(i)), func(n flow.Ref[int]) flow.Ref[any] {
			return flow.Call(fmt.Sprint("item", i), template.NewOp[int, any]("same", same.Implementation()), n)
		})
		parts = append(parts, step, each)
		outputs = append(outputs, flow.With(fmt.Sprint("step", i), flow.From(step)), flow.With(fmt.Sprint("each", i), flow.From(each)))
	}
	return flow.MustDefine(name, append(parts, flow.Output(flow.Object[map[string]any](outputs...)))...)
}

// A run calls the functions of its own definition, also if the engine has registered other definitions, in any order.
func TestARunHasTheFunctionsOfItsOwnDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type definition struct {
			w       *template.Workflow
			hash    string
			returns map[string]int // by name of a function
			names   []string
		}
		var handles [3][]flow.Function[int, []int] // of names f0, f1, f2; the i-th returns i
		for n := range handles {
			for i := range 3 {
				handles[n] = append(handles[n], constant(fmt.Sprint("f", n), i))
			}
		}
		var definitions []definition
		for range rapid.IntRange(1, 5).Draw(t, "definitions") {
			d := definition{returns: map[string]int{}}
			var use []flow.Function[int, []int]
			for n := range handles {
				if rapid.Bool().Draw(t, "used") {
					i := rapid.IntRange(0, 2).Draw(t, "handle")
					name := fmt.Sprint("f", n)
					use, d.returns[name], d.names = append(use, handles[n][i]), i, append(d.names, name)
				}
			}
			d.w = asking(rapid.SampledFrom([]string{"w", "v"}).Draw(t, "name"), use...)
			var err error
			d.hash, err = d.w.Hash()
			require.NoError(t, err)
			definitions = append(definitions, d)
		}

		e, err := coordinator.New(context.Background(), memory.New(), coordinator.Config{})
		require.NoError(t, err)
		defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
		known := map[string]map[string]int{} // by hash: the results of the functions of its first definition
		for range rapid.IntRange(1, 10).Draw(t, "starts") {
			d := rapid.SampledFrom(definitions).Draw(t, "started")
			if known[d.hash] == nil {
				known[d.hash] = d.returns
			}
			r, err := e.Start(context.Background(), d.w, nil)
			other := slices.IndexFunc(d.names, func(name string) bool { return known[d.hash][name] != d.returns[name] })
			if other >= 0 {
				require.ErrorContains(t, err, fmt.Sprintf("another function %q", d.names[other]))
				require.ErrorContains(t, err, "at package level (flow.NewFunc)")
				continue
			}
			require.NoError(t, err)
			result, err := r.Wait(context.Background())
			require.NoError(t, err)
			want := map[string]any{}
			for i, name := range d.names {
				want[fmt.Sprint("step", i)] = []any{int64(d.returns[name])}
				want[fmt.Sprint("each", i)] = []any{int64(d.returns[name])}
			}
			require.Equal(t, want, result.Output)
		}
	})
}

// Workflows of Config and Register are compared like started ones.
func TestOneDefinitionHasOneFunctionOfAName(t *testing.T) {
	one, two := constant("f", 1), constant("f", 2)
	_, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{
		Workflows: []*template.Workflow{asking("w", one), asking("w", two)},
	})
	require.ErrorContains(t, err, `workflow w: this definition is registered with another function "f", made at `)

	e := newEngine(t, coordinator.Config{Workflows: []*template.Workflow{asking("w", one), asking("w", one), asking("v", two)}})
	require.Error(t, e.Register(asking("w", two)))
	require.Error(t, e.Register(asking("v", one)))
	require.Equal(t, map[string]any{"step0": []any{int64(1)}, "each0": []any{int64(1)}}, run(t, e, asking("w", one), nil).Output)
}

// A document names functions; the program sets their handles, or registers a definition of the same hash.
func TestADocumentUsesGoFunctions(t *testing.T) {
	f := constant("f", 7)
	text, err := asking("w", f).MarshalJSON()
	require.NoError(t, err)
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{same}})
	_, err = e.Start(t.Context(), asking("v", f), nil) // another definition has a function of that name
	require.NoError(t, err)
	_, err = e.Start(t.Context(), parse(t, string(text)), nil)
	require.ErrorIs(t, err, coordinator.ErrMissing)
	require.ErrorContains(t, err, `Go function "f"`)

	w := parse(t, string(text))
	require.NoError(t, w.Register(f.Handle()))
	want := map[string]any{"step0": []any{int64(7)}, "each0": []any{int64(7)}}
	require.Equal(t, want, run(t, e, w, nil).Output)
	require.Equal(t, want, run(t, e, parse(t, string(text)), nil).Output, "the definition is registered now")
}

// A refused workflow registers no operation.
func TestARefusedWorkflowLeavesNothing(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{same}})
	first := operation.Define("first", func(context.Context, any) (int, error) { return 1, nil })
	other := operation.Define("same", func(context.Context, any) (any, error) { return nil, nil })
	for name, w := range map[string]*template.Workflow{
		"an operation is another":    flow.MustDefine("w", flow.Call("", first, nil), flow.Call("", other, nil)),
		"an operation is not there":  flow.MustDefine("w", flow.Call("", first, nil), flow.Call("", template.NewOp[any, any]("x", nil), nil)),
		"a function is not the same": nil,
	} {
		if w == nil {
			require.NoError(t, e.Register(asking("w", constant("f", 1))))
			w = asking("w", constant("f", 1))
			require.True(t, w.Provide("first", first.Implementation()))
		}
		require.Error(t, e.Register(w), name)
	}
	again := operation.Define("first", func(context.Context, any) (int, error) { return 2, nil })
	step := flow.Call("", again, nil)
	require.EqualValues(t, 2, run(t, e, flow.MustDefine("v", step, flow.Output(step)), nil).Output)
}

// A run is recovered with the functions of its own definition, and parked if they are missing.
func TestARunIsRecoveredWithItsOwnFunctions(t *testing.T) {
	g := newGate()
	slow := g.define("slow").(template.Op[any, string])
	waiting := func(name string, f flow.Function[int, []int]) *template.Workflow {
		first := flow.Call("slow", slow, nil)
		then := flow.Call("then", template.NewOp[[]int, any]("same", same.Implementation()), f.Of(flow.Value(0)), flow.Needs(first))
		return flow.MustDefine(name, first, then, flow.Output(then))
	}
	store := &kept{Store: memory.New()}
	start := func(workflows ...*template.Workflow) *coordinator.Engine {
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Workflows: workflows})
		require.NoError(t, err)
		return e
	}
	e := start()
	for i, name := range []string{"a", "b"} {
		_, err := e.Start(t.Context(), waiting(name, constant("f", i)), nil, coordinator.WithID(name))
		require.NoError(t, err)
		<-g.entered
	}
	crash(t, e)

	// The new functions return other values, which show which of them were called.
	b := waiting("b", constant("f", 20))
	e = start(b)
	<-g.entered
	g.leave <- nil
	require.Equal(t, []any{int64(20)}, wait(t, find(t, e, "b")).Output)
	_, err := find(t, e, "a").Wait(t.Context())
	require.ErrorIs(t, err, coordinator.ErrMissing)
	require.ErrorContains(t, err, `Go function "f"`)
	for event, err := range find(t, e, "a").Events(t.Context(), 1) {
		require.NoError(t, err)
		require.NotEqual(t, journal.RunFinished, event.Type)
	}
	crash(t, e)

	e = start(waiting("a", constant("f", 10)), b)
	<-g.entered
	g.leave <- nil
	require.Equal(t, []any{int64(10)}, wait(t, find(t, e, "a")).Output)
	require.NoError(t, e.Shutdown(t.Context()))
}
