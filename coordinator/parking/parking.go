// Package parking records the runs that a process cannot go on with, finds out why, and tries them again. A caller that waits for a run is
// woken when the run is parked or tried again. Parking is a state of the process, not of the run.
package parking

import (
	"sync"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// parkedMax bounds the recorded runs. A run beyond it is parked without being recorded: a caller that waits for it receives the
// reason, but lists do not show it.
const parkedMax = 100_000

// Runs holds the parked runs of a process. It is safe for concurrent use.
type Runs struct {
	mu      sync.Mutex
	places  map[string]*Place
	notices map[string]*notice
}

// New returns an empty set of parked runs.
func New() *Runs { return &Runs{places: map[string]*Place{}, notices: map[string]*notice{}} }

// Place describes one parked run. It is immutable.
type Place struct {
	Reason error          // wraps decide.ErrParked
	Start  *journal.Start // start of the run if registering further workflows could help, otherwise nil

	tried chan struct{} // closed when the run is tried again
}

// Park parks a run that is not in memory. It reports whether the run was not parked before, or for another reason: only then
// should the caller log it.
func (l *Runs) Park(run string, reason error, start *journal.Start) (changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notify(run)
	p := l.places[run]
	if p == nil && len(l.places) >= parkedMax {
		return true
	}
	changed = p == nil || p.Reason.Error() != reason.Error()
	l.places[run] = &Place{Reason: reason, Start: start, tried: make(chan struct{})}
	return changed
}

// At returns the place of a parked run, or nil if it is not recorded.
func (l *Runs) At(run string) *Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places[run]
}

// Remove removes a run that is no longer parked.
func (l *Runs) Remove(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.places, run)
}

// Retrying wakes the callers that wait for a parked run, because it is being tried again.
func (l *Runs) Retrying(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.places[run]
	if p == nil {
		return
	}
	select {
	case <-p.tried:
	default:
		close(p.tried)
	}
}

// Tried returns a channel that is closed when a parked run is tried again. It is nil if the run is not recorded because there
// are too many.
func (l *Runs) Tried(run string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.places[run]; p != nil {
		return p.tried
	}
	if len(l.places) >= parkedMax {
		return nil
	}
	tried := make(chan struct{})
	close(tried)
	return tried
}

// Missing returns the parked runs that registering further workflows could help.
func (l *Runs) Missing() map[string]*Place {
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
