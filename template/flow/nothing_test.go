package flow_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/flow"
)

// TestNothingIsAFault passes nil, and zero values of handles, as every argument. Each is a fault with a line of this file,
// and never a panic.
func TestNothingIsAFault(t *testing.T) {
	op := template.NewOp[any, any]("op", nil)
	var ref flow.Ref[any]
	var arg flow.Arg[any]
	var test flow.Arg[bool]
	var list flow.Arg[[]any]
	var node flow.Node
	var step flow.Placed
	var choice flow.Choice[any]
	var function flow.Function[any, any]
	type pair struct{ A, B any }
	var p pair
	call := func(in flow.Arg[any], options ...flow.StepOption) flow.Part {
		return flow.Call("a", op, in, options...)
	}
	fine := func() flow.Ref[any] { return flow.Call("fine", op, nil) }
	each := func(body func(flow.Ref[any]) flow.Ref[any], options ...flow.EachOption) flow.Part {
		return flow.Each("m", flow.Input[[]any](), body, options...)
	}
	tests := map[string]flow.Part{
		"part": nil, "setting": flow.Setting(nil), "node": flow.Nodes{nil}, "container": (*flow.Container)(nil),
		"zero container": &flow.Container{}, "ref": ref, "address of a ref": (*flow.Ref[any])(nil), "choice": choice,
		"after": fine().After(nil), "input": call(ref), "address of an input": call((*flow.Ref[any])(nil)), "input that is a choice": call(choice),
		"step option": call(nil, nil), "needs": call(nil, flow.Needs(nil)), "needs a zero ref": call(nil, flow.Needs(ref)),
		"from": call(flow.From(ref)), "from or": call(flow.FromOr(ref, 1)), "coalesce": call(flow.Coalesce(arg, arg)),
		"select": call(flow.Select[any](arg, "/a")), "select of a zero ref": call(flow.Select[any](ref, "/a")),
		"set": call(retyped(flow.Struct(&p, flow.Set(&p.A, arg)))), "member": call(retyped(flow.Struct(&p, flow.Member{}))),
		"with": call(retyped(flow.Object[pair](flow.With("A", arg)))), "struct": call(retyped(flow.Struct[pair](nil, flow.Set(&p.A, arg)))),
		"function": call(function.Of(flow.Input[any]())), "argument": call(flow.Func("f", func(any) any { return nil }, arg)),
		"func": call(flow.Func[any, any]("f", nil, flow.Input[any]())), "try func": call(flow.TryFunc[any, any]("f", nil, flow.Input[any]())),
		"new func": call(flow.NewFunc[any, any]("f", nil).Of(flow.Input[any]())), "output": flow.Output(arg), "zero output": flow.RunOutput[any]{},
		"sequential": flow.Sequential(nil), "parallel": flow.Parallel(nil), "parallel of a list": flow.Parallel(flow.Nodes{node}),
		"test": flow.If(test, flow.Then(fine())), "branch": flow.If(flow.Value(true), nil, flow.Then(fine())), "then": flow.If(flow.Value(true), flow.Then(node)),
		"else":   flow.If(flow.Value(true), flow.Then(fine()), flow.Else(ref)),
		"choose": flow.Choose[any](nil, nil, nil), "choose of refs": flow.Choose[any](flow.Value(true), ref, choice),
		"status": call(retyped(flow.Status(step))), "completed": flow.If(flow.Completed(ref), flow.Then(fine())), "failed": flow.If(flow.Failed(step), flow.Then(fine())),
		"list": flow.Each("m", list, func(flow.Ref[any]) flow.Ref[any] { return fine() }), "body": each(nil),
		"body's end": each(func(flow.Ref[any]) flow.Ref[any] { return ref }), "each option": each(func(flow.Ref[any]) flow.Ref[any] { return fine() }, nil),
		"index":    each(func(flow.Ref[any]) flow.Ref[any] { return flow.Call("i", op, retyped(flow.Index(ref))) }),
		"workflow": flow.Sub("s", flow.Workflow[any, any]{}, arg),
	}
	_, here, _, _ := runtime.Caller(0)
	for name, part := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := flow.Define("w", part)
			faults, ok := errors.AsType[document.Errors](err)
			require.True(t, ok, "%v", err)
			for _, f := range faults {
				require.Equal(t, filepath.Base(here), filepath.Base(f.Pos.File), "%v", f)
				require.NotZero(t, f.Pos.Line, "%v", f)
			}
			require.Regexp(t, "nil|Index wants the item", err.Error())
		})
	}
	_, err := flow.New("w", ref, flow.RunOutput[any]{}, fine())
	require.ErrorContains(t, err, "the input is nil")
	require.Error(t, new(template.Workflow).Register(nil))
	require.Error(t, new(template.Workflow).Register(flow.NewFunc[any, any]("f", nil).Handle()))
}

// retyped is the same argument for a step that takes anything.
func retyped[T any](a flow.Arg[T]) flow.Arg[any] { return flow.Select[any](flow.Coalesce(a, a), "") }
