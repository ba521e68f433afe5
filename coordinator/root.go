package coordinator

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
)

// NewRoot makes the root of a run that has no events yet, whatever decides the order of its steps.
func NewRoot(p *plan.Plan) *reactive.Root {
	if _, ok := p.Workflow.Routing.(*playbook.Playbook); ok {
		return net.New(p)
	}
	return reactive.New(p)
}
