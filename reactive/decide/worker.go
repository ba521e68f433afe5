package decide

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// workerWaits are the waits of a run for workers. They do not follow from events but from the last step, which found no worker.
type workerWaits struct {
	nodes []int32        // the first ready node without a worker, of each operation
	said  []journal.Wait // their waits in the last head
}

// note records that there is no room for the call of a ready node, if workers carry out its operation.
func (w *workerWaits) note(v int32, room reactive.Room) {
	if room >= reactive.WorkerRoom && len(w.nodes) < journal.WaitsMax {
		w.nodes = append(w.nodes, v)
	}
}

// list returns the waits as of the last step.
func (w *workerWaits) list(root *reactive.Root) (list []journal.Wait) {
	if root.Finished() != nil || root.Paused() {
		return nil
	}
	for _, v := range w.nodes {
		if root.Status(v) != reactive.Absent {
			list = append(list, journal.Wait{Kind: journal.WaitWorker, Name: root.Operation(v).Name, Step: root.Key(v)})
		}
	}
	return list
}

// Head returns the run's entry in a list of runs, with its waits for workers.
func (s *Stepper) Head() journal.Head {
	h := HeadOf(s.root)
	s.workers.said = s.workers.list(s.root)
	h.Waits = append(h.Waits, s.workers.said[:min(len(s.workers.said), journal.WaitsMax-len(h.Waits))]...)
	return h
}

// Unsaid reports whether the run's waits for workers differ from its last head.
func (s *Stepper) Unsaid() bool {
	w := &s.workers
	return len(w.nodes)+len(w.said) > 0 && !slices.Equal(w.list(s.root), w.said)
}
