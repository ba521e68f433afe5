package coordinator

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Dry returns a handle of the same run whose commands change nothing: each returns the error with which it would be refused, by the
// computation that would carry it out, and passes the events that it would journal to would. These are the command, timers that have
// fallen due before it, and the end of the run if that follows at once; the later decisions of the engine, such as the steps to start,
// are unknown. A command that would journal nothing was taken before, or would release a held run.
//
// The handle refuses a rerun and a move: see PreviewRerun and PreviewMove.
func (r *Run) Dry(would func(journal.Event)) *Run {
	dry := r.engine.handle(r.id, r.actor)
	if dry.would = would; would == nil {
		dry.would = func(journal.Event) {}
	}
	return dry
}

// errDry refuses commands that a handle cannot preview.
var errDry = fmt.Errorf("%w: the handle of the run changes nothing", ErrNotPossible)

// Writes implements moving.Run.
func (r requests) Writes() error {
	if r.would != nil {
		return errDry
	}
	return nil
}
