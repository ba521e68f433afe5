package kept

import (
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/value"
)

// The keys of an armed timer, as the work of a cell has it among the open intents. A call has no name of a timer.
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
