package reactive

import "github.com/sluiceflow/sluice/reactive/journal"

// NextDue returns the instant of the next timer in Unix nanoseconds, or 0.
func (r *Root) NextDue() int64 {
	due, _ := r.nextTimer()
	return due
}

// nextTimer returns the instant of the next timer, and reports whether the timer is the body's. At one instant, retries of
// calls come first, then the body's retries, the other timers of calls, and the body's other timers.
func (r *Root) nextTimer() (next int64, body bool) {
	if r.Done() {
		return 0, false // the run finishes at this instant: an answer at the instant of the deadline counts
	}
	due, retries := r.keeper.NextTimer()
	if r.body == nil {
		return due, false
	}
	own, retry := r.body.NextDue()
	switch {
	case own == 0 || due != 0 && due < own:
		return due, false
	case own == due && !(retry && !retries):
		return due, false
	}
	return own, true
}

// Fire returns the event of the first timer that is due at now. It reports false if none is due. The timer stays until its
// event has been applied.
func (r *Root) Fire(now int64) (journal.Event, bool) {
	due, body := r.nextTimer()
	if due == 0 || due > now {
		return journal.Event{}, false
	}
	if body {
		return r.body.Fire(now), true
	}
	return r.keeper.Fire(now), true
}
