package operation_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// own is a Caller implemented by a program.
type own struct{ out any }

func (o own) Call(*operation.Call) (any, error) { return o.out, nil }

// matchingError is an error that implements Is and As.
type matchingError struct{ err error }

func (e matchingError) Error() string        { return "sly: " + e.err.Error() }
func (e matchingError) Is(target error) bool { return target == operation.ErrUnreachable }
func (e matchingError) As(any) bool          { return false }
func (e matchingError) Unwrap() error        { return e.err }

// ring returns a value that contains itself.
func ring() any {
	m := map[string]any{}
	m["again"] = m
	return m
}

// invalidValues holds Go values that cannot be converted to values of the model.
var invalidValues = []any{make(chan int), func() {}, math.NaN(), math.Inf(1), uint64(math.MaxUint64), value.Raw("\xff"), ring(), map[int]any{1: math.NaN()}}

// validValues holds Go values that can be converted.
var validValues = []any{nil, true, "text", "\xff", 7, 1.5, []string{"a"}, map[string]any{"a": []int{1}}, struct{ A *int }{}, time.Unix(0, 0)}

// outcome draws an output and an error of a call.
func outcome(t *rapid.T) (any, error) {
	thing := func() any {
		return rapid.SampledFrom(append(append([]any{}, invalidValues...), validValues...)).Draw(t, "thing")
	}
	texts := []string{"", "plain", "\xff", "x" + strings.Repeat("é", 1<<17)}
	text := func() string { return texts[rapid.IntRange(0, len(texts)-1).Draw(t, "text")] }
	out := thing()
	if rapid.Bool().Draw(t, "reply") {
		out = operation.Reply{Output: out, About: map[string]any{"about": thing()}}
	}
	var err error
	switch rapid.IntRange(0, 3).Draw(t, "error") {
	case 1:
		err = errors.New(text())
	case 2:
		err = &usercode.Panic{Reason: "boom", Stack: "stack"}
	case 3:
		at := rapid.SampledFrom([]int64{math.MinInt64 / 2, -1, 0, 1, 1 << 40, math.MaxInt64 / 2}).Draw(t, "seconds")
		err = &operation.Error{
			Code: text(), Message: text(), Details: thing(), RetryAt: time.Unix(at, 0),
			Permanent: rapid.Bool().Draw(t, "final"), Err: err,
		}
	}
	if err != nil && rapid.Bool().Draw(t, "sly") {
		err = matchingError{err}
	}
	if err != nil && rapid.Bool().Draw(t, "permanent") {
		err = operation.Permanent(err)
	}
	return out, err
}

// The result of Settle can be journaled, and has the same meaning as the output and error of the call.
func TestSettledOutcomesCanBeJournaled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given, failed := outcome(t)
		r := operation.Settle(own{}, given, failed)
		e := journal.Event{Type: journal.CallResponded, Value: r.Output, Detail: &journal.Detail{
			About: r.About, Failure: r.Failure, RetryAt: r.RetryAt,
		}}
		if r.Failure != nil {
			require.Nil(t, r.Output)
		}
		var c journal.Codec
		data, encoding := c.Append(nil, &e)
		require.NoError(t, encoding)
		back, _, decoding := c.Decode(data)
		require.NoError(t, decoding)
		again, encoding := c.Append(nil, &back)
		require.NoError(t, encoding)
		require.Equal(t, data, again)
		if failed == nil {
			return
		}
		before, retryAt := operation.FailureOf(failed)
		after := e.Detail.Failure
		require.Equal(t, before.Code, after.Code)
		require.Equal(t, before.Message, after.Message)
		require.Equal(t, before.Retryable, after.Retryable)
		require.Equal(t, retryAt, e.Detail.RetryAt)
		require.Equal(t, errors.Is(failed, operation.ErrUnreachable), r.Unreachable)
		require.NotEmpty(t, after.Code)
		require.LessOrEqual(t, len(after.Message), operation.MessageMax+len("…"))
	})
}

func TestAnInvalidOutputFailsItsCall(t *testing.T) {
	for _, out := range invalidValues {
		f := operation.Settle(own{}, out, nil).Failure
		require.Equal(t, operation.CodeInvalidOutput, f.Code, "%T", out)
		require.False(t, f.Retryable)
	}
	for name, op := range map[string]interface{ Implementation() any }{
		"float": operation.Define("f", func(context.Context, any) (float64, error) { return math.NaN(), nil }),
		"struct": operation.Define("f", func(context.Context, any) (struct{ X float32 }, error) {
			return struct{ X float32 }{float32(math.Inf(1))}, nil
		}),
		"uint": operation.Define("f", func(context.Context, any) (uint64, error) { return math.MaxUint64, nil }),
		"any":  operation.Define("f", func(context.Context, any) (any, error) { return make(chan int), nil }),
		"pure": operation.DefinePure("f", func(any) (float64, error) { return math.NaN(), nil }),
	} {
		caller := op.Implementation().(operation.Caller)
		out, err := caller.Call(&operation.Call{})
		f := operation.Settle(caller, out, err).Failure
		require.Equal(t, operation.CodeInvalidOutput, f.Code, name)
	}
}

func TestThePanicOfAFailureIsInItsDetails(t *testing.T) {
	p := &usercode.Panic{Reason: "boom", Stack: "the stack"}
	f, _ := operation.FailureOf(fmt.Errorf("asked: %w", p))
	require.Equal(t, &journal.Failure{Code: operation.CodePanic, Message: "boom", Details: "the stack"}, f)
	f, _ = operation.FailureOf(&operation.Error{Code: "mine", Err: p})
	require.Equal(t, &journal.Failure{Code: "mine", Message: "panic: boom", Details: "the stack", Retryable: true}, f)
	f, _ = operation.FailureOf(&operation.Error{Code: "mine", Details: "others", Err: p})
	require.Equal(t, "others", f.Details)
}
