package reader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// StatusDamaged is the status, in a list of runs, of a run whose head cannot be read.
const StatusDamaged = "damaged"

// Unreadable reports whether an error concerns a single head, whose run is named: the others can be read.
func Unreadable(head *journal.Head, err error) bool {
	return head.Run != "" && (errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion))
}

// damagedHead returns the head shown for a run whose head cannot be read. It is unknown whether the run has finished.
func damagedHead(id string) journal.Head {
	return journal.Head{Run: id, Status: StatusDamaged, Open: true}
}

// Below yields the heads of the runs below another, at any depth, in order of id.
func (r *Reader) Below(ctx context.Context, id string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for head, err := range r.store.Heads(ctx, id+"/") {
			if head.Run != "" && !strings.HasPrefix(head.Run, id+"/") || !yield(head, err) {
				return
			}
		}
	}
}

// Refused completes the error of a command: the rules of a run that has finished no longer matter.
func (r *Reader) Refused(ctx context.Context, run string, err error) error {
	if errors.Is(err, decide.ErrRules) {
		if head, unread := r.Head(ctx, run); unread == nil && !head.Open {
			return fmt.Errorf("run %s: %w", run, decide.ErrFinished)
		}
	}
	return err
}
