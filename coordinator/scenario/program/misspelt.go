package program

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
)

// misspelt returns the faults of names that the script has operations for, and that no step has, if one is nearly so named. Without it the
// step would be carried out as it is bound. Names of no such step may be for other workflows, and those of child runs are not known.
func (b *binder) misspelt() error {
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
	var open []string // names that the script does not have
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
