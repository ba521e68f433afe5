package reader

import (
	"context"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// markWorkers marks the operations that workers carry out, so that steps waiting for them are reported as such. A process without
// workers takes this from the head, written by the process that drove the run.
func markWorkers(ctx context.Context, r *Reader, run string, entry *registry.Entry, root *reactive.Root) {
	rooms, next := make([]reactive.Room, len(entry.Plan.Operations)), reactive.WorkerRoom
	var head *journal.Head
	for i, p := range entry.Performers {
		op := &entry.Plan.Operations[i]
		if p == nil && op.Kind == plan.Call && op.Bound == nil && head == nil {
			stored, _ := r.Head(ctx, run) // the zero Head has no waits
			head = &stored
		}
		if p != nil && p.Worker || p == nil && head != nil && slices.ContainsFunc(head.Waits, func(w journal.Wait) bool {
			return w.Kind == journal.WaitWorker && w.Name == op.Name
		}) {
			rooms[i] = next
			next++
		}
	}
	if next > reactive.WorkerRoom {
		root.Rooms(rooms)
	}
}

// unserved adds to waits for workers the time since which there are no such workers.
func unserved(p Process, list []inspect.Wait) {
	for i := range list {
		if w := &list[i]; w.Kind == inspect.ForWorker {
			if since := p.Unserved(w.Name); !since.IsZero() {
				w.Since = since.UnixNano()
			}
		}
	}
}
