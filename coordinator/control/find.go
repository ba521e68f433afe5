package control

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template/expr"
)

const (
	namedMax   = 5      // runs that the error about an ambiguous beginning names
	compareMax = 10_000 // runs that a misspelt id is compared with
)

// find gives the run with an id, or the only one whose id begins so. Child runs, named after their parents, do not make
// the beginning of a parent's id ambiguous.
func find(ctx context.Context, engine *coordinator.Engine, name string) (*coordinator.Run, error) {
	run, err := engine.Run(ctx, name)
	if !errors.Is(err, coordinator.ErrRunNotFound) {
		return run, err
	}
	children := strings.Contains(name, "/")
	var found []string
	for head, err := range engine.Runs(ctx, name) { // ids in order: those that begin so come first
		if err != nil {
			return nil, fmt.Errorf("find run %s: %w", name, err)
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
		return nil, suggestRun(ctx, engine, name, err)
	case 1:
		return engine.Run(ctx, found[0])
	}
	more := ""
	if len(found) > namedMax {
		found, more = found[:namedMax], ", …"
	}
	return nil, fmt.Errorf("%w by %q: %s%s", ErrAmbiguous, name, strings.Join(found, ", "), more)
}

// suggestRun adds to the error about an unknown run the one that was probably meant.
func suggestRun(ctx context.Context, engine *coordinator.Engine, name string, err error) error {
	e := problem(err)
	var ids []string
	for head, err := range engine.Runs(ctx, "") {
		if err != nil || len(ids) == compareMax {
			break
		}
		ids = append(ids, head.Run)
	}
	e.Suggestion, _ = expr.Nearest(name, ids)
	return e
}
