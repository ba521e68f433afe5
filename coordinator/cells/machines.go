package cells

import (
	"context"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/world"
)

// Machines returns the names of the machines, sorted.
func (h Handle) Machines(ctx context.Context) ([]string, error) {
	var names []string
	isWorld := false
	if err := h.run.Look(ctx, func(root *reactive.Root) {
		if w := world.Of(root); w != nil {
			names, isWorld = w.Definition().MachineNames(), true
		}
	}); err != nil {
		return nil, err // the run may yet look
	}
	if !isWorld {
		return nil, decide.ErrNotWorld
	}
	return names, nil
}
