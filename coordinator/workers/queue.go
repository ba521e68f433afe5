package workers

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// queue holds the runs that wait for a worker of an operation, those first that came first.
type queue struct {
	runs []queued         // some of which have gone, or have come again
	came map[string]int64 // those that wait, and since when, in Unix nanoseconds
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

// since returns since when the run waits that came first; the zero time if none does.
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
// first are those that have waited longest, as far as their heads say.
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

// Leave ends the waiting of a run that makes no more calls.
func (h *Hub) Leave(run string, operations []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range operations {
		if o := h.operations[name]; o != nil {
			o.queue.remove(run)
		}
	}
}
