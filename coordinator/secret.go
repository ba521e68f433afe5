package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// CodeKeychain is the code of calls whose secrets could not be had. They may be retried.
const CodeKeychain = "keychain"

// secrets gets those of a run that is to be started; nil when it has none. Without them there is no run.
func (e *Engine) secrets(ctx context.Context, w *template.Workflow, input value.Value) (*keychain.Ring, error) {
	book, ok := playbook.Of(w)
	if !ok {
		return nil, nil
	}
	ring := keychain.New(book, book.WorkloadOf(input), e.config.SecretTimeout)
	if ring == nil {
		return nil, nil
	}
	if err := ring.Resolve(ctx); err != nil {
		return nil, fmt.Errorf("workflow %s: %w", w.Name, err)
	}
	return ring, nil
}

// Redactor implements operation.Host.
func (f *flight) Redactor() operation.Redactor {
	if f.run.ring == nil {
		return nil
	}
	return f.run.ring
}

// reveal puts the secrets into what a call is made with that it is given. It is called on the goroutine that makes the call.
func (r *run) reveal(f *flight) error {
	if r.ring == nil {
		return nil
	}
	input, err := r.ring.Reveal(f, f.aside().secrets, f.Input)
	switch {
	case err == nil:
		f.Input = input
		return nil
	case errors.Is(err, keychain.ErrUnavailable):
		return lacking(err)
	}
	return err
}

// lacking is what a call says whose secrets, or those of the run that it starts, cannot be had.
func lacking(err error) error {
	return &operation.Error{Code: CodeKeychain, Message: err.Error(), Err: err}
}

// redactedError returns an error without secrets, before anything of it is cut.
func (r *run) redactedError(err error) error {
	if r.ring == nil {
		return err
	}
	return r.ring.RedactError(err)
}

// redacted returns a result without secrets.
func (r *run) redacted(result call.Result) call.Result {
	if r.ring == nil {
		return result
	}
	result.Output = r.ring.Redact(result.Output)
	if result.About != nil {
		result.About, _ = r.ring.Redact(result.About).(map[string]any)
	}
	if f := result.Failure; f != nil {
		result.Failure = &journal.Failure{
			Code: r.ring.RedactMessage(f.Code), Message: r.ring.RedactMessage(f.Message), Details: r.ring.Redact(f.Details), Retryable: f.Retryable,
		}
	}
	return result
}
