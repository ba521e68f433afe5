// Package residence evicts runs from memory when there are too many, the longest idle first.
package residence

import (
	"container/list"
	"sync"
)

// Max is the default of the number of runs that stay in memory. A run takes some 25 kB there with its stack, and 0.4 kB on its way back.
const Max = 1_500

// Runs holds the runs in memory that rest: only a timer, a message or a person can move them. It is safe for concurrent use.
type Runs struct {
	max     int
	mu      sync.Mutex
	count   int       // runs in memory
	leaving int       // number of these that were asked to leave
	resting list.List // of *Place, the idlest first
}

// New returns a set without runs. At most max runs stay in memory; 0: Max; negative: no limit.
func New(max int) *Runs {
	if max == 0 {
		max = Max
	}
	return &Runs{max: max}
}

// Place is the place of one run. The zero Place belongs to a run that does not rest.
type Place struct {
	at    *list.Element // nil: the run does not rest
	leave func()        // asks the run to leave memory; called with the lock of Runs held
	asked bool
}

// Count sets the number of runs in memory. If there are too many, it asks the idlest to leave.
func (r *Runs) Count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count = n
	r.ask()
}

// Rest records that a run begins to rest. If there are too many runs in memory, it asks the idlest to leave, which may be this one:
// leave is then called, and must return at once.
func (r *Runs) Rest(p *Place, leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.leave, p.at = leave, r.resting.PushBack(p)
	r.ask()
}

// Rise records that a run no longer rests, and reports whether it was asked to leave. Until Left or Stay is called, it counts as
// leaving: no other is asked in its place.
func (r *Runs) Rise(p *Place) (asked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.at != nil {
		r.resting.Remove(p.at)
		p.at = nil
	}
	return p.asked
}

// Stay records that a run stays, perhaps after it was asked to leave. If there are too many runs in memory, another is asked.
func (r *Runs) Stay(p *Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered(p)
	r.ask()
}

// Left records that a run has left memory, and sets the number of runs there.
func (r *Runs) Left(p *Place, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.at != nil {
		r.resting.Remove(p.at)
		p.at = nil
	}
	r.answered(p)
	r.count = n
	r.ask()
}

func (r *Runs) answered(p *Place) {
	if p.asked {
		p.asked = false
		r.leaving--
	}
}

// ask asks the idlest runs to leave as long as there are too many. The caller holds mu.
func (r *Runs) ask() {
	for r.max >= 0 && r.count-r.leaving > r.max {
		first := r.resting.Front()
		if first == nil {
			return
		}
		p := r.resting.Remove(first).(*Place)
		p.at, p.asked = nil, true
		r.leaving++
		p.leave()
	}
}
