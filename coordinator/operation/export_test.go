package operation

import (
	"time"
)

// RetryAfter lets tests choose the instant that a Retry-After header counts from.
var RetryAfter = retryAfter

// WithGrace sets how long the processes of a command have to end, so that tests need not wait for it, or wait for ever.
func WithGrace(caller Caller, grace time.Duration) Caller {
	b := *caller.(*command)
	b.grace = grace
	return &b
}

// CloseIdleConnections ends what the shared client keeps open.
func CloseIdleConnections() { sharedClient().CloseIdleConnections() }
