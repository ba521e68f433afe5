package coordinator

import (
	"errors"
	"fmt"
)

// What an engine reports.
var (
	ErrRunNotFound  = errors.New("coordinator: no such run")
	ErrRunExists    = errors.New("coordinator: another run has this id")
	ErrStepNotFound = errors.New("coordinator: no such step")
	ErrFinished     = errors.New("coordinator: the run has finished")
	ErrNotPossible  = errors.New("coordinator: not possible as things stand")
	ErrMissing      = errors.New("coordinator: this program does not have what the run needs")
	ErrParked       = errors.New("coordinator: the run is parked")
	ErrLimit        = errors.New("coordinator: over the limit")
	ErrMailboxFull  = errors.New("coordinator: too many messages wait to be taken")
	ErrShutdown     = errors.New("coordinator: the engine is shutting down")
)

// ExistsError says in what the run that has an id differs from the one that was to be started with it. errors.Is finds
// ErrRunExists.
type ExistsError struct {
	Run        string
	Difference string // such as "its input differs at /lines/0"
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrRunExists, e.Run, e.Difference)
}

func (e *ExistsError) Unwrap() error { return ErrRunExists }
