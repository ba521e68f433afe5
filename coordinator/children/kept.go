package children

import (
	"context"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// kept returns the results that the child of a rerun keeps: they are in the journal of the run above, under keys that begin with the
// step. Only the first child of a step keeps results; the child of another attempt runs all steps.
func (c *Children) kept(ctx context.Context, call *operation.Call) (from *journal.From, kept []journal.Event, err error) {
	if call.Attempt != 1 || call.Participant != "" || call.Decision != 0 {
		return nil, nil, nil
	}
	for e, err := range c.Reader.Kept(ctx, call.Run) {
		if err != nil {
			return nil, nil, err
		}
		rest, ok := strings.CutPrefix(e.Node, call.Node+"/")
		if !ok {
			continue
		}
		if from == nil {
			from = &journal.From{}
		}
		if k := e.Detail; from.Run == "" && k != nil && k.Kept != nil && !strings.Contains(rest, "/") {
			from.Run = k.Kept.Run
		}
		e.Node = rest
		kept = append(kept, e)
	}
	if from != nil {
		from.Kept = int32(len(kept))
	}
	return from, kept, nil
}
