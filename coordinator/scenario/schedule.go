package scenario

import (
	"container/heap"
	"math/rand/v2"

	"github.com/sluiceflow/sluice/reactive/decide"
)

// schedule holds the future items of a run, in the order of their instants and, within one, of their requests. It survives a crash
// of the engine, as answers of the outside world do.
type schedule struct {
	queue  scheduledItems
	made   int
	groups int
}

// scheduled is an item with the instant at which it arrives.
type scheduled struct {
	due   int64 // Unix nanoseconds
	order int   // among items of one instant
	times int   // how often it arrives, in immediate succession
	item  decide.Item
	group int // of items whose order is given, such as the messages of one entry; 0: it has none
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

func (a *schedule) add(due int64, it decide.Item) { a.repeat(due, 1, it, 0) }

// group returns the number of a new group.
func (a *schedule) group() int {
	a.groups++
	return a.groups
}

func (a *schedule) repeat(due int64, times int, it decide.Item, group int) {
	if times > 0 {
		heap.Push(&a.queue, scheduled{due, a.made, times, it, group})
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

// take removes and returns due items with their groups, at most takenMax; the rest follows in a later turn. All are received at
// instant now: the engine may have been away when they were due.
func (a *schedule) take(now int64) (items []decide.Item, groups []int) {
	for len(a.queue) > 0 && a.queue[0].due <= now && len(items) < takenMax {
		it := a.queue[0].item
		groups = append(groups, a.queue[0].group)
		if a.queue[0].times--; a.queue[0].times == 0 {
			heap.Pop(&a.queue)
		} else if it.Event.Detail != nil {
			detail := *it.Event.Detail
			it.Event.Detail = &detail
		}
		it.Received = now
		items = append(items, it)
	}
	return items, groups
}

// shuffle returns the items in a random order, but those of one group in the order given.
func shuffle(random *rand.Rand, items []decide.Item, groups []int) []decide.Item {
	inOrder := map[int][]int{} // the items of a group that are still to come
	for i, group := range groups {
		inOrder[group] = append(inOrder[group], i)
	}
	out := make([]decide.Item, 0, len(items))
	for _, i := range random.Perm(len(items)) {
		if group := groups[i]; group != 0 {
			i, inOrder[group] = inOrder[group][0], inOrder[group][1:]
		}
		out = append(out, items[i])
	}
	return out
}
