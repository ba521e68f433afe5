package coordinator

import (
	"github.com/sluiceflow/sluice/coordinator/children"
	"github.com/sluiceflow/sluice/coordinator/closing"
	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/moving"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/coordinator/rerun"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// Errors that an engine returns. Methods wrap them.
var (
	ErrRunNotFound  = decide.ErrRunNotFound
	ErrRunExists    = decide.ErrRunExists
	ErrStepNotFound = decide.ErrStepNotFound
	ErrFinished     = decide.ErrFinished
	ErrNotPossible  = decide.ErrNotPossible
	ErrIncomplete   = holds.ErrIncomplete
	ErrNoMoment     = decide.ErrNoMoment
	ErrMissing      = decide.ErrMissing
	ErrParked       = decide.ErrParked
	ErrLimit        = decide.ErrLimit
	ErrMailboxFull  = decide.ErrMailboxFull
	ErrShutdown     = decide.ErrShutdown
	ErrRefused      = limits.ErrRefused
	ErrUnclear      = rerun.ErrUnclear
	ErrUnreturned   = closing.ErrUnreturned
)

// Codes of failures that arise around a call: see packages pool and children.
const (
	CodeDirectory = pool.CodeDirectory
	CodeKeychain  = pool.CodeKeychain

	CodeChildFailed = children.CodeChildFailed
)

// ExistsError describes the differences between the existing run with an id and the run to be started. It wraps ErrRunExists.
type ExistsError = decide.ExistsError

// FollowsError means that a run already follows the workflow of its move. It wraps ErrNotPossible.
type FollowsError = decide.FollowsError

// PastError means that a run cannot go on under another workflow, because its history differs under that one. It wraps
// ErrNotPossible.
type PastError = moving.PastError
