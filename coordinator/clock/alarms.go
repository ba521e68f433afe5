package clock

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// Alarms calls a function at instants, each with a name, on one goroutine for all. It is safe for concurrent use.
type Alarms struct {
	clock *Clock
	wake  chan struct{} // has a token when the next alarm may have changed

	mu      sync.Mutex
	queue   queue
	calling bool // the function is being called for an alarm
}

// NewAlarms returns the alarms of a clock, with none set.
func NewAlarms(c *Clock) *Alarms { return &Alarms{clock: c, wake: make(chan struct{}, 1)} }

type alarm struct {
	due  int64
	name string
}

type queue []alarm

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due < q[j].due }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(alarm)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// Set sets an alarm at an instant. It cannot be unset, and a name may have several.
func (a *Alarms) Set(name string, due int64) {
	a.mu.Lock()
	heap.Push(&a.queue, alarm{due, name})
	first := a.queue[0].name == name
	a.mu.Unlock()
	if first {
		a.Look()
	}
}

// Within reports whether an alarm is due before some time has passed. One for which the function has not returned yet still is.
func (a *Alarms) Within(some time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calling || len(a.queue) > 0 && a.clock.Until(a.queue[0].due) < some
}

// Look makes Run read the clock, which may have jumped.
func (a *Alarms) Look() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Run calls due with the name of each alarm at its instant, until ctx ends.
func (a *Alarms) Run(ctx context.Context, due func(name string)) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next, pause := a.next()
		if pause <= 0 {
			due(next)
			a.called()
			continue
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
		case <-timer.C:
		}
	}
}

// next removes and returns an alarm that is due, or returns the time until one may be.
func (a *Alarms) next() (name string, pause time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return "", time.Hour
	}
	first := a.queue[0]
	if pause := a.clock.Until(first.due); pause > 0 {
		return "", pause
	}
	heap.Pop(&a.queue)
	a.calling = true
	return first.name, 0
}

// called records that the function has returned.
func (a *Alarms) called() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calling = false
}
