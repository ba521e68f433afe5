package scenario

import (
	"container/heap"

	"github.com/sluiceflow/sluice/reactive/decide"
)

// agenda is the queue of a run's coming items, in the order of their instants and, within an instant, of their requests. It
// survives crashes of the engine.
type agenda struct {
	queue arrivals
	made  int
}

// arrival is an item with the instant at which it arrives.
type arrival struct {
	due   int64 // Unix nanoseconds
	order int   // of those due at one instant
	times int   // how often it arrives, in immediate succession
	item  decide.Item
}

// takenMax bounds the items of a run in one turn, since a script may deliver an answer a thousand times.
const takenMax = 1_000

type arrivals []arrival

func (q arrivals) Len() int { return len(q) }
func (q arrivals) Less(i, j int) bool {
	return q[i].due < q[j].due || q[i].due == q[j].due && q[i].order < q[j].order
}
func (q arrivals) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *arrivals) Push(x any)   { *q = append(*q, x.(arrival)) }
func (q *arrivals) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

func (a *agenda) add(due int64, it decide.Item) { a.repeat(due, 1, it) }

func (a *agenda) repeat(due int64, times int, it decide.Item) {
	if times > 0 {
		heap.Push(&a.queue, arrival{due, a.made, times, it})
		a.made++
	}
}

// next returns the instant of the next item. It reports false when there is none.
func (a *agenda) next() (int64, bool) {
	if len(a.queue) == 0 {
		return 0, false
	}
	return a.queue[0].due, true
}

// take returns the items that are due, up to takenMax; a later turn takes the rest. Items that fell due while the engine was
// down are received now.
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
