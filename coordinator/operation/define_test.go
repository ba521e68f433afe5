package operation_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/value"
)

// invoke calls an operation made from a Go function.
func invoke(op interface{ Implementation() any }, input any) (any, error) {
	c := &operation.Call{Request: call.Request{Run: "r", Node: "n", Attempt: 1, Input: input}}
	c.Begin(context.Background())
	return op.Implementation().(operation.Caller).Call(c)
}

// TestAFunctionSharesNothingWithTheRun: a function may write to its input and, later, to its output.
func TestAFunctionSharesNothingWithTheRun(t *testing.T) {
	output, about := map[string]any{"n": []any{1}}, map[string]any{"pg": map[string]any{"rows": 1}}
	op := operation.Define("op", func(_ context.Context, in map[string]any) (operation.Reply, error) {
		in["n"] = "changed"
		in["list"].([]any)[0] = "changed"
		return operation.Reply{Output: output, About: about}, nil
	})
	input := map[string]any{"n": int64(1), "list": []any{int64(1)}}
	out, err := invoke(op, input)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"n": int64(1), "list": []any{int64(1)}}, input)

	output["n"].([]any)[0], output["more"] = 2, true
	about["pg"].(map[string]any)["rows"], about["more"] = 2, true
	reply := out.(operation.Reply)
	require.True(t, value.Equal(map[string]any{"n": []any{1}}, reply.Output), "%v", reply.Output)
	require.Equal(t, map[string]any{"pg": map[string]any{"rows": int64(1)}}, reply.About)
}

func TestTheMetadataOfAReplyMustBeAValue(t *testing.T) {
	holds := map[string]any{}
	holds["itself"] = holds
	for _, r := range []operation.Reply{{About: holds}, {Output: holds}, {About: map[string]any{"f": func() {}}}} {
		op := operation.Define("op", func(context.Context, any) (operation.Reply, error) { return r, nil })
		_, err := invoke(op, nil)
		f, _ := operation.FailureOf(err)
		require.Equal(t, operation.CodeInvalidOutput, f.Code)
	}
}
