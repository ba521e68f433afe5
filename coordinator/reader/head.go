package reader

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// StatusDamaged is what a list of runs shows as the status of one whose head cannot be read.
const StatusDamaged = "damaged"

// Unreadable reports whether an error is about one head alone, whose run is named: others can be read.
func Unreadable(head *journal.Head, err error) bool {
	return head.Run != "" && (errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion))
}

// damagedHead stands for the head of a run that cannot be read. Whether the run has finished is not known.
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
