package kept

import (
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/value"
)

// The keys of an armed timer among the open intents in the work of a cell. A call has no Timer.
const (
	Open  = "open"
	Key   = "key"
	Order = "order"
	Timer = "timer"
	Due   = "due"
)

// timersIn returns the armed timers in the work of a cell.
func timersIn(work value.Value, address string) ([]*trie.Deadline, error) {
	r := &Reader{}
	var list []*trie.Deadline
	for _, v := range r.List(r.Object(work)[Open]) {
		x := r.Object(v)
		if _, isTimer := x[Timer]; isTimer {
			list = append(list, &trie.Deadline{Due: r.Int(x[Due]), Order: uint64(r.Int(x[Order])), Cell: address, Node: r.Text(x[Key])})
		}
	}
	return list, r.Err
}
