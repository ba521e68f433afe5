package residence

import (
	"context"
	"sync"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// startsMax bounds the runs that are started at a time. It suffices for the largest commits: more would only take memory.
const startsMax = 512

// Starts bounds the runs whose first events are not durable yet: they cannot leave memory. It is safe for concurrent use.
type Starts chan struct{}

// NewStarts returns a bound for one engine.
func NewStarts() Starts { return make(Starts, startsMax) }

// Enter waits until there is room for one more run. The caller calls leave when the run's first events are durable, or it was not
// started; calls after the first do nothing. Enter returns decide.ErrShutdown if shut is closed first.
func (s Starts) Enter(ctx context.Context, shut <-chan struct{}) (leave func(), err error) {
	select {
	case s <- struct{}{}:
		return sync.OnceFunc(func() { <-s }), nil
	case <-ctx.Done():
		return nil, cancelled.Error(ctx)
	case <-shut:
		return nil, decide.ErrShutdown
	}
}
