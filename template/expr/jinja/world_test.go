package jinja_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// env is an environment of plain values.
type env map[string]any

func (e env) Name(name string) (value.Value, error) {
	v, ok := e[name]
	if !ok {
		return nil, jinja.ErrUndefined
	}
	if err, ok := v.(error); ok {
		return nil, err
	}
	return value.Of(v)
}

func (env) Step(string, expr.Field) (value.Value, error) { return nil, errors.New("no steps") }

var world = env{
	"n": 3, "f": 1.5, "s": "Widget", "yes": true, "no": false, "null": nil, "list": []any{3, 1, 2},
	"rows":  []any{map[string]any{"sku": "nut", "qty": 4}, map[string]any{"sku": "bolt", "qty": 9}},
	"ctx":   map[string]any{"n": 2, "text": "true", "deep": map[string]any{"k": "v"}},
	"pairs": []any{[]any{"a", 1}, []any{"b", 2}},
	"huge":  int64(9223372036854775807), "broken": errors.New("the disk is gone"),
}

// eval evaluates a text in the world, and checks that the result is of package value.
func eval(t require.TestingT, source string) (any, error) {
	c, err := jinja.Compile(source)
	require.NoError(t, err, source)
	v, err := c.Eval(world)
	if err == nil {
		same, oferr := value.Of(v)
		require.NoError(t, oferr, source)
		require.Equal(t, same, v, "%s gives a value of the model", source)
	}
	return v, err
}

// list makes a list of package value.
func list(items ...any) any {
	if items == nil {
		items = []any{}
	}
	v, _ := value.Of(items)
	return v
}

// given is a row of a table: a text and its value.
type given struct {
	source string
	want   any // of package value, except for ints
}

// check evaluates the rows of a table.
func check(t *testing.T, rows []given) {
	t.Helper()
	for _, row := range rows {
		got, err := eval(t, row.source)
		require.NoError(t, err, row.source)
		want, err := value.Of(row.want)
		require.NoError(t, err, row.source)
		require.Equal(t, want, got, row.source)
	}
}

// refused evaluates texts that compile and then fail, with parts of the errors.
func refused(t *testing.T, rows map[string]string) {
	t.Helper()
	for source, want := range rows {
		_, err := eval(t, source)
		require.ErrorContains(t, err, want, source)
		var e *expr.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, source, e.Text)
	}
}

// uncompiled compiles texts that are malformed, with parts of the errors.
func uncompiled(t *testing.T, rows map[string]string) {
	t.Helper()
	for source, want := range rows {
		_, err := jinja.Compile(source)
		require.ErrorContains(t, err, want, "%.80s", source)
		var e *expr.Error
		require.ErrorAs(t, err, &e)
	}
}
