// Package cancelled says why a context has ended.
package cancelled

import (
	"context"
	"errors"
	"fmt"
)

// Error is the error of a context that has ended, with its cause where that says more. errors.Is finds both, so that a caller
// who gave a cause still finds context.Canceled or context.DeadlineExceeded.
func Error(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
