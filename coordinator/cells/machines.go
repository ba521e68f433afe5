package cells

import (
	"context"

	"github.com/sluiceflow/sluice/reactive/world"
)

// Machines returns the names of the machines, sorted.
func (h Handle) Machines(ctx context.Context) ([]string, error) {
	return look(ctx, h.run, func(w *world.World) []string { return w.Definition().MachineNames() })
}
