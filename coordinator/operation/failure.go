package operation

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Error is an error with a code that workflows can distinguish.
type Error struct {
	Code      string    // for workflows, to distinguish errors and to retry; at most CodeMax bytes
	Message   string    // for people; at most MessageMax bytes are journaled
	Details   any       // a value of package value
	Permanent bool      // never retried
	RetryAt   time.Time // earliest retry; zero: only the timing of the step counts
	Err       error     // the cause; may be nil
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

// Permanent marks an error as permanent: the call is not retried. It returns nil if err is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

type permanent struct{ error }

func (p *permanent) Unwrap() error { return p.error }

// ErrUnreachable means that the participant could not be asked. It counts as a missing answer: the other participants may still
// reach a quorum.
var ErrUnreachable = errors.New("the participant cannot be reached")

const (
	CodeError = call.CodeError // of a Go error without a code
	CodePanic = "panic"        // a function panicked or ended its goroutine; never retried
)

// Bounds of the code and the message of an error, in bytes. The rest is cut.
const (
	CodeMax    = call.CodeMax
	MessageMax = call.MessageMax
)

// FailureOf converts the error of an operation for the journal. retryAt is the earliest instant of a retry (Unix nanoseconds; 0:
// any time). The details of a panic are the stack, unless the error has other details.
func FailureOf(err error) (f *journal.Failure, retryAt int64) {
	return RedactedFailureOf(err, func(text string) string { return text })
}

// RedactedFailureOf is FailureOf, but redacts the code and the message before it cuts them. It does not redact the details.
func RedactedFailureOf(err error, redact func(string) string) (f *journal.Failure, retryAt int64) {
	err = usercode.Finite(err)
	f = &journal.Failure{Code: CodeError, Retryable: true}
	e, coded := errors.AsType[*Error](err)
	p, panicked := errors.AsType[*usercode.Panic](err)
	switch {
	case coded:
		f.Code, f.Details, f.Retryable = cmp.Or(e.Code, CodeError), e.Details, !e.Permanent
		f.Message = e.Message
		if e.Message == "" && e.Err != nil {
			f.Message = e.Err.Error()
		}
		retryAt = unixNano(e.RetryAt)
	case panicked:
		f.Code, f.Message, f.Retryable = CodePanic, p.Reason, false
	default:
		f.Message = err.Error()
	}
	if panicked && f.Details == nil {
		f.Details = p.Stack
	}
	if _, ok := errors.AsType[*permanent](err); ok {
		f.Retryable = false
	}
	kept := call.NewFailure(redact(f.Code), redact(f.Message))
	f.Code, f.Message = kept.Code, kept.Message
	return f, retryAt
}

// unixNano returns an instant in nanoseconds since 1970, limited to the range from 0 to math.MaxInt64.
func unixNano(t time.Time) int64 {
	switch {
	case t.Unix() < 0:
		return 0
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}
