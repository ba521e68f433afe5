package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Patch writes to the context of a playbook's run. The keys are paths such as `approved` or `limits.price`, whose objects
// are made where they are missing; everything is written, or nothing. Tokens that wait at gates look again. A run of any
// other workflow has no context: ErrNotPossible.
func (r *Run) Patch(ctx context.Context, changes map[string]any) error {
	values := make(map[string]any, len(changes))
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		v, err := value.Own(changes[key])
		if err != nil {
			return fmt.Errorf("ctx.%s: %w", key, err)
		}
		values[key] = v
	}
	return r.wish(ctx, journal.Event{Type: journal.ContextPatched, Value: values})
}
