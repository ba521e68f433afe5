package moving

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/shadow"
)

// PastError means that a run cannot go on under another workflow, because something that it has begun would have gone otherwise. It
// wraps ErrNotPossible.
type PastError struct {
	Run      string         // id
	Playbook bool           // the run is of a playbook, which is not rerun under another document
	Report   *shadow.Report // all that would have gone otherwise
}

func (e *PastError) Error() string {
	return fmt.Sprintf("%v: run %s has begun what would have gone otherwise: %s; `sluice shadow` tells all of it, and %s",
		decide.ErrNotPossible, e.Run, e.Why(), anew(e.Playbook))
}

// anew says how what a run does begins again under another document.
func anew(playbook bool) string {
	if playbook {
		return "`sluice start` starts the other playbook"
	}
	return "`sluice rerun --workflow` begins again"
}

// Why returns the first difference.
func (e *PastError) Why() string {
	if past := e.Report.Past(); past != nil {
		return past.String()
	}
	return "more would have gone otherwise than can be told"
}

// Unwrap returns ErrNotPossible.
func (e *PastError) Unwrap() error { return decide.ErrNotPossible }
