package expr_test

import (
	"strings"
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
	require.Equal(t, 4*once, env.meter.Spent(), "what is refused takes nothing")
	env.meter.Free()
	_, err = tpl.Eval(env)
	require.NoError(t, err)
}

// A constant is kept for as long as its document is: a thousand of 30 MB each were 30 GB.
func TestALargeConstantIsNotMadeWhenCompiled(t *testing.T) {
	tpl, err := expr.Compile("{{ repeat('x', 100000) }}", expr.Scope{})
	require.NoError(t, err)
	_, fixed := tpl.Constant()
	require.False(t, fixed)
	v, err := tpl.Eval(nil)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x", 100_000), v)
}
