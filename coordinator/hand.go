package coordinator

import (
	"time"

	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/internal/usercode"
)

// A goroutine that has made a call goes on with the run itself, where the run's loop only waits: it takes the turn that follows,
// commits it where nothing else is committed, and makes the next call. So a chain of calls is one goroutine's work, and no other
// is woken for it. Callers of the engine's methods never do: their goroutines are not ours.

// turnsHere bounds the turns that a goroutine takes for a run before it leaves it to the run's loop.
const turnsHere = 16

var _ pool.Owner = (*run)(nil)

// LandHere implements pool.Owner.
func (r *run) LandHere(calls []*pool.Call) (taken, rests bool) { return r.inbox.LandHere(calls) }

// Drive implements pool.Owner.
func (r *run) Drive() {
	if !r.turns.TryLock() {
		r.inbox.Poke()
		return
	}
	loop := true // has something to do
	defer func() {
		r.turns.Unlock()
		if loop {
			r.inbox.Poke()
		}
	}()
	if !r.resting || r.gone || r.ctx.Err() != nil {
		return
	}
	err := usercode.CallExit(func() error { loop = r.act(); return nil }, r.exitedHere)
	if err != nil {
		r.collapse(err)
		r.gone = true
	}
}

// act takes turns as long as something has come in. It reports whether there is something left for the loop to do: to end, to
// wake earlier than it means to, or what is too much here.
func (r *run) act() bool {
	r.acted = time.Now()
	for range turnsHere {
		if !r.turn(r.ctx, true) {
			r.gone = true
			return true
		}
		if r.more {
			return true
		}
		if !r.inbox.Ready() {
			due := r.step.NextDue()
			return due > 0 && (r.armed == 0 || due < r.armed)
		}
	}
	return true
}

// exitedHere notes that code which was called on a goroutine of the pool has ended that goroutine. The loop goes on from what the
// journal says, and calls such code apart: see exited.
func (r *run) exitedHere(p *usercode.Panic) {
	if r.gone = true; r.careful { // it was not called apart, so it was no code that asks for an outcome
		r.collapse(p)
		return
	}
	r.careful = true
	r.rewind()
}
