package reactive

import "github.com/sluiceflow/sluice/reactive/journal"

// NextDue returns when the next timer is due, Unix nanoseconds; 0: there is none.
func (r *Root) NextDue() int64 {
	due, _ := r.nextTimer()
	return due
}

// nextTimer returns when the next timer is due, and whether it is the body's. Of several at one instant the body's retries come
// before everything but retries of calls, and its other timers come last.
func (r *Root) nextTimer() (next int64, body bool) {
	if r.Done() {
		return 0, false // it finishes at this very instant: an answer at the instant of the deadline counts
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

// Fire returns the consequence of the first timer that is due at now, as the event to be applied and journaled next. It
// reports false when none is due. The timer stays until its event has been applied.
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
