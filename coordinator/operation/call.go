package operation

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/value"
)

// Call is one attempt of one step, passed to the Caller. It is also the attempt's context: it ends when the attempt does, by
// timeout, abort or the end of the run.
type Call struct {
	call.Request
	About map[string]any // data about the participant for bindings; nil: none. Shared, like Input

	parent context.Context
	mu     sync.Mutex
	done   chan struct{}
	cause  error

	host    Host       // nil: none
	reports *numbering // of its reports; nil: none yet
}

var _ context.Context = (*Call)(nil)

// Begin prepares a call whose fields are set. Values and the deadline come from parent.
func (c *Call) Begin(parent context.Context) { c.parent = parent }

// Redactor replaces the secrets of a call by marks. Texts are cut only after that: half a secret would not be recognized.
type Redactor interface {
	// RedactText returns the text with a mark in place of each secret.
	RedactText(text string) string

	// RedactStream returns a writer that redacts its input and writes it to to. It holds back a text that may be the beginning
	// of a secret; Close writes that, and does not close to.
	RedactStream(to io.Writer) io.WriteCloser

	// RedactLive is RedactStream for a reader that follows the text as it is written: it holds back as little as it can, for as short as it can.
	RedactLive(to io.Writer) io.WriteCloser
}

// Host makes a call.
type Host interface {
	Reporter
	Room
	Redactor() Redactor // nil: the call has no secrets
}

// keyholder is a Host with a keychain.
type keyholder interface {
	// Keychain returns the keychain as the expressions of the call's binding read it.
	Keychain() any
}

// listener is a Host that passes on the output of a program while it runs.
type listener interface {
	// Writes returns where the program writes one of its streams, without secrets: Stdout or Stderr. It returns no error and waits for
	// no reader.
	Writes(stream string) io.WriteCloser
}

// HostBy sets the call's host, before the call is made. A call without a host cannot report, has no bound on its answer and
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

// End ends the call's context with a cause; nil is context.Canceled. Only the first call counts.
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

// Done is closed when the attempt has ended. The channel is made on first use: most Go functions never use it.
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

// Cause returns why the attempt has ended, or nil.
func (c *Call) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// Deadline returns the parent's.
func (c *Call) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Value returns the call itself for the key of CallOf, and the parent's values for other keys.
func (c *Call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.parent.Value(key)
}

type callKey struct{}

// CallOf returns the call that ctx belongs to; nil outside one.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}
