// Package schedule holds the future items of a run of a scenario, with their times.
package schedule

import (
	"container/heap"
	"math"
	"math/rand/v2"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template/value"
)

// Schedule holds the future items of a run, ordered by instant and, within one instant, by request. It survives a crash of the
// engine, as answers from outside do. The zero Schedule is empty.
type Schedule struct {
	queue  scheduledItems
	made   int
	groups int
}

// scheduled is an item with the instant at which it arrives.
type scheduled struct {
	due   int64 // Unix nanoseconds
	order int   // among items of one instant
	times int   // number of arrivals, in immediate succession
	item  decide.Item
	bytes int // of its contents
	group int // of items in a fixed order, such as the messages of one entry; 0: none
}

// TakenMax bounds the items of a run in one turn: one answer may arrive a thousand times.
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

// Add adds an item without a group that arrives once, at due (Unix nanoseconds).
func (a *Schedule) Add(due int64, it decide.Item) { a.Repeat(due, 1, it, 0) }

// Group returns the number of a new group. Shuffle keeps the order of items within a group.
func (a *Schedule) Group() int {
	a.groups++
	return a.groups
}

// Repeat adds an item that arrives several times in immediate succession, or never if times is 0.
func (a *Schedule) Repeat(due int64, times int, it decide.Item, group int) {
	if times > 0 {
		heap.Push(&a.queue, scheduled{due, a.made, times, it, sizeOf(&it), group})
		a.made++
	}
}

// Next returns the instant of the next item, or false if there is none.
func (a *Schedule) Next() (int64, bool) {
	if len(a.queue) == 0 {
		return 0, false
	}
	return a.queue[0].due, true
}

// Take removes and returns due items with their groups: at most TakenMax items, and as many as fit into bytes, but at least one.
// The rest follows in a later turn. All items are received at now, because the engine may have been away when they were due.
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

// Shuffle returns the items in a random order, except that the items of each group keep their order.
func Shuffle(random *rand.Rand, items []decide.Item, groups []int) []decide.Item {
	inOrder := map[int][]int{} // by group: remaining items, as indexes
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

// bytesOf returns the approximate bytes of a value in memory. An invalid value is refused when it arrives.
func bytesOf(v any) int {
	size, _ := value.Size(v, math.MaxInt)
	nodes, _ := value.Nodes(v, math.MaxInt)
	return size + max(0, nodes-1)*value.NodeBytes
}
