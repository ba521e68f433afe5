package reactive

import "github.com/sluiceflow/sluice/template/value"

// opened caches decoded outputs of nodes. The run holds outputs encoded, and an expression that reads one for each item of a
// map must not decode it each time.
type opened struct {
	outputs map[int32]openedOutput
	order   []int32 // its keys, oldest first
	nodes   int
}

type openedOutput struct {
	of    *byte // the start of the encoding, which differs between attempts
	v     value.Value
	nodes int
}

// openedNodesMax bounds the nodes of all cached values.
const openedNodesMax = value.NodesMax / 4

// open returns an output as a value.
func (o *opened) open(v int32, output any) any {
	encoded, ok := output.(value.Raw)
	if !ok || len(encoded) == 0 {
		return output
	}
	if known, ok := o.outputs[v]; ok && known.of == &encoded[0] {
		return known.v
	}
	out := value.Unpack(encoded)
	nodes, err := value.Nodes(out, openedNodesMax)
	if err == nil && nodes <= openedNodesMax {
		o.keep(v, openedOutput{&encoded[0], out, nodes})
	}
	return out
}

func (o *opened) keep(v int32, out openedOutput) {
	if o.outputs == nil {
		o.outputs = map[int32]openedOutput{}
	}
	for o.nodes+out.nodes > openedNodesMax && len(o.order) > 0 {
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
