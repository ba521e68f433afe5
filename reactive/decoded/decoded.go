// Package decoded caches decoded values.
package decoded

import "github.com/sluiceflow/sluice/template/value"

// Outputs caches decoded outputs of nodes. A run holds outputs encoded, and an expression that reads one for each item of a
// map must not decode it each time.
type Outputs struct {
	outputs map[int32]output
	order   []int32 // its keys, oldest first
	nodes   int
}

type output struct {
	of    *byte // start of the encoding, which differs between attempts
	v     value.Value
	nodes int
}

// nodesMax bounds the nodes of all cached values.
const nodesMax = value.NodesMax / 4

// Open returns an output of a node as a value.
func (o *Outputs) Open(v int32, held any) any {
	encoded, ok := held.(value.Raw)
	if !ok || len(encoded) == 0 {
		return held
	}
	if known, ok := o.outputs[v]; ok && known.of == &encoded[0] {
		return known.v
	}
	out := value.Unpack(encoded)
	nodes, err := value.Nodes(out, nodesMax)
	if err == nil && nodes <= nodesMax {
		o.keep(v, output{&encoded[0], out, nodes})
	}
	return out
}

func (o *Outputs) keep(v int32, out output) {
	if o.outputs == nil {
		o.outputs = map[int32]output{}
	}
	for o.nodes+out.nodes > nodesMax && len(o.order) > 0 {
		o.nodes -= o.outputs[o.order[0]].nodes
		delete(o.outputs, o.order[0])
		o.order = o.order[1:]
	}
	if former, ok := o.outputs[v]; ok {
		o.nodes -= former.nodes
	} else {
		o.order = append(o.order, v)
	}
	o.outputs[v] = out
	o.nodes += out.nodes
}
