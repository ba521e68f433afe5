package inspect

import (
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Routed is the state of a run with routed steps.
type Routed struct {
	Counts  routed.Counts          // since the start of the run
	Context map[string]value.Value // `ctx` of its expressions; shared, must not be changed
}

// routedStates returns the states of routed steps, each followed by the open calls of its runs.
func routedStates(steps reactive.Steps, calls []StepState) []StepState {
	var list []StepState
	loops := map[string]*routed.Wait{}
	for _, w := range steps.Waits() {
		if w.Kind == routed.ForItems {
			loops[w.Step] = &w
		}
	}
	for _, name := range steps.Names() {
		s, _ := steps.StepNow(name)
		state := StepState{
			Step: s.Step, Kind: plan.Step, Status: s.Status, Runs: s.Runs, Live: s.Live, Tokens: s.Pending + s.Held,
		}
		if s.Status == reactive.Completed {
			state.Output = s.Result
		}
		if s.Status == reactive.Failed {
			state.Failure = s.Failure
		}
		if w := loops[s.Step]; w != nil {
			state.ItemsDone, state.Items = w.Done, w.Total
		}
		list = append(list, state)
		for _, c := range calls {
			if strings.HasPrefix(c.Step, s.Step+"@") {
				c.Depth = 1
				list = append(list, c)
			}
		}
	}
	return list
}
