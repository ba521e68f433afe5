package memory

import (
	"sync"
	"sync/atomic"
)

// watch wakes those that wait for any change. Without them, a change costs one atomic load.
type watch struct {
	waiting atomic.Int64
	mu      sync.Mutex
	changed chan struct{} // nil: none waits
}

// begin returns a channel that the next change closes. The caller then looks whether there is one already, and calls end later.
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
