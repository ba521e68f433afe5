package expr_test

import (
	"testing"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// benchEnv is a minimal Env.
type benchEnv struct{ input, output value.Value }

func (e *benchEnv) Name(string) (value.Value, error)             { return e.input, nil }
func (e *benchEnv) Step(string, expr.Field) (value.Value, error) { return e.output, nil }

func BenchmarkEval(b *testing.B) {
	list := make([]any, 1000)
	for i := range list {
		list[i] = map[string]any{"n": int64(i % 20)}
	}
	e := &benchEnv{
		input:  map[string]any{"order": map[string]any{"price": int64(5)}, "limit": int64(10), "list": list, "name": "Ann"},
		output: map[string]any{"price": int64(5)},
	}
	for _, bm := range []struct {
		name string
		in   any
		want any
	}{
		{"constant", "{{ 1 + 1 }}", int64(2)},
		{"name", "{{ input }}", e.input},
		{"chain", "{{ input.order.price }}", int64(5)},
		{"step", "{{ steps.solicit.output.price }}", int64(5)},
		{"from", map[string]any{"from": "/input/order/price"}, int64(5)},
		{"compare", "{{ steps.solicit.output.price < input.limit }}", true},
		{"default", "{{ steps.solicit.output.none ?? 'none' }}", "none"},
		{"text", "{{ input.name }} has {{ input.limit }}", "Ann has 10"},
		{"object", map[string]any{"a": "{{ input.name }}", "b": "{{ input.limit }}", "c": true}, map[string]any{"a": "Ann", "b": int64(10), "c": true}},
		{"filter1000", "{{ len(filter(input.list, .n > 9)) }}", int64(500)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			tpl, err := expr.CompileValue(bm.in, scope)
			if err != nil {
				b.Fatal(err)
			}
			if got, err := tpl.Eval(e); err != nil || !value.Equal(got, bm.want) {
				b.Fatal(got, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tpl.Eval(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for name, in := range map[string]string{"literal": "just text", "chain": "{{ input.order.price }}", "compare": "{{ steps.solicit.output.price < input.limit }}"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := expr.Compile(in, scope); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
