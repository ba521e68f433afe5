package coordinator

import "errors"

// What an engine reports.
var (
	ErrRunNotFound  = errors.New("coordinator: no such run")
	ErrRunExists    = errors.New("coordinator: another run has this id")
	ErrStepNotFound = errors.New("coordinator: no such step")
	ErrFinished     = errors.New("coordinator: the run has finished")
	ErrNotPossible  = errors.New("coordinator: not possible as things stand")
	ErrMissing      = errors.New("coordinator: this program does not have what the run needs")
	ErrLimit        = errors.New("coordinator: over the limit")
	ErrShutdown     = errors.New("coordinator: the engine is shutting down")
)
