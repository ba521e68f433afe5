package operation

import (
	"errors"
	"time"

	"github.com/sluiceflow/sluice/template/value"
)

// Settle turns what a Caller has returned into values and errors that are ours alone: what is journaled and shown from there on
// calls no method of the caller's. An output that is no value of the model is the failure invalid_output. Settle itself does call
// such methods, so it belongs behind the guard that the call is made behind.
func Settle(c Caller, out any, err error) (any, error) {
	if err != nil {
		return nil, settledError(err)
	}
	reply, isReply := out.(Reply)
	if isReply {
		out = reply.Output
	}
	if _, done := c.(exact); !done {
		if out, err = value.Own(out); err != nil {
			return nil, invalidOutput(err)
		}
	}
	if !isReply {
		return out, nil
	}
	about, err := value.Own(reply.About)
	if err != nil {
		return nil, invalidOutput(err)
	}
	reply.Output = out
	reply.About, _ = about.(map[string]any)
	return reply, nil
}

// exact is a Caller whose outputs are values that can be journaled as they are.
type exact interface{ exact() }

// settledError returns an error that says the same to FailureOf and is of our own making.
func settledError(err error) error {
	f, retryAt := FailureOf(err)
	e := &Error{Code: f.Code, Message: f.Message, Permanent: !f.Retryable}
	if retryAt > 0 {
		e.RetryAt = time.Unix(0, retryAt)
	}
	var unfit error
	if e.Details, unfit = value.Own(f.Details); unfit != nil {
		e.Details = "the details of the error are no value: " + unfit.Error()
	}
	if errors.Is(err, ErrUnreachable) {
		e.Err = silent{ErrUnreachable}
	}
	return e
}

// silent is an error that only says which one it is.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

func invalidOutput(err error) error {
	return settledError(&Error{Code: CodeInvalidOutput, Permanent: true, Err: err})
}
