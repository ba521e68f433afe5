package expected

import (
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/steps"
)

// Requests returns the calls of a world in the order of their first requests, each by its cell and effect, and the indexes of the
// requesting events. It does not count further attempts of a call.
func Requests(events []journal.Event) (names []string, at []int) {
	seen := map[string]bool{}
	for i := range events {
		if e := &events[i]; e.Type == journal.CallRequested && !seen[e.Node] {
			seen[e.Node] = true
			names, at = append(names, program.EffectName(e.Node)), append(at, i)
		}
	}
	return names, at
}

// Raised returns the names of the events that the cells of a world raised, in order, and for each the index of the activation that
// raised it.
func Raised(events []journal.Event) (names []string, at []int) {
	for i := range events {
		if e := &events[i]; e.Type == journal.CellStepped {
			for _, r := range steps.Read(e).Raised {
				names, at = append(names, r.Event), append(at, i)
			}
		}
	}
	return names, at
}
