package scenario

import (
	"container/heap"

	"github.com/sluiceflow/sluice/reactive/decide"
)

// agenda holds what will come in for a run, in the order of the instants and, within one, of the asking. It survives the
// engine: answers are under way in the world, wherever the run is.
type agenda struct {
	queue appointments
	made  int
}

// appointment is an item with the instant at which it comes in.
type appointment struct {
	due   int64 // Unix nanoseconds
	order int   // of those due at one instant
	item  decide.Item
}

type appointments []appointment

func (q appointments) Len() int { return len(q) }
func (q appointments) Less(i, j int) bool {
	return q[i].due < q[j].due || q[i].due == q[j].due && q[i].order < q[j].order
}
func (q appointments) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *appointments) Push(x any)   { *q = append(*q, x.(appointment)) }
func (q *appointments) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

func (a *agenda) add(due int64, it decide.Item) {
	heap.Push(&a.queue, appointment{due, a.made, it})
	a.made++
}

// next is when the next item comes in; false: none will.
func (a *agenda) next() (int64, bool) {
	if len(a.queue) == 0 {
		return 0, false
	}
	return a.queue[0].due, true
}

// take gives what has come in by now, received at this instant: the engine may have been away when it was due.
func (a *agenda) take(now int64) []decide.Item {
	var items []decide.Item
	for len(a.queue) > 0 && a.queue[0].due <= now {
		it := heap.Pop(&a.queue).(appointment).item
		it.Received = now
		items = append(items, it)
	}
	return items
}
