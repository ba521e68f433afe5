package bulk

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/playbook"
)

// kinds has, for kinds of runs, the reasons to refuse verbs. Runs of steps take all verbs.
var kinds = map[string]map[string]string{
	playbook.Kind: {
		verbRetry: "it is a playbook, which has no attempt to repeat: start it again",
		verbRerun: "it is a playbook, which is rerun from one of its events: sluice rerun RUN --at N",
	},
	machine.Kind: {
		verbRetry: "it is a world: retry its cells one by one",
		verbRerun: "it is a world: retry its failed cells",
		verbMove:  "it is a world, which cannot be moved to another version",
	},
}

// unfit is the outcome of a run that, by its kind, does not take a verb; the zero Outcome: it does.
func unfit(verb string, h *journal.Head) (o Outcome) {
	if why := kinds[h.Kind][verb]; why != "" {
		return Outcome{Result: Refused, Why: why}
	}
	return o
}
