package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net"
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

// refusePatch says why a context cannot be written to.
func (s *Stepper) refusePatch(e *journal.Event) error {
	n := net.Of(s.root)
	changes, _ := e.Value.(map[string]any)
	switch {
	case s.root.Closed():
		return ErrFinished
	case n == nil:
		return fmt.Errorf("%w: only playbooks have a context", ErrNotPossible)
	case len(changes) == 0:
		return fmt.Errorf("%w: there is nothing to write", ErrNotPossible)
	}
	if err := n.PatchError(changes); err != nil {
		return fmt.Errorf("%w: %w", ErrNotPossible, err)
	}
	return nil
}
