package coordinator

import "context"

// notices tell those who wait for a run that is not in memory when it is parked. They are guarded by the engine's mu.
type notices map[string]*notice

type notice struct {
	ctx     context.Context // ends with the notice, or when the engine shuts down
	cancel  context.CancelFunc
	waiting int
}

// notice returns a context that ends when a run is parked, and has ended when the run is in memory; and a function to be called
// by who waits no longer.
func (e *Engine) notice(id string) (ctx context.Context, leave func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.notices[id]
	if n == nil {
		n = &notice{}
		n.ctx, n.cancel = context.WithCancel(e.ctx)
		if e.runs[id] != nil {
			n.cancel()
			return n.ctx, func() {}
		}
		e.notices[id] = n
	}
	n.waiting++
	return n.ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if n.waiting--; n.waiting == 0 {
			n.cancel()
			if e.notices[id] == n {
				delete(e.notices, id)
			}
		}
	}
}

// give ends the wait for a run. The caller holds the engine's mu.
func (all notices) give(id string) {
	if n := all[id]; n != nil {
		n.cancel()
		delete(all, id)
	}
}
