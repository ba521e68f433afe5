package coordinator

import "sync"

// capacity bounds the calls of the whole process. It delays the request of a call, never a status.
type capacity struct {
	mu      sync.Mutex
	max     int // 0: no limit
	used    int
	waiting []*run // want to be told when there is room
	closed  bool
}

// take reserves room for one call of r. Without room, r is poked when there is room.
func (a *capacity) take(r *run) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return false
	case a.max > 0 && a.used >= a.max:
		a.waiting = append(a.waiting, r)
		return false
	}
	a.used++
	return true
}

// add counts calls that are made without asking: those a recovered run had under way.
func (a *capacity) add(n int) {
	a.mu.Lock()
	a.used += n
	a.mu.Unlock()
}

// release gives the room of n calls back.
func (a *capacity) release(n int) {
	if n == 0 {
		return
	}
	a.mu.Lock()
	a.used -= n
	waiting := a.waiting
	a.waiting = nil
	a.mu.Unlock()
	for _, r := range waiting {
		r.again()
	}
}

// close has room for nothing more.
func (a *capacity) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
}
