package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template/document"
)

// The exit codes of the program.
const (
	Done        = 0   // success
	Failed      = 1   // the run did not complete, or an error occurred
	Refused     = 2   // wrong usage, or a refused document or input
	Incomplete  = 3   // check has not explored everything
	Interrupted = 130 // by Ctrl-C, SIGTERM or SIGHUP
)

// Exit is the error of a verb whose exit code is not Done.
type Exit struct {
	Code int   // one of the codes above
	Err  error // to be printed; nil: the verb has printed everything itself
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }

// Refuse returns an Exit with the code Refused. If err is nil, nothing more is printed.
func Refuse(err error) error { return &Exit{Refused, err} }

// Fail returns an Exit with the code Failed. If err is nil, nothing more is printed.
func Fail(err error) error { return &Exit{Failed, err} }

// ExitOf returns the Exit for the error of a request to an engine or a journal: Interrupted if the context was cancelled; Refused if the
// request is invalid, or names a run, step, cell, act or journal that does not exist or was deleted, or an unsuitable file or folder; and
// Failed otherwise. It returns nil for nil.
func ExitOf(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return &Exit{Interrupted, nil}
	}
	for _, unknown := range []error{
		coordinator.ErrRunNotFound, coordinator.ErrStepNotFound, parcel.ErrNotPublished, parcel.ErrParcel, coordinator.ErrRunExists, api.ErrBadInput,
		decide.ErrCellNotFound, find.ErrAmbiguous, api.ErrBadRequest, api.ErrNoJournal, coordinator.ErrNoMoment, coordinator.ErrRefused, journal.ErrDeleted,
		archive.ErrRefused, journal.ErrBackup, shadow.ErrWorld, shadow.ErrKind, bulk.ErrNotFound, coordinator.ErrUnclear,
	} {
		if errors.Is(err, unknown) {
			return Refuse(err)
		}
	}
	if errors.Is(err, journal.ErrDamaged) {
		err = fmt.Errorf("%w\nRun 'sluice doctor' to see what is damaged and what can be mended", err)
	}
	if e, ok := errors.AsType[*api.Error](err); ok && e.Code == "unauthorized" { // its text is for programs that write headers
		err = errors.New("the server takes no request without a valid token, and $SLUICE_TOKEN has none: sluice token create prints one")
	}
	return Fail(err)
}

// Report prints the error err of the verb at, and returns the exit code. Errors of documents are printed one per line and without a
// prefix, as editors and other programs expect. An error that is not an Exit is a usage error.
func Report(w io.Writer, at *cobra.Command, err error) int {
	if err == nil {
		return Done
	}
	e, ok := errors.AsType[*Exit](err)
	if !ok {
		fmt.Fprintf(w, "sluice: %s\nRun '%s --help' for usage.\n", progress.CleanLines(strings.TrimSpace(err.Error())), at.CommandPath())
		return Refused
	}
	switch {
	case e.Err == nil:
	case isDocumentError(e.Err):
		fmt.Fprintln(w, progress.CleanLines(e.Err.Error()))
	default:
		fmt.Fprintf(w, "sluice: %s\n", progress.CleanLines(e.Err.Error()))
	}
	return e.Code
}

func isDocumentError(err error) bool {
	switch err.(type) {
	case document.Errors, *document.Error:
		return true
	}
	return false
}
