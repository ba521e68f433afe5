package coordinator

import (
	"errors"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// head is what a list of runs shows of this one.
func (r *run) head() journal.Head { return decide.HeadOf(r.root) }

// StatusDamaged is what a list of runs shows as the status of one whose head cannot be read.
const StatusDamaged = "damaged"

// unreadable reports whether an error is about one head alone, whose run is named: others can be read.
func unreadable(head *journal.Head, err error) bool {
	return head.Run != "" && (errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion))
}

// damagedHead stands for the head of a run that cannot be read. Whether the run has finished is not known.
func damagedHead(id string) journal.Head {
	return journal.Head{Run: id, Status: StatusDamaged, Open: true}
}
