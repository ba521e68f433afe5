package scenario

import (
	"container/heap"

	"github.com/sluiceflow/sluice/reactive/decide"
)

// agenda holds the items to come for a run, in the order of their instants and, within one, of their requests. It survives the
// engine: answers are under way in the world, wherever the run is.
type agenda struct {
	queue appointments
	made  int
}

// appointment is an item with the instant at which it comes in.
type appointment struct {
	due   int64 // Unix nanoseconds
	order int   // of those due at one instant
	times int   // how often it comes in, in immediate succession
	item  decide.Item
}

// takenMax bounds the items of a run in one turn, since an answer may come in a thousand times.
const takenMax = 1_000

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

func (a *agenda) add(due int64, it decide.Item) { a.repeat(due, 1, it) }

func (a *agenda) repeat(due int64, times int, it decide.Item) {
	if times > 0 {
		heap.Push(&a.queue, appointment{due, a.made, times, it})
		a.made++
	}
}

// next is when the next item comes in; false: none will.
func (a *agenda) next() (int64, bool) {
	if len(a.queue) == 0 {
		return 0, false
	}
	return a.queue[0].due, true
}

// take returns the items that are due, up to takenMax; the rest comes in a later turn. All are received at this
// instant: the engine may have been away when it was due.
func (a *agenda) take(now int64) []decide.Item {
	var items []decide.Item
	for len(a.queue) > 0 && a.queue[0].due <= now && len(items) < takenMax {
		it := a.queue[0].item
		if a.queue[0].times--; a.queue[0].times == 0 {
			heap.Pop(&a.queue)
		} else if it.Event.Detail != nil {
			detail := *it.Event.Detail
			it.Event.Detail = &detail
		}
		it.Received = now
		items = append(items, it)
	}
	return items
}
