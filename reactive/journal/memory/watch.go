package memory

import (
	"sync"
	"sync/atomic"
)

// watch wakes goroutines that wait for any change. Without such goroutines, a change costs one atomic load.
type watch struct {
	waiting atomic.Int64
	mu      sync.Mutex
	changed chan struct{} // nil: no goroutine waits
}

// begin returns a channel that the next change closes. The caller must then check for an earlier change, and later call end.
func (w *watch) begin() <-chan struct{} {
	w.waiting.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return w.changed
}

func (w *watch) end() { w.waiting.Add(-1) }

// wake is called after a change.
func (w *watch) wake() {
	if w.waiting.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}
