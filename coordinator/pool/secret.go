package pool

import (
	"errors"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/call"
)

// CodeKeychain is the code of calls whose secrets could not be fetched. They may be retried.
const CodeKeychain = "keychain"

// Redactor implements operation.Host.
func (c *Call) Redactor() operation.Redactor {
	if c.run.Ring == nil {
		return nil
	}
	return c.run.Ring
}

// Keychain returns the part of the keychain that the binding of the call reads: the secrets that it names, and marks of the others.
func (c *Call) Keychain() any {
	if c.rare == nil {
		return nil
	}
	return c.rare.keychain
}

// reveal fills the secrets in the call's input. It is called on the goroutine that makes the call.
func (c *Call) reveal() error {
	if c.run.Ring == nil {
		return nil
	}
	input, err := c.run.Ring.Reveal(c, c.Secrets, c.Input)
	if err == nil && len(c.op.Secrets) > 0 {
		var read any
		read, err = c.run.Ring.Reveal(c, c.op.Secrets, c.run.Ring.Marks())
		c.rareFields().keychain = read
	}
	switch {
	case err == nil:
		c.Input = input
		return nil
	case errors.Is(err, keychain.ErrUnavailable):
		return SecretError(err)
	}
	return err
}

// SecretError returns the error of a call whose secrets, or those of the run that it starts, cannot be fetched.
func SecretError(err error) error {
	return &operation.Error{Code: CodeKeychain, Message: err.Error(), Err: err}
}

// redactedError returns an error without secrets, before any part of it is cut.
func (r *Run) redactedError(err error) error {
	if r.Ring == nil {
		return err
	}
	return r.Ring.RedactError(err)
}

// redacted returns a result without secrets.
func (r *Run) redacted(result call.Result) call.Result {
	if r.Ring == nil {
		return result
	}
	return r.Ring.RedactResult(result)
}
