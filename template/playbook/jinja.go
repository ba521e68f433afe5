package playbook

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// compileJinja compiles the expressions of Jinja's dialect. An unknown name is undefined there, and not a fault: the input of a run
// may define it. Only the keychain is checked, because most expressions must not read it.
func compileJinja(v value.Value, names []string) (Expr, error) {
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

// jinjaEventNames replaces the names that Jinja's dialect has for the ends of steps by the names of this package.
var jinjaEventNames = strings.NewReplacer(
	`'call.done'`, `'step.done'`, `"call.done"`, `"step.done"`, `'call.error'`, `'step.failed'`, `"call.error"`, `"step.failed"`,
)

// withOurEventNames applies otherNames to a guard.
func withOurEventNames(guard value.Value) value.Value {
	if text, ok := guard.(string); ok {
		return jinjaEventNames.Replace(text)
	}
	return guard
}
