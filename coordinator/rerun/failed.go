package rerun

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// Failed returns the steps of a run that have failed, or were aborted, but not because of another step, unless a conditional has caught
// that. If there are none and the run has still not completed, for example because its output reads a missing value, a caught failure may
// be the reason: then Failed returns all steps that have failed or were aborted.
func Failed(root *reactive.Root) (steps []int32) {
	if root.Body() != nil {
		return nil
	}
	var all []int32
	eachStep(root, func(v int32) {
		if status := root.Status(v); !root.Final(v) || status != reactive.Failed && status != reactive.Aborted {
			return
		}
		all = append(all, v)
		if unfinished(root, v) {
			steps = append(steps, v)
		}
	})
	if status := root.RunStatus(); len(steps) == 0 && status.Terminal() && status != reactive.RunCompleted {
		return all
	}
	return steps
}

// nothingFailed is the error about a run without failed steps to repeat.
func (k *keeping) nothingFailed() error {
	if k.s.root.RunStatus() == reactive.RunFailed {
		return fmt.Errorf("%w: run %s has failed, and no step of it has: say from which step it runs again", decide.ErrNotPossible, k.s.id)
	}
	return fmt.Errorf("%w: nothing of run %s has failed: say from which step it runs again", decide.ErrNotPossible, k.s.id)
}

// unfinished reports whether a step has failed uncaught, has begun and not ended, or was aborted, but not because of another step: such a
// step runs again if the other one does.
func unfinished(root *reactive.Root, v int32) bool {
	switch root.Status(v) {
	case reactive.Idle, reactive.Waiting, reactive.Skipped:
		return false
	case reactive.Completed:
		return !root.Final(v)
	case reactive.Failed:
		return !root.Final(v) || !caught(root, v)
	case reactive.Aborted:
		n := root.Look(v)
		return n.Flags&ledger.Cascade == 0 && (n.Fact != ledger.NoFact || n.Flags&ledger.ByHand != 0)
	}
	return true
}

// caught reports whether a conditional has caught the failure of a step, or of a map around it.
func caught(root *reactive.Root, v int32) bool {
	for {
		if root.Caught(v) {
			return true
		}
		id, indexes, _ := plan.ParseKey(root.Key(v))
		row, ok := root.Plan().Row(id)
		if !ok || len(indexes) == 0 {
			return false
		}
		around := keyOf(root.Plan().Nodes[root.Plan().Nodes[row].Map].Key, indexes[:len(indexes)-1])
		if v, ok = root.Node(around); !ok {
			return false
		}
	}
}

// eachStep calls yield for the steps that a run has, in no order.
func eachStep(root *reactive.Root, yield func(v int32)) {
	for v := range root.Len() {
		if root.Status(v) != reactive.Absent && root.Row(v).Kind == plan.Step && root.Key(v) != "" {
			yield(v)
		}
	}
}
