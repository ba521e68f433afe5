package coordinator

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Dry returns a handle of the same run whose commands change nothing: each returns the error with which it would be refused, from the
// computation that then carries it out, and passes the events that it would journal to would. That is the command, with timers that have
// fallen due before it and the end of the run if it follows at once; the decisions of the engine then, such as which steps start, are
// not known before. A command that would journal nothing was taken before, or lets a run go on that is held.
//
// A rerun and a move are refused: they have previews of their own, see PreviewRerun and PreviewMove.
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
func (r asked) Writes() error {
	if r.would != nil {
		return errDry
	}
	return nil
}
