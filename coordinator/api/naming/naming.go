// Package naming finds runs by what people call them.
package naming

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
)

const (
	namedMax   = 5      // runs that the error of an ambiguous prefix names
	compareMax = 10_000 // runs that a misspelt name is compared with
)

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

// Heads lists runs whose ids are greater than one, in order of id. An error with an id concerns only that run's head.
type Heads func(ctx context.Context, after string) iter.Seq2[journal.Head, error]

// Beginning returns the ids with a prefix, a few of them if there are many. Child runs, named after their parents, do not make the prefix
// of a parent's id ambiguous.
func Beginning(ctx context.Context, list Heads, name string) (found []string, err error) {
	children := strings.Contains(name, "/")
	for head, err := range list(ctx, name) { // ids in order: those with the prefix come first
		if err != nil && head.Run == "" {
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
	return found, nil
}

// Some names the first of a list of ids.
func Some(found []string) string {
	more := ""
	if len(found) > namedMax {
		found, more = found[:namedMax], ", …"
	}
	return strings.Join(found, ", ") + more
}

// Nearest returns the id that was probably meant by one that no run has; "": none is near.
func Nearest(ctx context.Context, list Heads, name string) string {
	var ids []string
	for head, err := range list(ctx, "") {
		if err != nil && head.Run == "" || len(ids) == compareMax {
			break
		}
		ids = append(ids, head.Run)
	}
	near, _ := expr.Nearest(name, ids)
	return near
}
