// Package parking remembers the runs that a process cannot go on with, and why, and tells those who wait for one when that changes.
// Being parked is a state of the process and not of the run.
package parking

import (
	"sync"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// parkedMax bounds how many parked runs are remembered. One that is not is parked all the same: who asks for it is told why,
// but lists do not show it.
const parkedMax = 100_000

// Lot is where the parked runs of a process are. It is safe for concurrent use.
type Lot struct {
	mu      sync.Mutex
	places  map[string]*Place
	notices map[string]*notice
}

// New returns a lot without runs.
func New() *Lot { return &Lot{places: map[string]*Place{}, notices: map[string]*notice{}} }

// Place is where one run is parked. It is not changed.
type Place struct {
	Reason error          // wraps decide.ErrParked
	Start  *journal.Start // what the run was started with, where more workflows could help; nil where not

	over chan struct{} // closed when the run is tried again
}

// Park parks a run that is not in memory. It reports whether that is news, which is to be told once, as long as the reason stays
// the same.
func (l *Lot) Park(run string, reason error, start *journal.Start) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.give(run)
	p := l.places[run]
	if p == nil && len(l.places) >= parkedMax {
		return true
	}
	news = p == nil || p.Reason.Error() != reason.Error()
	l.places[run] = &Place{Reason: reason, Start: start, over: make(chan struct{})}
	return news
}

// At returns where a run is parked; nil where it is not known to be.
func (l *Lot) At(run string) *Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places[run]
}

// Leave forgets that a run was parked: it goes on.
func (l *Lot) Leave(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.places, run)
}

// Try tells those who wait for a parked run that it is tried again.
func (l *Lot) Try(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.places[run]
	if p == nil {
		return
	}
	select {
	case <-p.over:
	default:
		close(p.over)
	}
}

// Tried returns a channel that is closed when a parked run is tried again, if it has not been yet; nil when that will not be known.
func (l *Lot) Tried(run string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.places[run]; p != nil {
		return p.over
	}
	if len(l.places) >= parkedMax {
		return nil
	}
	tried := make(chan struct{})
	close(tried)
	return tried
}

// Missing returns the runs that more workflows could help.
func (l *Lot) Missing() map[string]*Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing := map[string]*Place{}
	for run, p := range l.places {
		if p.Start != nil {
			missing[run] = p
		}
	}
	return missing
}
