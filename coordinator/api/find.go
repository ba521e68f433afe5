package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api/naming"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// compareMax bounds the workflows and cells that a misspelt name is compared with.
const compareMax = 10_000

// find returns the run with an id, or the only one whose id has that prefix.
func find(ctx context.Context, engine *coordinator.Engine, name string) (*coordinator.Run, error) {
	run, err := engine.Run(ctx, name)
	if !errors.Is(err, coordinator.ErrRunNotFound) {
		return run, err
	}
	id, err := findByBeginning(ctx, engine.Runs, name)
	if err != nil {
		return nil, err
	}
	return engine.Run(ctx, id)
}

// FindIn returns the id of the run in a store with that id, or of the only one whose id has that prefix. Errors about missing
// and ambiguous runs are those of a Client.
func FindIn(ctx context.Context, store journal.Store, name string) (string, error) {
	for _, err := range store.Read(ctx, name, 1) {
		if !journal.IsRun(name) {
			break
		}
		if err == nil || errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion) {
			return name, nil
		}
		return "", fmt.Errorf("find run %s: %w", name, err)
	}
	id, err := findByBeginning(ctx, store.Heads, name)
	if err != nil {
		return "", ErrorOf(err)
	}
	return id, nil
}

// statusOf returns the status of a run by its head; "" if that cannot be read.
func statusOf(ctx context.Context, engine *coordinator.Engine, id string) string {
	head, err := naming.HeadOf(ctx, engine, id)
	if err != nil {
		return ""
	}
	return head.Status
}

// findByBeginning returns the only id with a prefix.
func findByBeginning(ctx context.Context, list naming.Heads, name string) (string, error) {
	found, err := naming.Beginning(ctx, list, name)
	if err != nil || len(found) == 1 {
		return strings.Join(found, ""), err
	}
	if len(found) == 0 {
		e := ErrorOf(fmt.Errorf("%w: %s", coordinator.ErrRunNotFound, name))
		e.Suggestion = naming.Nearest(ctx, list, name)
		return "", e
	}
	return "", fmt.Errorf("%w: %q: %s", ErrAmbiguous, name, naming.Some(found))
}
