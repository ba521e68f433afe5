package pool

import (
	"sync"
	"sync/atomic"
)

// capacity bounds the calls of the whole process. It delays the request of a call, never a status.
type capacity struct {
	max    int // 0: no limit
	closed atomic.Bool

	mu      sync.Mutex
	used    int
	waiting map[*Run]bool // runs to wake once there is room
}

// acquire reserves room for one call of r. If there is none, the pool wakes r's owner once there is.
func (a *capacity) acquire(r *Run) bool {
	if a.closed.Load() || a.max == 0 {
		return !a.closed.Load()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used >= a.max {
		if a.waiting == nil {
			a.waiting = map[*Run]bool{}
		}
		a.waiting[r] = true
		return false
	}
	a.used++
	return true
}

// release releases the room of n calls.
func (a *capacity) release(n int) {
	if n == 0 || a.max == 0 {
		return
	}
	a.mu.Lock()
	a.used -= n
	waiting := a.waiting
	a.waiting = nil
	a.mu.Unlock()
	for r := range waiting {
		r.owner.Wake()
	}
}

// close admits no more calls.
func (a *capacity) close() { a.closed.Store(true) }

// Use is the use of a limit of the process.
type Use struct {
	Limit   string // its name, such as calls
	Used    int    // calls at this time
	Max     int    // at most
	Waiting int    // runs that wait for room
}

// limitNames names the rooms in their order.
var limitNames = [roomKinds]string{inCalls: "calls", inPrograms: "programs", inDeciders: "decision_calls", inDecidingPrograms: "decision_programs"}

// Uses returns the use of each limit that is set.
func (p *Pool) Uses() (list []Use) {
	for i := range p.room {
		if a := &p.room[i]; a.max > 0 {
			a.mu.Lock()
			list = append(list, Use{limitNames[i], a.used, a.max, len(a.waiting)})
			a.mu.Unlock()
		}
	}
	return list
}
