package reactive

import (
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/plan"
)

// places says what the nodes are: steps, maps and conditionals of the workflow, items of maps, or the calls of a routed run. It
// knows their names and their order.
type places struct {
	l      ledger.Keeper
	plan   *plan.Plan
	bank   *signals.Bank
	blocks []block
	keys   []string // of instances in blocks, made when asked for
	maps   map[int32]*expansion
	routed *Calls // of a routed run; else nil
}

func newPlaces(l ledger.Keeper, p *plan.Plan, bank *signals.Bank) *places {
	return &places{l: l, plan: p, bank: bank, blocks: []block{{owner: -1, parent: -1, row: -1}}, maps: map[int32]*expansion{}}
}
