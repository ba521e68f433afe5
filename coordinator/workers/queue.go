package workers

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// queue holds the runs that wait for a worker of an operation, in the order in which they came.
type queue struct {
	runs []queued         // some have gone, or have come again
	came map[string]int64 // runs that wait, with the start of each wait, in Unix nanoseconds
}

type queued struct {
	run  string
	came int64
}

// add adds a run, unless it waits already.
func (q *queue) add(run string, came time.Time) {
	if _, waits := q.came[run]; waits {
		return
	}
	if q.came == nil {
		q.came = map[string]int64{}
	}
	q.came[run] = came.UnixNano()
	q.runs = append(q.runs, queued{run, came.UnixNano()})
}

// remove removes a run.
func (q *queue) remove(run string) {
	delete(q.came, run)
	if len(q.runs) > 2*len(q.came)+64 {
		q.runs = slices.DeleteFunc(q.runs, func(r queued) bool { return !q.waits(r) })
	}
}

// since returns the time since which the first run waits; the zero time if no run waits.
func (q *queue) since() (at time.Time) {
	if first, any := q.first(); any {
		at = time.Unix(0, first.came)
	}
	return at
}

// first returns the run that came first.
func (q *queue) first() (r queued, any bool) {
	for len(q.runs) > 0 && !q.waits(q.runs[0]) {
		q.runs[0] = queued{}
		q.runs = q.runs[1:]
	}
	if len(q.runs) == 0 {
		return r, false
	}
	return q.runs[0], true
}

func (q *queue) waits(r queued) bool {
	came, waits := q.came[r.run]
	return waits && came == r.came
}

// Expect queues the runs that waited for workers when their heads were written, so that they are known before they have been loaded: the
// first ones are those that, by their heads, have waited longest.
func (h *Hub) Expect(heads []journal.Head) {
	if h == nil {
		return
	}
	isOurs := func(w journal.Wait) bool { return w.Kind == journal.WaitWorker }
	waiting := slices.DeleteFunc(slices.Clone(heads), func(head journal.Head) bool { return !slices.ContainsFunc(head.Waits, isOurs) })
	slices.SortStableFunc(waiting, func(a, b journal.Head) int { return cmp.Compare(a.Updated, b.Updated) })
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, head := range waiting {
		for _, w := range head.Waits {
			if isOurs(w) {
				h.operation(w.Name).queue.add(head.Run, time.Unix(0, head.Updated))
			}
		}
	}
}

// Leave ends the waits of a run that makes no more calls.
func (h *Hub) Leave(run string, operations []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range operations {
		if o := h.operations[name]; o != nil {
			o.queue.remove(run)
		}
	}
}
