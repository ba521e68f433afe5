package expected

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
)

// UnknownCall returns the reason why no call of a world can have a name in a scenario; "": one can. It is a name by cell, such as
// `order[o-1].pay`, by machine, by effect, or of an operation.
func UnknownCall(w *world.World, name string) string {
	def := w.Definition()
	var known []string
	for _, e := range def.Effects {
		known = append(known, e.Call.ID, program.Operation(e.Call.Operation))
		for _, m := range def.Machines {
			if m.MayEmit(e.Name) {
				known = append(known, machine.Escape(m.Name)+"."+e.Call.ID)
			}
		}
		if cell, ok := strings.CutSuffix(name, "."+e.Call.ID); ok {
			if m, _, err := def.ParseAddress(cell); err == nil && m.MayEmit(e.Name) {
				return ""
			}
		}
	}
	if slices.Contains(known, name) {
		return ""
	}
	text := fmt.Sprintf("unknown effect %q", name)
	if near, ok := expr.Nearest(name, known); ok {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return text
}
