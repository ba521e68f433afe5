package api

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
)

const (
	namedMax   = 5      // runs that the error about an ambiguous beginning names
	compareMax = 10_000 // runs that a misspelt id is compared with
)

// find returns the run with an id, or the only one whose id begins so.
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

// FindIn returns the id of the run in a store with that id, or of the only one whose id begins so. Errors are as those of a
// Client about a run that there is none of, or are several of.
func FindIn(ctx context.Context, store journal.Store, name string) (string, error) {
	for _, err := range store.Read(ctx, name, 1) {
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

// heads lists runs whose ids are greater than one, in order of id. An error with an id is about that run's head alone.
type heads func(ctx context.Context, after string) iter.Seq2[journal.Head, error]

// findByBeginning returns the only id that begins so. Child runs, named after their parents, do not make the beginning of a
// parent's id ambiguous.
func findByBeginning(ctx context.Context, list heads, name string) (string, error) {
	children := strings.Contains(name, "/")
	var found []string
	for head, err := range list(ctx, name) { // ids in order: those that begin so come first
		if err != nil && head.Run == "" {
			return "", fmt.Errorf("find run %s: %w", name, err)
		}
		rest, ok := strings.CutPrefix(head.Run, name)
		if !ok || len(found) > namedMax {
			break
		}
		if children || !strings.Contains(rest, "/") {
			found = append(found, head.Run)
		}
	}
	switch len(found) {
	case 0:
		return "", suggestRun(ctx, list, name)
	case 1:
		return found[0], nil
	}
	more := ""
	if len(found) > namedMax {
		found, more = found[:namedMax], ", …"
	}
	return "", fmt.Errorf("%w by %q: %s%s", ErrAmbiguous, name, strings.Join(found, ", "), more)
}

// suggestRun is the error about an unknown run, with the one that was probably meant.
func suggestRun(ctx context.Context, list heads, name string) error {
	e := ErrorOf(fmt.Errorf("%w: %s", coordinator.ErrRunNotFound, name))
	var ids []string
	for head, err := range list(ctx, "") {
		if err != nil && head.Run == "" || len(ids) == compareMax {
			break
		}
		ids = append(ids, head.Run)
	}
	e.Suggestion, _ = expr.Nearest(name, ids)
	return e
}
