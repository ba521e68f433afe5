package operation

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/value"
)

// Call is one attempt of one step, handed to whoever carries it out. It is the context of the attempt too: it ends when
// the attempt does, be it by timeout, abort or the end of the run.
type Call struct {
	call.Request
	About map[string]any // what bindings see of the participant; nil: nothing. Shared, like Input

	parent context.Context
	mu     sync.Mutex
	done   chan struct{}
	cause  error

	host    Host       // nil: there is none
	reports *numbering // of its reports; nil: it has made none
}

var _ context.Context = (*Call)(nil)

// Begin readies a call whose fields are set. Values and the deadline come from parent.
func (c *Call) Begin(parent context.Context) { c.parent = parent }

// Redactor puts marks in the place of the secrets that a call is given. What cuts a text does so after that: of half a secret
// nobody knows what it was.
type Redactor interface {
	// RedactText returns the text with a mark in the place of each secret.
	RedactText(text string) string

	// RedactStream returns a writer that does the same on the way to to. It holds back what may be the beginning of a secret;
	// Close writes that, and leaves to open.
	RedactStream(to io.Writer) io.WriteCloser
}

// Host is what carries a call out.
type Host interface {
	Reporter
	Room
	Redactor() Redactor // nil: the call is given no secrets
}

// HostBy names the call's host. It is called before the call is made; a call without a host cannot report, has no bound on its
// answer and is given no secrets.
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

// Decode gives the input as a value of package value.
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

// Done is closed when the attempt has ended. The channel is made when first asked for: most Go functions never do.
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

// Err is context.Canceled once the attempt has ended.
func (c *Call) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return context.Canceled
	}
	return nil
}

// Cause is why the attempt ended; nil while it lasts.
func (c *Call) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// Deadline is the parent's.
func (c *Call) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Value gives the call itself to CallOf, and everything else from the parent.
func (c *Call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.parent.Value(key)
}

type callKey struct{}

// CallOf is the call that ctx belongs to; nil outside one.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}
