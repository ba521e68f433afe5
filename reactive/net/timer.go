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
	moreTimer    = "more" // the last event has led to as much work as one may
)

// timer ends a step-run, or wakes an iteration whose task makes no call.
type timer struct {
	due int64
	run *stepRun
	it  *iteration // nil: the run's timeout
	key string     // of the task that is tried again
	seq uint64     // in the order of setting: of two at one instant the earlier goes first
}

// timers is a heap. Those that have lost their meaning are dropped when they come up, or when there are many of them.
type timers struct {
	net   *Net
	list  []*timer
	seq   uint64
	sweep int // length of list at which those without meaning are looked for
}

// timersSwept is the least number of timers at which those without meaning are looked for.
const timersSwept = 64

func (t *timers) Len() int { return len(t.list) }

func (t *timers) Less(i, j int) bool {
	a, b := t.list[i], t.list[j]
	if a.due != b.due {
		return a.due < b.due
	}
	if (a.it == nil) != (b.it == nil) {
		return a.it != nil // what was to be tried again is, before the time is over
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

// inOrder returns the timers in the order in which they go.
func (t *timers) inOrder() []*timer {
	all := &timers{list: slices.Clone(t.list)}
	sort.Sort(all)
	return all.list
}

// add sets a timer. A timer keeps its step-run, so those of runs that have ended long before they are due are dropped
// together: there are never more than about twice as many as mean something.
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

// alive reports whether a timer still means something.
func (t *timers) alive(x *timer) bool {
	if t.net.runs.byKey[x.run.key] != x.run {
		return false
	}
	return x.it == nil || x.run.iters[x.it.index] == x.it && x.it.wake == x.due
}

// NextDue returns when the next timer is due, Unix nanoseconds, and whether a task is then tried again; 0: there is none.
func (n *Net) NextDue() (due int64, retry bool) {
	due, retry = n.timers.nextSet()
	if n.pipelines.more > 0 && (due == 0 || n.pipelines.more <= due) {
		return n.pipelines.more, true
	}
	return due, retry
}

// nextSet is NextDue for the timers that were set.
func (t *timers) nextSet() (due int64, retry bool) {
	for t.Len() > 0 && !t.net.stopped {
		if x := t.list[0]; t.alive(x) {
			return x.due, x.it != nil
		}
		heap.Pop(t)
	}
	return 0, false
}

// Fire returns the event of the next timer. It stays the next until that event was applied.
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

// fired takes a timer's event. It is that of the first timer that means something, or of a call.
func (t *timers) fired(e *journal.Event) {
	if due, _ := t.net.NextDue(); due != e.Detail.Due || e.Detail.Timer == moreTimer { // what goes on does so with every event
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
