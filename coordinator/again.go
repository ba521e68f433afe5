package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// errUnbegun is why the id of a start is free after all: the start that had it has failed.
var errUnbegun = errors.New("the run has not begun")

// again is a start whose id is taken: fine when it is the same run, else an error that says in what they differ. A start that is
// under way is waited for, until it is durable or has failed.
func (e *Engine) again(ctx context.Context, first *journal.Event) (*Run, error) {
	start := first.Detail.Start
	for {
		other := e.active(start.Run)
		if e.shutting() {
			return nil, ErrShutdown
		}
		for was, err := range e.store.Read(ctx, start.Run, 1) {
			if err != nil {
				return nil, e.why(ctx, fmt.Errorf("read run %s: %w", start.Run, err))
			}
			difference := difference(&was, first)
			if difference == "" {
				return &Run{engine: e, id: start.Run}, nil
			}
			return nil, &ExistsError{start.Run, difference}
		}
		switch {
		case other == nil && e.parkedFor(start.Run) != nil:
			return nil, fmt.Errorf("%w: %s", ErrRunExists, start.Run)
		case other == nil:
			return nil, errUnbegun
		}
		select {
		case <-ctx.Done():
			return nil, cancelled.Error(ctx)
		case <-e.shut:
		case <-other.durable:
		case <-other.over:
		}
	}
}

// difference says in what a run that exists and one that is to be started differ; "" when they are the same. Of inputs it
// names the place and not what is there: that may be secret.
func difference(was, first *journal.Event) string {
	old, start := startOf(was), first.Detail.Start
	if old == nil {
		return "what it was started with is not known"
	}
	if old.Workflow != start.Workflow {
		text := fmt.Sprintf("it is a run of workflow %s, not of %s", old.Name, start.Name)
		if old.Name == start.Name {
			text = fmt.Sprintf("it is a run of another version of workflow %s", old.Name)
		}
		return fmt.Sprintf("%s (hash %.12s, not %.12s)", text, old.Workflow, start.Workflow)
	}
	input, err := value.Of(was.Value)
	if err != nil {
		return "its input is not known"
	}
	at, differ := firstDifference(input, first.Value)
	switch {
	case !differ:
		return ""
	case len(at) == 0:
		return "its input differs"
	}
	return fmt.Sprintf("its input differs at %s", at)
}

// firstDifference is the place of the first difference between two values, keys in order.
func firstDifference(a, b value.Value) (value.Pointer, bool) {
	if value.Equal(a, b) {
		return nil, false
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return nil, true
		}
		keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
		slices.Sort(keys)
		for _, key := range keys {
			x, inA := a[key]
			y, inB := b[key]
			if inA != inB {
				return value.Pointer{key}, true
			}
			if at, differ := firstDifference(x, y); differ {
				return append(value.Pointer{key}, at...), true
			}
		}
	case []any:
		b, ok := b.([]any)
		if !ok {
			return nil, true
		}
		for i := range min(len(a), len(b)) {
			if at, differ := firstDifference(a[i], b[i]); differ {
				return append(value.Pointer{fmt.Sprint(i)}, at...), true
			}
		}
		return value.Pointer{fmt.Sprint(min(len(a), len(b)))}, true
	}
	return nil, true
}
