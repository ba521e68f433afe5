// Package compiled compiles stored definitions, to derive the states of runs. It finds no operations: a run of such a plan can be
// read, but not driven.
package compiled

import (
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Plan compiles a definition. A panic is an error.
func Plan(definition any) (p *plan.Plan, err error) {
	err = usercode.Call(func() error {
		data, err := value.JSON(definition)
		if err != nil {
			return err
		}
		w, err := kinds.ParseStored(data)
		if err != nil {
			return err
		}
		checked, err := template.Check(w, template.Known{Lenient: true})
		if err != nil {
			return err
		}
		p, err = plan.Compile(checked)
		return err
	})
	return p, err
}
