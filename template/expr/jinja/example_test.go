package jinja_test

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

func Example() {
	guard, err := jinja.Compile("{{ (rows | first).qty | int < limit and event.name == 'step.done' }}")
	if err != nil {
		panic(err)
	}
	fmt.Println(guard.EvalBool(env{
		"rows": []any{map[string]any{"qty": "4"}}, "limit": 5, "event": map[string]any{"name": "step.done"},
	}))
	// Output: true <nil>
}

func ExampleCompile() {
	orders := env{"rows": []any{map[string]any{"sku": "nut", "qty": 4}, map[string]any{"sku": "bolt", "qty": 9}}}
	for _, text := range []string{
		"{{ rows | sum('qty') / 2 }}",
		"half of all: {{ rows | sum('qty') / 2 }}",
		"{{ rows | sort(attribute='sku') | map(attribute='sku') | join(', ') }}",
		"{% for row in rows %}",
		"{{ rows | sort(atribute='sku') }}",
	} {
		t, err := jinja.Compile(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		v, err := t.Eval(orders)
		fmt.Printf("%T %v %v\n", v, v, err)
	}
	// Output:
	// float64 6.5 <nil>
	// string half of all: 6.5 <nil>
	// string bolt, nut <nil>
	// malformed expression {% for row in rows %}: statements {% … %} are not read: only expressions {{ … }} are
	// malformed expression {{ rows | sort(atribute='sku') }}: filter sort takes no atribute (did you mean "attribute"?)
}

func ExampleCompileValue() {
	t, _ := jinja.CompileValue(map[string]any{"to": "{{ name | lower }}@example.org", "count": "{{ (rows | default([])) | length }}", "kind": "mail"})
	fmt.Println(t.Names())
	v, err := t.Eval(env{"name": "Ann"})
	fmt.Println(value.Text(v), err)
	// Output:
	// [rows name]
	// {"count":0,"kind":"mail","to":"ann@example.org"} <nil>
}

// Exactly one of a guard and its opposite holds, even for texts.
func ExampleTemplate_EvalBool() {
	for _, text := range []string{"{{ flag }}", "{{ not flag }}", "{{ flag or ready }}", "flag: {{ flag }}"} {
		t, _ := jinja.Compile(text)
		no, _ := t.EvalBool(env{"flag": "No", "ready": true})
		yes, _ := t.EvalBool(env{"flag": "abc", "ready": false})
		fmt.Println(text, no, yes)
	}
	// Output:
	// {{ flag }} false true
	// {{ not flag }} true false
	// {{ flag or ready }} true true
	// flag: {{ flag }} false false
}

func ExampleTemplate_Keys() {
	t, _ := jinja.Compile("{{ ctx.total > ctx.get('limit', 5) and args is defined }}")
	fmt.Println(t.Keys("ctx"))
	fmt.Println(t.Keys("args"))
	// Output:
	// [limit total] false
	// [] true
}

func ExampleTemplate_Constant() {
	t, _ := jinja.Compile("plain text")
	fmt.Println(t.Constant())
	t, _ = jinja.Compile("{{ 1 + 1 }}")
	fmt.Println(t.Constant())
	// Output:
	// plain text true
	// <nil> false
}

func ExampleOutlines() {
	list, alone, err := jinja.Outlines("{{ steps.count | default(0) < 3 }}")
	fmt.Println(len(list), alone, err)
	fmt.Println(list[0].Args[0].Args[0].Path, list[0].Args[1].Value)
	// Output:
	// 1 true <nil>
	// [steps count] 3
}
