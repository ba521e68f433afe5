package reactive

// places says what the nodes are: steps, maps and conditionals of the workflow, items of maps, or the calls of a routed run. It
// knows their names and their order.
type places struct {
	l      *Ledger
	blocks []block
	keys   []string // of instances in blocks, made when asked for
	maps   map[int32]*expansion
	routed *Calls // of a routed run; else nil
}

func newPlaces(l *Ledger) *places {
	return &places{l: l, blocks: []block{{owner: -1, parent: -1, row: -1}}, maps: map[int32]*expansion{}}
}
