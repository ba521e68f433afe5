package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Patch writes to the context of a playbook's run, all changes or none. The keys are paths such as `approved` or
// `limits.price`; missing objects on the way are created. Gates are then evaluated again. Other runs have no context: Patch
// returns ErrNotPossible.
func (r *Run) Patch(ctx context.Context, changes map[string]any) error {
	values := make(map[string]any, len(changes))
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		v, err := value.Own(changes[key])
		if err != nil {
			return fmt.Errorf("ctx.%s: %w", key, err)
		}
		values[key] = v
	}
	return r.command(ctx, journal.Event{Type: journal.ContextPatched, Value: values})
}
