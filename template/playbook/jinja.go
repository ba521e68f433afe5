package playbook

import (
	"strings"

	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// theirs compiles the expressions of Jinja's dialect. A name that nobody knows is undefined there, and no mistake: what a
// run is started with may bring it.
func theirs(v value.Value, _ []string) (Expr, error) {
	t, err := jinja.CompileValue(renamed(v))
	if err != nil {
		return nil, err
	}
	return t, nil
}

// otherNames are what that dialect calls the ends of steps.
var otherNames = strings.NewReplacer(
	`'call.done'`, `'step.done'`, `"call.done"`, `"step.done"`, `'call.error'`, `'step.failed'`, `"call.error"`, `"step.failed"`,
)

// renamed is a value whose expressions use our names for the ends of steps.
func renamed(v value.Value) value.Value {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "{{") {
			return otherNames.Replace(v)
		}
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = renamed(x)
		}
		return list
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = renamed(x)
		}
		return out
	}
	return v
}
