package operation

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Error is a failure with a code that workflows can tell apart.
type Error struct {
	Code      string
	Message   string
	Details   any       // a value of package value
	Permanent bool      // never retried
	RetryAt   time.Time // not retried before; zero: as the step's timing says
	Err       error     // what caused it; may be nil
}

func (e *Error) Error() string {
	switch {
	case e.Message != "":
		return e.Code + ": " + e.Message
	case e.Err != nil:
		return e.Code + ": " + e.Err.Error()
	}
	return e.Code
}

func (e *Error) Unwrap() error { return e.Err }

// Permanent marks an error as final: the call is not made again. It returns nil for nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

type permanent struct{ error }

func (p *permanent) Unwrap() error { return p.error }

// ErrUnreachable says that a participant could not even be asked. It counts as nobody's answer: a quorum may still be
// reached by the others.
var ErrUnreachable = errors.New("the participant cannot be reached")

// CodeError is the code of a Go error that has none.
const CodeError = "error"

// FailureOf says what an operation's error means to the journal, and when a retry may come at the earliest (0: any time).
func FailureOf(err error) (f *journal.Failure, retryAt int64) {
	f = &journal.Failure{Code: CodeError, Message: err.Error(), Retryable: true}
	if e, ok := errors.AsType[*Error](err); ok {
		f.Code, f.Details, f.Retryable = e.Code, e.Details, !e.Permanent
		f.Message = e.Message
		if e.Message == "" && e.Err != nil {
			f.Message = e.Err.Error()
		}
		if !e.RetryAt.IsZero() {
			retryAt = e.RetryAt.UnixNano()
		}
	}
	if _, ok := errors.AsType[*permanent](err); ok {
		f.Retryable = false
	}
	return f, retryAt
}

// Panicked is the error of a call whose function panicked: final, with the stack for people.
func Panicked(reason any) error {
	return &Error{Code: "panic", Message: fmt.Sprint(reason), Details: string(debug.Stack()), Permanent: true}
}
