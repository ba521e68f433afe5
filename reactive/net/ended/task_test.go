package ended_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/ended"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// fixed is an expression with a constant value, or an error.
type fixed struct {
	playbook.Expr
	v   value.Value
	err error
}

func (f fixed) Eval(expr.Env) (value.Value, error) { return f.v, f.err }

func (f fixed) EvalBool(expr.Env) (bool, error) {
	yes, _ := f.v.(bool)
	return yes, f.err
}

var errBroken = errors.New("broken")

func TestTheFirstRuleThatHoldsDecides(t *testing.T) {
	no, yes, broken := fixed{v: false}, fixed{v: true}, fixed{err: errBroken}
	failed := &journal.Failure{Code: "x"}
	for _, c := range []struct {
		name    string
		task    playbook.Task
		failure *journal.Failure
		rule    int // -1: none
		do      playbook.Do
		err     error
	}{
		{"the first that holds", playbook.Task{Rules: []playbook.Rule{{When: no, Do: playbook.Fail}, {When: yes, Do: playbook.Jump}, {Do: playbook.Break}}}, nil, 1, playbook.Jump, nil},
		{"an else", playbook.Task{Rules: []playbook.Rule{{When: no, Do: playbook.Fail}, {Do: playbook.Break}, {When: broken}}}, nil, 1, playbook.Break, nil},
		{"one that cannot be read", playbook.Task{Rules: []playbook.Rule{{When: broken}, {Do: playbook.Break}}}, nil, -1, "", errBroken},
		{"success without a policy", playbook.Task{}, nil, -1, playbook.Continue, nil},
		{"a failure without a policy", playbook.Task{}, failed, -1, playbook.Fail, nil},
		{"a failure that no rule is about", playbook.Task{HasPolicy: true, Rules: []playbook.Rule{{When: no}}}, failed, -1, playbook.Continue, nil},
		{"the same where that fails the step", playbook.Task{HasPolicy: true, Unmatched: true}, failed, -1, playbook.Fail, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ended.Task{Task: &c.task, Failure: c.failure}
			rule, do, err := o.Rule(nil)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.do, do)
			if c.rule < 0 {
				require.Nil(t, rule)
			} else {
				require.Same(t, &c.task.Rules[c.rule], rule)
			}
		})
	}
}

func TestDelaysGrowAndEnd(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	for _, c := range []struct {
		rule playbook.Rule
		n    int
		want time.Duration
		says string
	}{
		{playbook.Rule{}, 3, time.Second, ""},
		{playbook.Rule{Delay: fixed{v: int64(2)}}, 3, 2 * time.Second, ""},
		{playbook.Rule{Delay: fixed{v: 0.5}, Backoff: playbook.BackoffLinear}, 3, 1500 * time.Millisecond, ""},
		{playbook.Rule{Delay: fixed{v: "2"}, Backoff: playbook.BackoffExponential}, 3, 8 * time.Second, ""},
		{playbook.Rule{Delay: fixed{v: int64(1)}, Backoff: playbook.BackoffExponential}, 100_000, century, ""},
		{playbook.Rule{Delay: fixed{v: int64(0)}, Backoff: playbook.BackoffExponential}, 100_000, 0, ""},
		{playbook.Rule{Delay: fixed{v: int64(-1)}}, 1, 0, "must not be negative"},
		{playbook.Rule{Delay: fixed{v: "NaN"}}, 1, 0, "must not be negative"},
		{playbook.Rule{Delay: fixed{v: "soon"}}, 1, 0, `must be a number of seconds, not "soon"`},
		{playbook.Rule{Delay: fixed{v: "inf"}}, 1, 0, `must be a number of seconds, not "inf"`},
		{playbook.Rule{Delay: fixed{v: true}}, 1, 0, "must be a number of seconds, not a boolean"},
		{playbook.Rule{Delay: fixed{err: errBroken}}, 1, 0, "broken"},
	} {
		d, err := ended.Delay(&c.rule, c.n, nil)
		require.Equal(t, c.want, d)
		if c.says == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.says)
		}
	}
}

func TestAnHTTPAnswerIsItsBody(t *testing.T) {
	headers := map[string]any{"a": "b"}
	answer := map[string]any{"status": int64(200), "headers": headers, "body": "text"}
	http := map[string]any{"http": map[string]any{"status": int64(200), "headers": headers}}

	o := ended.Task{Result: answer}
	o.Unwrap()
	require.Equal(t, ended.Task{Result: "text", About: http}, o)
	taken := ended.Task{Result: answer, About: http}
	taken.Unwrap()
	require.Equal(t, answer, taken.Result, "a body may look like an answer")

	failed := ended.Task{Result: "kept", Failure: &journal.Failure{Code: "http_status", Details: answer}}
	failed.Unwrap()
	require.Equal(t, http, failed.About)
	require.Equal(t, "kept", failed.Result)

	for _, result := range []any{map[string]any{"status": int64(200)}, map[string]any{"headers": headers}, "text", nil} {
		other := ended.Task{Result: result}
		other.Unwrap()
		require.Equal(t, ended.Task{Result: result}, other)
	}
}

func TestAFailureIsNamedAfterItsKind(t *testing.T) {
	plain := &journal.Failure{Code: "x", Message: "m"}
	require.Same(t, plain, ended.Kinded(plain))
	kinded := ended.Kinded(&journal.Failure{Code: "x", Message: "m", Details: map[string]any{"kind": "timeout"}})
	require.Equal(t, "timeout", kinded.Code)
	require.Equal(t, "m", kinded.Message)
	require.Equal(t, map[string]any{"kind": "timeout", "code": "timeout", "message": "m", "retryable": false, "details": map[string]any{"kind": "timeout"}},
		ended.Error(kinded))
	require.Nil(t, ended.Error(nil))
}
