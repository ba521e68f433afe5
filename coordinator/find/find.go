// Package find finds runs by the beginning of their ids.
package find

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

// CompareMax bounds the names that a misspelt one is compared with.
const CompareMax = 10_000

// namedMax bounds the runs that the error of an ambiguous prefix names.
const namedMax = 5

// ErrAmbiguous is the error of a prefix that several runs have.
var ErrAmbiguous = errors.New("find: the name matches several runs")

// Unknown is the error of a name that no run has.
type Unknown struct {
	Name    string // the name
	Nearest string // the id that was probably meant; "" if none is near
}

func (u *Unknown) Error() string { return coordinator.ErrRunNotFound.Error() + ": " + u.Name }

// Unwrap returns coordinator.ErrRunNotFound.
func (u *Unknown) Unwrap() error { return coordinator.ErrRunNotFound }

// Run returns the run with an id, or the only one whose id has that prefix. Otherwise the error is an Unknown or ErrAmbiguous.
func Run(ctx context.Context, engine *coordinator.Engine, name string) (*coordinator.Run, error) {
	run, err := engine.Run(ctx, name)
	if !errors.Is(err, coordinator.ErrRunNotFound) {
		return run, err
	}
	id, err := byBeginning(ctx, engine.Runs, name)
	if err != nil {
		return nil, err
	}
	return engine.Run(ctx, id)
}

// In returns the id of the run in a store with that id, or of the only one whose id has that prefix. Otherwise the error is an Unknown or
// ErrAmbiguous.
func In(ctx context.Context, store journal.Store, name string) (string, error) {
	for _, err := range store.Read(ctx, name, 1) {
		if !journal.IsRun(name) {
			break
		}
		if err == nil || errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion) {
			return name, nil
		}
		return "", fmt.Errorf("find run %s: %w", name, err)
	}
	return byBeginning(ctx, store.Heads, name)
}

// Head reads the head of the run with an id; the zero Head if there is none.
func Head(ctx context.Context, engine *coordinator.Engine, id string) (journal.Head, error) {
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

// byBeginning returns the only id with a prefix. Child runs, named after their parents, do not make the prefix of a
// parent's id ambiguous.
func byBeginning(ctx context.Context, list heads, name string) (string, error) {
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
	var ids []string
	for head, err := range list(ctx, "") {
		if err != nil && head.Run == "" || len(ids) == CompareMax {
			break
		}
		ids = append(ids, head.Run)
	}
	nearest, _ := expr.Nearest(name, ids)
	return &Unknown{name, nearest}
}
