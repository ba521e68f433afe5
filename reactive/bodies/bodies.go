// Package bodies constructs the roots of all kinds of workflow, each with its reactive.Body. A new kind of body needs one line
// in its table.
package bodies

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
)

// kinds maps the kind of a workflow's routing to the constructor of its roots.
var kinds = map[string]func(*plan.Plan) *reactive.Root{
	playbook.Kind: net.New,
	machine.Kind:  world.New,
}

// NewRoot returns the root of a run without events, with the body that the workflow's routing requires; a workflow without
// routing has no body. The routing must be of a known kind.
func NewRoot(p *plan.Plan) *reactive.Root {
	if routing := p.Workflow.Routing; routing != nil {
		return kinds[routing.Kind()](p)
	}
	return reactive.New(p)
}
