// Package bodies has the kinds of reactive.Body: what decides the calls of a run whose workflow has a template.Routing. A new
// kind is a line of its table.
package bodies

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
)

// kinds has the constructor of roots by the kind of a workflow's routing.
var kinds = map[string]func(*plan.Plan) *reactive.Root{
	playbook.Kind: net.New,
}

// NewRoot returns the root of a run that has no events yet, with the body that its workflow's routing asks for; a workflow
// without routing has none. The routing must be of a known kind.
func NewRoot(p *plan.Plan) *reactive.Root {
	if routing := p.Workflow.Routing; routing != nil {
		return kinds[routing.Kind()](p)
	}
	return reactive.New(p)
}
