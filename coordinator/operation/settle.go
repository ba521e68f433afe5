package operation

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// ResultOf returns the result of a call with an output and an error. The output may be a Reply.
func ResultOf(out any, err error) (r call.Result) {
	if err != nil {
		err = usercode.Finite(err)
		r.Failure, r.RetryAt = FailureOf(err)
		r.Unreachable = errors.Is(err, ErrUnreachable)
		return r
	}
	if reply, ok := out.(Reply); ok {
		return call.Result{Output: reply.Output, About: reply.About}
	}
	return call.Result{Output: out}
}

// Settle is ResultOf for the results of a Caller. It copies the output and the error, so that later use of the result calls no
// method of the program. If the output is not a value of the model, the result is the failure invalid_output. Settle itself calls
// methods of the program, so it must run behind the guard of the call.
func Settle(c Caller, out any, err error) call.Result {
	if err != nil {
		return ResultOf(nil, settledError(err))
	}
	r := ResultOf(out, nil)
	if _, done := c.(uncopied); !done {
		if r.Output, err = value.Own(r.Output); err != nil {
			return ResultOf(nil, invalidOutput(err))
		}
	}
	if r.About != nil {
		about, err := value.Own(r.About)
		if err != nil {
			return ResultOf(nil, invalidOutput(err))
		}
		r.About, _ = about.(map[string]any)
	}
	return r
}

// CallFunction calls a Go function of a workflow behind a guard, such as usercode.Call. It returns a copy of the output, or the
// failure. A nil f means that no function has the name.
func CallFunction(guard func(func() error) error, name string, f *template.Function, args []any) (out value.Value, failure *journal.Failure) {
	err := guard(func() error {
		if f == nil {
			return fmt.Errorf("%w: Go function %q", decide.ErrMissing, name)
		}
		result, err := f.Call(args)
		if err == nil {
			out, err = value.Own(result)
		}
		if _, panicked := err.(*usercode.Panic); err != nil && !panicked {
			failure = call.NewFailure("", err.Error())
			failure.Details = Settle(nil, nil, err).Failure.Details
			return nil
		}
		return err
	})
	if err != nil {
		failure, _ = FailureOf(err)
		failure.Message = fmt.Sprintf("function %q: %v", name, err)
	}
	if failure != nil {
		return nil, failure
	}
	return out, nil
}

// uncopied is a Caller whose outputs need no copy.
type uncopied interface{ uncopied() }

// settledError returns an *Error with copied details, for which FailureOf returns the same failure as for err.
func settledError(err error) error {
	err = usercode.Finite(err)
	f, retryAt := FailureOf(err)
	e := &Error{Code: f.Code, Message: f.Message, Permanent: !f.Retryable}
	if retryAt > 0 {
		e.RetryAt = time.Unix(0, retryAt)
	}
	var unfit error
	if e.Details, unfit = value.Own(f.Details); unfit != nil {
		e.Details = "the details of the error cannot be converted to a value: " + unfit.Error()
	}
	if errors.Is(err, ErrUnreachable) {
		e.Err = hiddenText{ErrUnreachable}
	}
	return e
}

// hiddenText hides the text of an error. errors.Is still finds the error.
type hiddenText struct{ error }

func (hiddenText) Error() string   { return "" }
func (s hiddenText) Unwrap() error { return s.error }

func invalidOutput(err error) error {
	return settledError(&Error{Code: CodeInvalidOutput, Permanent: true, Err: err})
}
