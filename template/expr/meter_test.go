package expr_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// counted is an environment whose evaluations are counted.
type counted struct{ meter expr.Meter }

func (c *counted) Name(string) (value.Value, error)             { return int64(1000), nil }
func (c *counted) Step(string, expr.Field) (value.Value, error) { return nil, nil }
func (c *counted) Meter() *expr.Meter                           { return &c.meter }

func TestEvaluationsAreBoundedTogether(t *testing.T) {
	tpl, err := expr.Compile("{{ len(repeat('x', 1000 * n)) }}", expr.Scope{Names: []string{"n"}})
	require.NoError(t, err)
	env := &counted{}
	_, err = tpl.Eval(env)
	require.NoError(t, err)
	once := env.meter.Spent()
	require.Greater(t, once, 1_000_000/16)

	env.meter.Bound(3 * once)
	for range 3 {
		_, err = tpl.Eval(env)
		require.NoError(t, err)
	}
	_, err = tpl.Eval(env)
	require.ErrorIs(t, err, expr.ErrLimit)
	_, err = tpl.EvalBool(env)
	require.ErrorIs(t, err, expr.ErrLimit)
	require.Equal(t, 4*once, env.meter.Spent(), "a refused evaluation takes no work")
	env.meter.Free()
	_, err = tpl.Eval(env)
	require.NoError(t, err)
}

// An evaluation that would take more than is left fails, and the meter shows that it was too much.
func TestCappedEvaluationsTakeNoMoreThanIsLeft(t *testing.T) {
	for _, text := range []string{"{{ len(1..(1000 * n)) }}", "{{ count(1..n, count(1..300, # > 1) > 1) }}", "{{ len(repeat('x', 10000 * n)) }}"} {
		tpl, err := expr.Compile(text, expr.Scope{Names: []string{"n"}})
		require.NoError(t, err)
		env := &counted{}
		env.meter.Cap(4_000_000)
		_, err = tpl.Eval(env)
		require.NoError(t, err)
		once := env.meter.Spent()

		env.meter.Cap(once)
		_, err = tpl.Eval(env)
		require.NoError(t, err)
		const left = 10_000
		require.Greater(t, once, 2*left)
		env.meter.Cap(left)
		before := env.meter.Spent()
		_, err = tpl.Eval(env)
		require.ErrorIs(t, err, expr.ErrLimit)
		require.Greater(t, env.meter.Spent()-before, left, text)
		require.Less(t, env.meter.Spent()-before, 3*left, text)
		_, err = tpl.Eval(env)
		require.ErrorIs(t, err, expr.ErrLimit, "nothing is left")
	}
}

// A document may have ten thousand of them, each made when it was read.
func TestALargeConstantIsNotMadeWhenCompiled(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		_, err := expr.Compile("{{ repeat('x', 30000000) }}", expr.Scope{})
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(100), "MiB allocated")
}
