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
	namedMax   = 5      // runs that the error of an ambiguous prefix names
	compareMax = 10_000 // runs or workflows that a misspelt name is compared with
)

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
	head, err := HeadOf(ctx, engine, id)
	if err != nil {
		return ""
	}
	return head.Status
}

// HeadOf reads the head of the run with an id; the zero Head if there is none.
func HeadOf(ctx context.Context, engine *coordinator.Engine, id string) (journal.Head, error) {
	last := len(id) - 1
	before := id[:last] + string([]byte{id[last] - 1, 0xff}) // no id lies between this one and the wanted one
	for head, err := range engine.Runs(ctx, before) {
		if err != nil || head.Run == id {
			return head, err
		}
		break
	}
	return journal.Head{}, nil
}

// heads lists runs whose ids are greater than one, in order of id. An error with an id concerns only that run's head.
type heads func(ctx context.Context, after string) iter.Seq2[journal.Head, error]

// findByBeginning returns the only id with a prefix. Child runs, named after their parents, do not make the prefix of a
// parent's id ambiguous.
func findByBeginning(ctx context.Context, list heads, name string) (string, error) {
	children := strings.Contains(name, "/")
	var found []string
	for head, err := range list(ctx, name) { // ids in order: those with the prefix come first
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
	return "", fmt.Errorf("%w: %q: %s%s", ErrAmbiguous, name, strings.Join(found, ", "), more)
}

// suggestRun returns the error for an unknown run, with the id that was probably meant.
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
