package workflowdef

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// inputFrom returns the input of a step for its input_from: the output of one step, or an object of the outputs of several
// steps by their ids. The output of a skipped step is null. A read of an output makes an edge, which suffices for the order.
func (r *reader) inputFrom(step, from *document.Node) value.Value {
	input := step.Pos.Key("input")
	if from.Kind == document.String {
		r.Moved(input.Path, from.Pos.Path)
		r.Moved(input.Key("from").Path, from.Pos.Path)
		return output(r.Text(from))
	}
	if from.Kind != document.Sequence {
		r.Refuse(from, "input_from must be a step id or a list of them, not "+from.Kind.String())
		return nil
	}
	ids := r.Texts(from)
	outputs := make(map[string]any, len(ids))
	r.Moved(input.Path, from.Pos.Path)
	for i, id := range ids {
		at := from.Pos.Index(i).Path
		r.Moved(input.Key(id).Path, at)
		r.Moved(input.Key(id).Key("from").Path, at)
		outputs[id] = output(id)
	}
	if looksLikePointer(outputs) {
		return literal(ids)
	}
	return outputs
}

// output returns a pointer to a step's output.
func output(id string) value.Value {
	return map[string]any{"from": value.Pointer{"steps", id, "output"}.String()}
}

// looksLikePointer reports whether an object of outputs would itself be read as a pointer to one value: its steps are named
// from, or from and required.
func looksLikePointer(outputs map[string]any) bool {
	_, from := outputs["from"]
	_, required := outputs["required"]
	return from && (len(outputs) == 1 || required && len(outputs) == 2)
}

// literal returns the object of outputs as one expression, in which no key has a special meaning.
func literal(ids []string) value.Value {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for i, id := range ids {
		ids[i] = strconv.Quote(id) + ": steps[" + strconv.Quote(id) + "].output ?? null"
	}
	return "{{ {" + strings.Join(ids, ", ") + "} }}"
}
