package decide

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/cells"
)

// Errors of refused commands and events, and of runs that cannot proceed. Package coordinator exports them under the same
// names.
var (
	ErrRunNotFound  = errors.New("coordinator: no such run")
	ErrStepNotFound = errors.New("coordinator: no such step")
	ErrFinished     = errors.New("coordinator: the run has finished")
	ErrNotPossible  = errors.New("coordinator: not possible as things stand")
	ErrMissing      = errors.New("coordinator: this program does not have what the run needs")
	ErrNoMoment     = errors.New("coordinator: there is no such moment")
	ErrLimit        = errors.New("coordinator: over the limit")
	ErrShutdown     = errors.New("coordinator: the engine is shutting down")
	ErrParked       = errors.New("coordinator: the run is parked")
	ErrMailboxFull  = errors.New("coordinator: too many messages wait to be taken")

	ErrNotWorld       = cells.ErrNone
	ErrCellNotFound   = errors.New("coordinator: no cell")
	ErrInvalidMessage = errors.New("coordinator: the world does not take the message")
)

// ErrEnded means that a call has ended and can no longer report.
var ErrEnded = errors.New("the attempt has ended")

// ErrRules means that the run was started under other rules, so adding workflows, operations or functions does not help. It
// accompanies ErrMissing.
var ErrRules = errors.New("it was started under other rules")

// FollowsError means that a run is not moved to a workflow because it already follows that workflow, with the same child workflows.
// It wraps ErrNotPossible.
type FollowsError struct {
	Run      string // id
	Workflow string // its name
}

func (e *FollowsError) Error() string {
	return fmt.Sprintf("%v: run %s follows this version of workflow %s already", ErrNotPossible, e.Run, e.Workflow)
}

// Unwrap returns ErrNotPossible.
func (e *FollowsError) Unwrap() error { return ErrNotPossible }
