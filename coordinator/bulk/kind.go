package bulk

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/playbook"
)

// kinds says why runs of a kind are refused, by verb. All verbs can be done to the runs of steps.
var kinds = map[string]map[string]string{
	playbook.Kind: {
		verbRetry: "it is a playbook, which has no attempt to repeat: start it again",
		verbRerun: "it is a playbook, which is rerun from one of its events: sluice rerun RUN --at N",
	},
	machine.Kind: {
		verbRetry: "it is a world: retry its cells one by one",
		verbRerun: "it is a world: to have a cell go on that has failed, retry it",
		verbMove:  "it is a world, which cannot be moved to another version",
	},
}

// unfit is the outcome of a run of a kind to which a verb cannot be done; the zero Outcome: it can.
func unfit(verb string, h *journal.Head) (o Outcome) {
	if why := kinds[h.Kind][verb]; why != "" {
		return Outcome{Result: Refused, Why: why}
	}
	return o
}
