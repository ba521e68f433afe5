package program

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
)

// misspeltNames returns the probably misspelt names in the script: no step has the name, but a step that the script does not answer has
// a similar one. The engine itself would carry out that step. Names without a similar step may belong to other workflows. misspelt
// skips playbooks, child runs and runs with children, whose names it does not know.
func (b *binder) misspeltNames() error {
	if b.path != "" || b.w.Routing != nil {
		return nil
	}
	names, hasChild := map[string]bool{}, false
	eachStep(b.w.Steps, func(s *template.Step) {
		operation := Operation(s.Operation)
		names[s.ID], names[operation] = true, true
		hasChild = hasChild || b.w.Operations[operation].Workflow != nil
	})
	if hasChild {
		return nil
	}
	var open []string // names of steps that the script does not answer
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !b.operations.Has("", name, name) {
			open = append(open, name)
		}
	}
	var errs document.Errors
	for _, name := range slices.Sorted(maps.Keys(b.operations)) {
		if near, ok := expr.Nearest(script.Stem(name), open); ok && !names[script.Stem(name)] {
			errs.Add(&document.Error{Pos: b.w.Pos, Text: name, Suggestion: near, Msg: "no step has the name or operation " + document.Quote(name) + " of the script"})
		}
	}
	return errs.Err()
}
