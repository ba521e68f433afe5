package cells

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/value"
)

// Machines returns the names of the machines, sorted.
func (h Handle) Machines(ctx context.Context) ([]string, error) {
	return look(ctx, h.run, func(w *world.World) []string { return w.Definition().MachineNames() })
}

// NormalPayload returns the payload of a message in the form in which SendMessage journals it. If the message does not fit, the error
// wraps decide.ErrInvalidMessage.
func (h Handle) NormalPayload(ctx context.Context, name string, payload any) (value.Value, error) {
	owned, err := value.Own(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", decide.ErrInvalidMessage, err)
	}
	var normal value.Value
	refused, err := look(ctx, h.run, func(w *world.World) error {
		routed, err := w.Definition().Route(name, owned)
		if err == nil {
			normal = routed.Payload
		}
		return err
	})
	if err != nil { // the run may still call look
		return nil, err
	}
	if refused != nil {
		return nil, fmt.Errorf("%w: %w", decide.ErrInvalidMessage, refused)
	}
	return normal, nil
}
