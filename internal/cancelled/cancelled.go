// Package cancelled reports whether channels are closed, and the errors of contexts that have ended.
package cancelled

import (
	"context"
	"errors"
	"fmt"
)

// Error returns the error of a context that has ended, with its cause if that differs. errors.Is finds both, so that a caller
// with a cause of its own still finds context.Canceled or context.DeadlineExceeded.
func Error(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// Closed reports whether a channel is closed. Nothing may be sent to the channel.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
