package coordinator

import (
	"container/heap"
	"time"
)

// sleepers are the runs that left memory with a timer: an id and an instant each, and one goroutine for all.
type sleepers struct {
	queue sleepQueue
	wake  chan struct{}
}

type sleeper struct {
	due int64
	id  string
}

type sleepQueue []sleeper

func (q sleepQueue) Len() int           { return len(q) }
func (q sleepQueue) Less(i, j int) bool { return q[i].due < q[j].due }
func (q sleepQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *sleepQueue) Push(x any)        { *q = append(*q, x.(sleeper)) }
func (q *sleepQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// sleep has a run woken at an instant. A run that was woken earlier is merely looked at once more then. The caller
// holds the engine's mu.
func (e *Engine) sleep(id string, due int64) {
	heap.Push(&e.sleepers.queue, sleeper{due, id})
	if e.sleepers.queue[0].id == id {
		select {
		case e.sleepers.wake <- struct{}{}:
		default:
		}
	}
}

// wakeSleepers loads runs when they are due.
func (e *Engine) wakeSleepers() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		pause := e.wakeDue()
		timer.Reset(pause)
		select {
		case <-e.ctx.Done():
			return
		case <-e.sleepers.wake:
		case <-timer.C:
		}
	}
}

// wakeDue loads what is due and says how long until the next.
func (e *Engine) wakeDue() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.sleepers.queue) > 0 {
		next := e.sleepers.queue[0]
		if pause := e.clock.until(next.due); pause > 0 {
			return pause
		}
		heap.Pop(&e.sleepers.queue)
		e.load(next.id)
	}
	return time.Hour
}
