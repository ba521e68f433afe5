package net

import (
	"container/heap"
	"slices"
	"sort"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Names of the timers in the journal.
const (
	timeoutTimer = "timeout"
	retryTimer   = "retry"
	moreTimer    = "more" // the last event reached the bound of work
)

// timer ends a step-run, or retries a task without a call.
type timer struct {
	due int64
	run *stepRun
	it  *iteration // nil: the run's timeout
	key string     // of the task to retry
	seq uint64     // order of setting: at one instant, the earlier timer fires first
}

// timers is a heap. Stale timers are dropped when they reach the top, or when they are many.
type timers struct {
	net   *Net
	list  []*timer
	seq   uint64
	sweep int // length of list at which stale timers are removed
}

// timersSwept is the minimum number of timers at which stale ones are removed.
const timersSwept = 64

func (t *timers) Len() int { return len(t.list) }

func (t *timers) Less(i, j int) bool {
	a, b := t.list[i], t.list[j]
	if a.due != b.due {
		return a.due < b.due
	}
	if (a.it == nil) != (b.it == nil) {
		return a.it != nil // retries precede timeouts
	}
	return a.seq < b.seq
}

func (t *timers) Swap(i, j int) { t.list[i], t.list[j] = t.list[j], t.list[i] }
func (t *timers) Push(x any)    { t.list = append(t.list, x.(*timer)) }

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := len(t.list) - 1
	x := t.list[last]
	t.list[last] = nil
	t.list = t.list[:last]
	return x
}

// inOrder returns the timers in the order in which they fire.
func (t *timers) inOrder() []*timer {
	all := &timers{list: slices.Clone(t.list)}
	sort.Sort(all)
	return all.list
}

// add adds a timer. A timer keeps its step-run in memory, so add removes stale timers together: the list is at most about twice
// as long as the number of valid timers.
func (t *timers) add(x *timer) {
	if t.Len() >= max(t.sweep, timersSwept) {
		t.list = slices.DeleteFunc(t.list, func(old *timer) bool { return !t.alive(old) })
		heap.Init(t)
		t.sweep = 2 * t.Len()
	}
	t.seq++
	x.seq = t.seq
	heap.Push(t, x)
}

// alive reports whether a timer is not stale.
func (t *timers) alive(x *timer) bool {
	if t.net.runs.byKey[x.run.key] != x.run {
		return false
	}
	return x.it == nil || x.run.iters[x.it.index] == x.it && x.it.wake == x.due
}

// NextDue returns the instant of the next timer, Unix nanoseconds, or 0, and reports whether the timer is for a retry or for
// more work.
func (n *Net) NextDue() (due int64, retry bool) {
	due, retry = n.timers.nextSet()
	if n.pipelines.more > 0 && (due == 0 || n.pipelines.more <= due) {
		return n.pipelines.more, true
	}
	return due, retry
}

// nextSet is NextDue without the timer for more work.
func (t *timers) nextSet() (due int64, retry bool) {
	for t.Len() > 0 && !t.net.stopped {
		if x := t.list[0]; t.alive(x) {
			return x.due, x.it != nil
		}
		heap.Pop(t)
	}
	return 0, false
}

// Fire returns the event of the next timer, which remains the next until the event is applied.
func (n *Net) Fire(now int64) journal.Event {
	if due, _ := n.NextDue(); due == n.pipelines.more {
		return journal.Event{
			Type: journal.TimerFired, At: now, Node: n.pipelines.todo[0].run.key, Detail: &journal.Detail{Timer: moreTimer, Due: due},
		}
	}
	t := n.timers.list[0]
	e := journal.Event{
		Type: journal.TimerFired, At: now, Node: t.run.key, Detail: &journal.Detail{Timer: timeoutTimer, Due: t.due},
	}
	if t.it != nil {
		e.Node, e.Detail.Timer = t.key, retryTimer
	}
	return e
}

// fired applies the event of the first valid timer. The event may also belong to a call.
func (t *timers) fired(e *journal.Event) {
	if due, _ := t.net.NextDue(); due != e.Detail.Due || e.Detail.Timer == moreTimer { // remaining work continues with every event
		return
	}
	x := t.list[0]
	switch {
	case x.it == nil && e.Detail.Timer == timeoutTimer && e.Node == x.run.key:
		heap.Pop(t)
		t.net.runs.timeout(x.run)
	case x.it != nil && e.Detail.Timer == retryTimer && e.Node == x.key:
		heap.Pop(t)
		x.it.wake = 0
		t.net.pipelines.todo = append(t.net.pipelines.todo, x.it)
	}
}
