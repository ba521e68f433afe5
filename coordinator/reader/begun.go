package reader

import (
	"context"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/template/value"
)

// Begun returns a function that describes the start of a run of a reader, for its secrets: a move changes none of it.
func Begun(r *Reader) func(ctx context.Context, id string) (keychain.Begun, error) {
	return func(ctx context.Context, id string) (b keychain.Begun, err error) {
		start, err := r.Start(ctx, id)
		if err != nil {
			return b, err
		}
		entry, err := r.registry.Read(ctx, start.Workflow, start.Children)
		if err != nil {
			return b, err
		}
		input := func() (value.Value, error) {
			first, err := r.event(ctx, id, 1)
			if err != nil {
				return nil, err
			}
			return first.Value, nil
		}
		return keychain.Begun{Workflow: entry.Plan.Workflow, Dir: start.Dir, Input: input}, nil
	}
}
