package operation

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/value"
)

// Call is one attempt of one step, which a Caller carries out. It is also the context of the attempt: it ends with the attempt, by
// timeout, abort or the end of the run.
type Call struct {
	call.Request
	About map[string]any // data about the participant for bindings; nil: none. Shared, like Input

	parent context.Context
	mu     sync.Mutex
	done   chan struct{}
	cause  error

	host    Host           // nil: none
	reports *reportNumbers // of its reports; nil: none yet
}

var _ context.Context = (*Call)(nil)

// Begin prepares a call whose fields are set. The parent provides its values and deadline.
func (c *Call) Begin(parent context.Context) { c.parent = parent }

// Redactor replaces the secrets of a call by marks. Texts must be redacted before they are cut, because a part of a secret would
// not be recognized.
type Redactor interface {
	// RedactText returns the text with a mark in place of each secret.
	RedactText(text string) string

	// RedactStream returns a writer that redacts its input and writes it to to. The writer holds back a text that may be the
	// beginning of a secret, until Close. Close does not close to.
	RedactStream(to io.Writer) io.WriteCloser

	// RedactLive is RedactStream for readers that follow a stream: its writer holds back as little text as possible, for as short a
	// time as possible.
	RedactLive(to io.Writer) io.WriteCloser
}

// Host is the environment of a call.
type Host interface {
	Reporter
	Room
	Redactor() Redactor // nil: the call has no secrets
}

// keychainHost is a Host that has a keychain.
type keychainHost interface {
	// Keychain returns the keychain for the expressions of the binding.
	Keychain() any
}

// outputHost is a Host that publishes the output of a program while the program runs.
type outputHost interface {
	// Writes returns the writer for one stream of the program, Stdout or Stderr, without secrets. The writer returns no error and
	// waits for no reader.
	Writes(stream string) io.WriteCloser
}

// HostBy sets the host of the call, before the call is made. A call without a host cannot report, takes no room for its answer, and
// has no secrets.
func (c *Call) HostBy(h Host) { c.host = h }

func (c *Call) redactor() Redactor {
	if c.host == nil {
		return nil
	}
	return c.host.Redactor()
}

// redact returns a text without the call's secrets.
func (c *Call) redact(text string) string {
	r := c.redactor()
	if r == nil {
		return text
	}
	return r.RedactText(text)
}

// Decode returns the input as a value of package value.
func (c *Call) Decode() (value.Value, error) { return value.Of(c.Input) }

// End ends the context of the call with a cause; nil means context.Canceled. Only the first End counts.
func (c *Call) End(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	c.cause = cause
	if c.done != nil {
		close(c.done)
	}
}

// Done returns a channel that is closed when the attempt has ended. The channel is made on first use, because most Go functions do
// not use it.
func (c *Call) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.cause != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err returns context.Canceled once the attempt has ended.
func (c *Call) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return context.Canceled
	}
	return nil
}

// Cause returns the reason for the end of the attempt, or nil while it runs.
func (c *Call) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// Deadline returns the deadline of the parent.
func (c *Call) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Value returns the call itself for the key that CallOf uses, and the value of the parent for other keys.
func (c *Call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.parent.Value(key)
}

type callKey struct{}

// CallOf returns the call to which ctx belongs, or nil outside a call.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}
