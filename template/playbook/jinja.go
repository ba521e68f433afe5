package playbook

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// theirs compiles the expressions of Jinja's dialect. An unknown name is undefined there, not a fault: the input of a run
// may define it. So only the keychain, which must not be read everywhere, is checked.
func theirs(v value.Value, names []string) (Expr, error) {
	t, err := jinja.CompileValue(v)
	if err != nil {
		return nil, err
	}
	if slices.Contains(t.Names(), keychainName) && !slices.Contains(names, keychainName) {
		return nil, &expr.Error{Text: keychainName, Msg: "only tools can read the keychain: values read here are visible to everyone"}
	}
	return t, nil
}

// Outlines returns the outlines of the expressions in a text of the document, as package expr's Outlines does.
func (p *Playbook) Outlines(text string) (list []*expr.Outline, alone bool, err error) {
	if p.Jinja {
		return jinja.Outlines(text)
	}
	return expr.Outlines(text)
}

// otherNames maps the names of that dialect for the ends of steps.
var otherNames = strings.NewReplacer(
	`'call.done'`, `'step.done'`, `"call.done"`, `"step.done"`, `'call.error'`, `'step.failed'`, `"call.error"`, `"step.failed"`,
)

// ourNames replaces the names for the ends of steps in a guard by those of this package.
func ourNames(guard value.Value) value.Value {
	if text, ok := guard.(string); ok {
		return otherNames.Replace(text)
	}
	return guard
}
