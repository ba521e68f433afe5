package api

import (
	"errors"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/coordinator/repeated"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/reactive/shadow"
)

// Errors besides those of an engine.
var (
	ErrBadRequest = errors.New("api: bad request")
	ErrNotHeld    = errors.New("api: no process holds the directory")
	ErrNoJournal  = errors.New("api: there is no journal")
	ErrBusy       = errors.New("api: the process that holds the directory is busy with other requests")
	ErrNoAnswer   = errors.New("api: the process that holds the directory does not answer")
	ErrBadInput   = errors.New("api: the input is refused")
	ErrHungUp     = errors.New("api: the process that holds the directory ended before it answered")
)

// codes are the conditions that callers distinguish. They are part of the protocol.
var codes = []struct {
	code string
	err  error
}{
	{"bad_request", ErrBadRequest},
	{"bad_request", coordinator.ErrRefused}, {"bad_request", coordinator.ErrUnclear}, {"bad_request", parcel.ErrParcel},
	{"ambiguous", find.ErrAmbiguous},
	{"not_held", ErrNotHeld},
	{"no_journal", ErrNoJournal},
	{"hung_up", ErrHungUp},
	{"no_answer", ErrNoAnswer},
	{"busy", ErrBusy},
	{"locked", journal.ErrLocked},
	{"bad_input", ErrBadInput},
	{"run_exists", coordinator.ErrRunExists},
	{"key_used", repeated.ErrOther},
	{"not_published", parcel.ErrNotPublished},
	{"run_not_found", coordinator.ErrRunNotFound},
	{"step_not_found", coordinator.ErrStepNotFound},
	{"finished", coordinator.ErrFinished},
	{"incomplete", coordinator.ErrIncomplete},
	{"not_possible", coordinator.ErrNotPossible},
	{"no_moment", coordinator.ErrNoMoment},
	{"limit", coordinator.ErrLimit},
	{"mailbox_full", coordinator.ErrMailboxFull},
	{"not_world", decide.ErrNotWorld},
	{"cell_not_found", decide.ErrCellNotFound},
	{"invalid_message", decide.ErrInvalidMessage},
	{"parked", coordinator.ErrParked},
	{"missing", coordinator.ErrMissing},
	{"shutdown", coordinator.ErrShutdown},
	{"trimmed", journal.ErrTrimmed},
	{"too_large", journal.ErrTooLarge},
	{"read_only", journal.ErrReadOnly},
	{"damaged", journal.ErrDamaged},
	{"deleted", journal.ErrDeleted},
	{"refused_file", archive.ErrRefused},
	{"no_backup", journal.ErrBackup},
	{"count_changed", bulk.ErrCount},
	{"act_under_way", bulk.ErrUnderWay},
	{"act_not_found", bulk.ErrNotFound},
	{"no_shadow", shadow.ErrWorld},
	{"other_kind", shadow.ErrKind},
}

// codeInternal is the code of every other error.
const codeInternal = "internal"

// Error is the error of a request. On either side of a socket, errors.Is finds the condition of its code.
type Error struct {
	Code       string `json:"code"`                 // see docs/errors.md
	Message    string `json:"message"`              // for people
	Suggestion string `json:"suggestion,omitempty"` // the most similar run, step, cell, machine or workflow

	cause error // only in the process of its origin
}

func (e *Error) Error() string {
	if e.Suggestion == "" {
		return e.Message
	}
	return e.Message + ` (did you mean "` + e.Suggestion + `"?)`
}

// Unwrap returns the cause if it is known, else the condition of the code, or nil if the code is unknown.
func (e *Error) Unwrap() error {
	if e.cause != nil {
		return e.cause
	}
	for _, c := range codes {
		if c.code == e.Code {
			return c.err
		}
	}
	return nil
}

// ErrorOf converts an error to an *Error that can be sent. Its text has no prefix of a package.
func ErrorOf(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Code: codeInternal, Message: err.Error(), cause: err}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			text := c.err.Error()
			_, plain, _ := strings.Cut(text, ": ")
			e.Code, e.Message = c.code, strings.Replace(e.Message, text, plain, 1)
			if c.err == ErrBadRequest { // its code says so
				e.Message = strings.TrimPrefix(e.Message, plain+": ")
			}
			break
		}
	}
	if unknown, ok := errors.AsType[*find.Unknown](err); ok {
		e.Suggestion = unknown.Nearest
	} else if unpublished, ok := errors.AsType[*parcel.Unpublished](err); ok {
		e.Suggestion = unpublished.Nearest
	}
	return e
}

// messageOf returns the text of an error for people.
func messageOf(err error) string { return ErrorOf(err).Message }
