package scenario

import (
	"container/heap"

	"github.com/sluiceflow/sluice/reactive/decide"
)

// schedule holds the future items of a run, in the order of their instants and, within one, of their requests. It survives a crash
// of the engine, as answers of the outside world do.
type schedule struct {
	queue scheduledItems
	made  int
}

// scheduled is an item with the instant at which it arrives.
type scheduled struct {
	due   int64 // Unix nanoseconds
	order int   // among items of one instant
	times int   // how often it arrives, in immediate succession
	bytes int   // of what it brings
	item  decide.Item
}

// takenMax bounds the items of a run in one turn, since an answer may arrive a thousand times.
const takenMax = 1_000

type scheduledItems []scheduled

func (q scheduledItems) Len() int { return len(q) }
func (q scheduledItems) Less(i, j int) bool {
	return q[i].due < q[j].due || q[i].due == q[j].due && q[i].order < q[j].order
}
func (q scheduledItems) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *scheduledItems) Push(x any)   { *q = append(*q, x.(scheduled)) }
func (q *scheduledItems) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

func (a *schedule) add(due int64, it decide.Item) { a.repeat(due, 1, it) }

func (a *schedule) repeat(due int64, times int, it decide.Item) {
	if times > 0 {
		heap.Push(&a.queue, scheduled{due, a.made, times, sizeOf(&it), it})
		a.made++
	}
}

// next returns the instant of the next item; false: there is none.
func (a *schedule) next() (int64, bool) {
	if len(a.queue) == 0 {
		return 0, false
	}
	return a.queue[0].due, true
}

// take removes and returns due items, at most takenMax, and of those that bring more than so many bytes together only one; the
// rest follows in a later turn. All are received at instant now: the engine may have been away when they were due.
func (a *schedule) take(now int64, bytes int) []decide.Item {
	var items []decide.Item
	for len(a.queue) > 0 && a.queue[0].due <= now && len(items) < takenMax {
		if bytes -= a.queue[0].bytes; bytes < 0 && len(items) > 0 {
			break
		}
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
