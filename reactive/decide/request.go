package decide

import (
	"cmp"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
)

// Operation returns the operation that a request of a run calls, by its index in the plan.
func Operation(root *reactive.Root, req reactive.Request) int32 {
	if req.Decision != 0 {
		return root.Place(req.Node).Decision
	}
	return root.Row(req.Node).Op
}

// CallFor fills in to with the call of a request. to must be zero.
func CallFor(root *reactive.Root, req reactive.Request, to *call.Request) {
	start := root.Start()
	to.Run, to.Identity, to.Dir = start.Run, start.Identity, start.Dir
	to.Node, to.Attempt, to.Participant, to.Decision = root.Key(req.Node), req.Attempt, req.Participant, req.Decision
	to.Operation = root.Plan().Operations[Operation(root, req)].Name
	if req.Decision != 0 {
		to.Input, _ = root.DecisionInput(req.Node)
		return
	}
	to.Asked = root.NewKey(to.Node)
	to.Input, to.Making = root.Requested(req.Node), root.Making(req)
	if body := root.Body(); body != nil {
		to.Secrets, to.Asked = body.Secrets(req.Node), cmp.Or(to.Asked, root.Cells().Asked(req.Node))
	}
}
