package expr_test

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// orders is a small Env: an input and two steps, of which one was skipped.
type orders struct{}

func (orders) Name(string) (value.Value, error) {
	return map[string]any{"name": "Ann", "limit": int64(10), "lines": []any{int64(3), int64(4)}}, nil
}

func (orders) Step(id string, f expr.Field) (value.Value, error) {
	switch {
	case id == "contract" && f == expr.Output:
		return nil, expr.ErrNoOutput
	case f == expr.Output:
		return map[string]any{"price": int64(8)}, nil
	}
	return "completed", nil
}

func Example() {
	scope := expr.Scope{Names: []string{"input"}}
	for _, text := range []string{
		"{{ steps.solicit.output.price < input.limit }}",
		"{{ sum(input.lines) / 2 }}",
		"Dear {{ input.name }}, {{ len(input.lines) }} lines",
		"{{ steps.contract.output.id ?? 'none' }}",
	} {
		t, err := expr.Compile(text, scope)
		if err != nil {
			panic(err)
		}
		v, err := t.Eval(orders{})
		fmt.Printf("%T %v %v\n", v, v, err)
	}
	// Output:
	// bool true <nil>
	// float64 3.5 <nil>
	// string Dear Ann, 2 lines <nil>
	// string none <nil>
}

func ExampleCompile_errors() {
	_, err := expr.Compile("{{ inptu.limit + }} {{ steps.split.outptu }} {{ totl }}", expr.Scope{Names: []string{"input", "total"}})
	fmt.Println(err)
	// Output:
	// malformed expression {{ inptu.limit + }}: unexpected end
	// unknown field "outptu" of a step (did you mean "output"?)
	// unknown name "totl" (did you mean "total"?)
}

func ExampleCompileValue() {
	t, _ := expr.CompileValue(map[string]any{
		"price": map[string]any{"from": "/steps/solicit/output/price"},
		"for":   "{{ input.name }}",
		"count": 2,
	}, expr.Scope{Names: []string{"input"}})
	for _, r := range t.Reads() {
		fmt.Println(r.Step, r.Field, r.Text)
	}
	v, err := t.Eval(orders{})
	fmt.Println(value.Text(v), err)
	// Output:
	// solicit output /steps/solicit/output/price
	// {"count":2,"for":"Ann","price":8} <nil>
}

func ExampleTemplate_EvalBool() {
	t, _ := expr.Compile("{{ steps.contract.output.ok }}", expr.Scope{})
	_, err := t.EvalBool(orders{})
	fmt.Println(errors.Is(err, expr.ErrNoOutput))
	t, _ = expr.Compile("{{ 1 + 1 }}", expr.Scope{})
	_, err = t.EvalBool(orders{})
	fmt.Println(err)
	// Output:
	// true
	// a condition must give true or false, but it gave an integer (2)
}

func ExampleNearest() {
	name, ok := expr.Nearest("splt", []string{"screen", "split", "pay"})
	fmt.Println(name, ok)
	// Output: split true
}
