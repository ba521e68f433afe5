package coordinator

import "sync"

// admission bounds the calls of the whole process. It delays the request of a call, never a status.
type admission struct {
	mu      sync.Mutex
	max     int // 0: no limit
	used    int
	waiting []*run // want to be told when there is room
	closed  bool
}

// take admits one call of r. If it does not, r is poked when there is room.
func (a *admission) take(r *run) bool {
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
func (a *admission) add(n int) {
	a.mu.Lock()
	a.used += n
	a.mu.Unlock()
}

// release gives the room of n calls back.
func (a *admission) release(n int) {
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

// close admits nothing more.
func (a *admission) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
}
