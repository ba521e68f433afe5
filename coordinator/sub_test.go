package coordinator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

var sameList = template.NewOp[[]int, any]("same", same.Implementation())

// leaf returns a workflow whose output is the result of f. Versions differ in their hashes.
func leaf(version string, f flow.Function[int, []int]) flow.Workflow[int, any] {
	in := flow.Input[int]()
	step := flow.Call("leaf-step", sameList, f.Of(in))
	return flow.MustNew("leaf", in, flow.Output(step), flow.Version(version), step)
}

// above returns a workflow that runs another, whose output is its own.
func above(name string, below flow.Workflow[int, any]) *template.Workflow {
	step := flow.Sub("", below, flow.Value(1))
	return flow.MustDefine(name, step, flow.Output(step))
}

// A run's children are those that its definition includes, with their own functions, even if other workflows of the same names
// are registered.
func TestARunHasTheChildrenOfItsOwnDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var functions []flow.Function[int, []int]
		for i := range 3 {
			functions = append(functions, constant("f", i))
		}
		type definition struct {
			w       *template.Workflow
			below   string // hash of its child
			results int
		}
		var definitions []definition
		for range rapid.IntRange(1, 6).Draw(t, "definitions") {
			d := definition{results: rapid.IntRange(0, 2).Draw(t, "function")}
			child := leaf(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "version"), functions[d.results])
			d.w = above(rapid.SampledFrom([]string{"v", "w"}).Draw(t, "name"), child)
			var err error
			d.below, err = child.Tree().Hash()
			require.NoError(t, err)
			definitions = append(definitions, d)
		}

		e, err := coordinator.New(context.Background(), memory.New(), coordinator.Config{})
		require.NoError(t, err)
		defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
		if rapid.Bool().Draw(t, "registered") {
			require.NoError(t, e.Register(leaf("3", constant("f", 3)).Tree()))
		}
		results := map[string]int{} // of the child's function, by the child's hash
		for range rapid.IntRange(1, 10).Draw(t, "starts") {
			d := rapid.SampledFrom(definitions).Draw(t, "started")
			r, err := e.Start(context.Background(), d.w, nil)
			if known, ok := results[d.below]; ok && known != d.results {
				require.ErrorContains(t, err, `another function "f"`)
				continue
			}
			results[d.below] = d.results
			require.NoError(t, err)
			result, err := r.Wait(context.Background())
			require.NoError(t, err)
			require.Equal(t, []any{int64(d.results)}, result.Output)
		}
	})
}

// A name in a document means the registered workflow of that name, unless there are several.
func TestANameMeansOneWorkflow(t *testing.T) {
	const text = `{kind: Workflow, name: top, operations: {leaf: {workflow: {name: leaf}}}, steps: [{operation: leaf, input: 1}], output: "{{ steps.leaf.output }}"}`
	e := newEngine(t, coordinator.Config{})
	require.NoError(t, e.Register(above("w", leaf("1", constant("f", 1)))))
	_, err := e.Start(t.Context(), parse(t, text), nil)
	require.ErrorIs(t, err, coordinator.ErrMissing, "it belongs to the workflow that includes it")

	f := constant("f", 7)
	require.NoError(t, e.Register(leaf("2", f).Tree()))
	require.Equal(t, []any{int64(7)}, run(t, e, parse(t, text), nil).Output)
	require.NoError(t, e.Register(leaf("2", f).Tree()), "an equal workflow is the same")
	require.Equal(t, []any{int64(7)}, run(t, e, parse(t, text), nil).Output)
	require.NoError(t, e.Register(leaf("3", f).Tree()))
	require.Equal(t, []any{int64(7)}, run(t, e, parse(t, text), nil).Output, "the binding was made at the first start")
	_, err = e.Start(t.Context(), parse(t, strings.Replace(text, "top", "other", 1)), nil)
	require.ErrorContains(t, err, `there is no workflow "leaf": several registered workflows have that name`)
}

// The child of a recovered run is found by its hash; its functions come with the definition of the parent.
func TestChildrenAreRecoveredWithTheirFunctions(t *testing.T) {
	g := newGate()
	slow := g.define("slow").(template.Op[any, string])
	waiting := func(f flow.Function[int, []int]) *template.Workflow {
		in := flow.Input[int]()
		first := flow.Call("slow", slow, nil)
		then := flow.Call("then", sameList, f.Of(in), flow.Needs(first))
		return above("top", flow.MustNew("leaf", in, flow.Output(flow.Expr[any]("{{ steps.then.output }}")), first, then))
	}
	store := &kept{Store: memory.New()}
	open := func(workflows ...*template.Workflow) *coordinator.Engine {
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Workflows: workflows})
		require.NoError(t, err)
		return e
	}
	e := open()
	_, err := e.Start(t.Context(), waiting(constant("f", 1)), nil, coordinator.WithID("r"))
	require.NoError(t, err)
	require.Equal(t, "r/leaf#1", (<-g.entered).Run)
	crash(t, e)

	e = open(waiting(constant("f", 2)))
	<-g.entered
	g.leave <- nil
	require.Equal(t, []any{int64(2)}, wait(t, find(t, e, "r")).Output)
	require.NoError(t, e.Shutdown(t.Context()))
}

// A child's schema checks the input of its step, and a refused parent registers nothing of its children.
func TestAChildIsAWorkflowLikeAny(t *testing.T) {
	e := newEngine(t, coordinator.Config{})
	in := flow.Input[int]()
	small := flow.MustNew("small", in, flow.Output(in), flow.Schema(map[string]any{"maximum": int64(3)}))
	for n, want := range map[int]reactive.RunStatus{3: reactive.RunCompleted, 4: reactive.RunFailed} {
		step := flow.Sub("", small, flow.Value(n))
		result := run(t, e, flow.MustDefine(fmt.Sprint("top", n), step, flow.Output(step)), nil)
		require.Equal(t, want, result.Status)
		if want == reactive.RunFailed {
			require.Equal(t, coordinator.CodeChildFailed, result.Failure.Code)
			require.Contains(t, result.Failure.Message, "must be at most 3")
		}
	}

	nowhere := flow.Call("", template.NewOp[int, any]("nowhere", nil), in)
	lost := flow.MustNew("lost", in, flow.Output(nowhere), nowhere)
	require.ErrorContains(t, e.Register(flow.MustDefine("top",
		flow.Sub("", leaf("1", constant("f", 1)), flow.Value(1)), flow.Sub("", lost, flow.Value(1)),
	)), `unknown operation "nowhere"`)
	require.NoError(t, e.Register(above("top", leaf("1", constant("f", 2)))), "the refused parent has not registered its child's function")
}

// A journal records the children that a run was started with: two definitions of one hash may have different ones.
func TestARunIsStartedWithItsChildren(t *testing.T) {
	e := newEngine(t, coordinator.Config{})
	f := constant("f", 1)
	for _, version := range []string{"1", "2", "1"} {
		r, err := e.Start(t.Context(), above("w", leaf(version, f)), nil)
		require.NoError(t, err)
		wait(t, r)
		want, err := leaf(version, f).Tree().Hash()
		require.NoError(t, err)
		for event, err := range r.Events(t.Context(), 1) {
			require.NoError(t, err)
			if event.Type == journal.RunStarted {
				start := event.Detail.Start
				require.Equal(t, map[string]string{start.Workflow + "/leaf": want}, start.Children)
			}
		}
	}
}

// TestAFailureNamesTheChildThatHasFailed: its id contains the ids of the runs above it.
func TestAFailureNamesTheChildThatHasFailed(t *testing.T) {
	dir := written(t, map[string]string{
		"a.yaml": "{kind: Workflow, name: a, operations: {b: {workflow: {path: b.yaml}}}, steps: [{operation: b}]}",
		"b.yaml": "{kind: Workflow, name: b, operations: {c: {workflow: {path: c.yaml}}}, steps: [{operation: c}]}",
		"c.yaml": "{kind: Workflow, name: c, operations: {no: {fail: {code: no, message: never}}}, steps: [{operation: no}]}",
	})
	text, err := os.ReadFile(filepath.Join(dir, "a.yaml"))
	require.NoError(t, err)
	w, err := template.Parse(filepath.Join(dir, "a.yaml"), text)
	require.NoError(t, err)
	r, err := newEngine(t, coordinator.Config{}).Start(t.Context(), w, nil, coordinator.WithID("r"))
	require.NoError(t, err)
	require.EqualError(t, wait(t, r).Err(), "run r: failed: child_failed: run r/b#1/c#1: failed: no: never")
}
