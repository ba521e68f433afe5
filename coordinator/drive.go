package coordinator

import (
	"time"

	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/internal/usercode"
)

// While a run's loop sleeps, a goroutine that has made a call drives the run itself: it takes the next turn, commits it if no
// other commit is in progress, and makes the next call. So one goroutine carries out a chain of calls without waking another.
// Callers of the engine's methods never drive a run.

// turnsHere bounds the turns that a goroutine of the pool takes before it wakes the run's loop.
const turnsHere = 16

var _ pool.Owner = (*run)(nil)

// DeliverHere implements pool.Owner.
func (r *run) DeliverHere(calls []*pool.Call) (accepted, asleep bool) {
	return r.inbox.DeliverHere(calls)
}

// Drive implements pool.Owner.
func (r *run) Drive() {
	if !r.turns.TryLock() {
		r.inbox.Wake()
		return
	}
	loop := true // must be woken
	defer func() {
		r.turns.Unlock()
		if loop {
			r.inbox.Wake()
		}
	}()
	if !r.asleep || r.stopped || r.ctx.Err() != nil {
		return
	}
	err := usercode.CallExit(func() error { loop = r.takeTurns(); return nil }, r.afterGoexitHere)
	if err != nil {
		r.recordPanic(err)
		r.stopped = true
	} else if r.result != nil {
		r.unload() // so that no caller waits for the loop to wake
	}
}

// takeTurns takes turns as long as the inbox is not empty. It reports whether the loop must be woken: because the run leaves
// memory or must be recovered, a timer is due before wakeAt, or turns remain.
func (r *run) takeTurns() bool {
	r.drivenAt = time.Now()
	for range turnsHere {
		if !r.turn(r.ctx, true) {
			r.stopped = true
			return true
		}
		if r.more {
			return true
		}
		if !r.inbox.Ready() {
			due := r.step.NextDue()
			return due > 0 && (r.wakeAt == 0 || due < r.wakeAt)
		}
	}
	return true
}

// afterGoexitHere records that the program's code has ended a goroutine of the pool. The loop recovers the run from its journal,
// and calls such code on separate goroutines: see afterGoexit.
func (r *run) afterGoexitHere(p *usercode.Panic) {
	if r.stopped = true; r.apart { // as in afterGoexit
		r.recordPanic(p)
		return
	}
	r.apart = true
	r.rewind()
}
