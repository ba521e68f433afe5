// Package schedule holds the items that arrive at the run of a scenario, and their times.
package schedule

import (
	"container/heap"
	"math"
	"math/rand/v2"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template/value"
)

// Schedule holds the future items of a run, in the order of their instants and, within one, of their requests. It survives a crash
// of the engine, as answers of the outside world do. The zero Schedule is empty.
type Schedule struct {
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
	bytes int // of its contents
	group int // of items whose order is given, such as the messages of one entry; 0: it has none
}

// TakenMax bounds the items of a run in one turn, since an answer may arrive a thousand times.
const TakenMax = 1_000

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

// Add adds an item that arrives once at an instant (Unix nanoseconds), and has no group.
func (a *Schedule) Add(due int64, it decide.Item) { a.Repeat(due, 1, it, 0) }

// Group returns the number of a new group: of items that Shuffle leaves in their order.
func (a *Schedule) Group() int {
	a.groups++
	return a.groups
}

// Repeat adds an item that arrives several times in immediate succession; 0: it never does.
func (a *Schedule) Repeat(due int64, times int, it decide.Item, group int) {
	if times > 0 {
		heap.Push(&a.queue, scheduled{due, a.made, times, it, sizeOf(&it), group})
		a.made++
	}
}

// Next returns the instant of the next item; false: there is none.
func (a *Schedule) Next() (int64, bool) {
	if len(a.queue) == 0 {
		return 0, false
	}
	return a.queue[0].due, true
}

// Take removes and returns due items with their groups, at most TakenMax, and of those that bring more than so many bytes together
// only one; the rest follows in a later turn. All are received at instant now: the engine may have been away when they were due.
func (a *Schedule) Take(now int64, bytes int) (items []decide.Item, groups []int) {
	for len(a.queue) > 0 && a.queue[0].due <= now && len(items) < TakenMax {
		if bytes -= a.queue[0].bytes; bytes < 0 && len(items) > 0 {
			break
		}
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

// Shuffle returns the items in a random order, but those of one group in the order given.
func Shuffle(random *rand.Rand, items []decide.Item, groups []int) []decide.Item {
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

// sizeOf returns the approximate bytes of an item's contents.
func sizeOf(it *decide.Item) int {
	size := bytesOf(it.Event.Value)
	if d := it.Event.Detail; d != nil {
		size += bytesOf(d.About)
		if d.Failure != nil {
			size += bytesOf(d.Failure.Details) + len(d.Failure.Message)
		}
	}
	return size
}

// bytesOf returns the bytes that a value takes; 0 if it is none, which is refused when it arrives.
func bytesOf(v any) int {
	size, _ := value.Size(v, math.MaxInt)
	nodes, _ := value.Nodes(v, math.MaxInt)
	return size + (nodes-1)*value.NodeBytes
}
