package workflowdef

import (
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// arrange puts records into a tree: the list itself if each record follows the one before it, otherwise parallel chains of such
// records. Needs and reads of outputs order the chains. Template order is the order of the list in both cases, and determines
// the order of steps that could start at the same moment.
func arrange(records []record, at document.Pos) []template.Node {
	var chains []template.Node
	for from := 0; from < len(records); {
		to := from + 1
		for to < len(records) && records[to].follows {
			to++
		}
		if from == 0 && to == len(records) {
			return nodes(records)
		}
		chains = append(chains, chain(records[from:to]))
		from = to
	}
	if chains == nil {
		return []template.Node{}
	}
	return []template.Node{&template.Parallel{Steps: chains, Pos: at}}
}

// chain returns a step, or a sequence of several.
func chain(records []record) template.Node {
	if len(records) == 1 {
		return records[0].Step
	}
	return &template.Sequential{Steps: nodes(records), Pos: records[0].Pos}
}

func nodes(records []record) []template.Node {
	steps := make([]template.Node, len(records))
	for i, r := range records {
		steps[i] = r.Step
	}
	return steps
}
