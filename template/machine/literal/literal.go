// Package literal finds the literals of rules that do not fit their types: a rule with one fails its cell whenever it is taken.
package literal

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Place is a value of a rule.
type Place struct {
	Name  string         // as the failure of an activation names it
	Type  *schema.Type   // that the value must have; nil: any
	Value *expr.Template // nil: null
}

// Misfits returns a warning, at the position of the rule, for each literal among its values that does not fit its type.
func Misfits(rule document.Pos, values []Place) (list document.Errors) {
	for _, p := range values {
		literal, isLiteral := value.Value(nil), true
		if p.Value != nil {
			literal, isLiteral = p.Value.Constant()
		}
		if !isLiteral || p.Type == nil {
			continue
		}
		if _, err := p.Type.Normalize(literal); err != nil {
			list.Add(&document.Error{Pos: rule, Msg: fmt.Sprintf("the rule always fails its cell: %s: %v", p.Name, err)})
		}
	}
	return list
}
