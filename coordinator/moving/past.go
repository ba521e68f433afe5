package moving

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/shadow"
)

// PastError means that a run cannot go on under another workflow, because its history differs under that one. It wraps
// ErrNotPossible.
type PastError struct {
	Run      string         // id
	Playbook bool           // the run is of a playbook, which is not rerun under another document
	Report   *shadow.Report // the differences
}

func (e *PastError) Error() string {
	return fmt.Sprintf("%v: the history of run %s differs under the new workflow: %s; `sluice shadow` reports all differences, and %s",
		decide.ErrNotPossible, e.Run, e.Why(), restartAdvice(e.Playbook))
}

// restartAdvice returns advice on how to begin again under another document.
func restartAdvice(playbook bool) string {
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
	return "there are more differences than are listed"
}

// Unwrap returns ErrNotPossible.
func (e *PastError) Unwrap() error { return decide.ErrNotPossible }
