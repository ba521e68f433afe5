// Package pickup records which runs of a store an engine goes on with: those that its Config picks up, those that it starts,
// and their child runs; but none that is held, see package holds.
package pickup

import (
	"context"
	"sync"

	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Runs holds the ids of the runs that an engine goes on with. It is safe for concurrent use.
type Runs struct {
	wants func(journal.Head) bool // nil: all
	none  bool                    // no run is picked up
	held  *holds.Holds            // those that were imported, and not resumed since
	mu    sync.Mutex
	ids   map[string]bool
}

// New returns the runs of an engine that picks up those for which wants returns true. If wants is nil, it picks up all. It picks up no
// held runs.
func New(wants func(journal.Head) bool, held *holds.Holds) *Runs {
	return &Runs{wants: wants, held: held, ids: map[string]bool{}}
}

// Holds returns the holds of the store.
func (r *Runs) Holds() *holds.Holds { return r.held }

// None returns the runs of an engine that goes on with none.
func None(held *holds.Holds) *Runs {
	return &Runs{held: held, wants: func(journal.Head) bool { return false }, none: true, ids: map[string]bool{}}
}

// Choose reports whether an unfinished run found in the store goes on here. If so, it adds the run.
func (r *Runs) Choose(head journal.Head) bool {
	if r.held.Has(head.Run) || !r.Has(head.Run) && !r.wants(head) { // outside the lock: it may panic or block
		return false
	}
	r.Add(head.Run)
	return true
}

// Add adds a run that the engine starts.
func (r *Runs) Add(run string) {
	if r.wants == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[run] = true
}

// Has reports whether a run goes on here: it was picked up or started, or is a child, `<run>/<step>#1`, of such a run.
func (r *Runs) Has(run string) bool {
	if r.held.Has(run) {
		return false
	}
	if r.wants == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.ids[run] {
		if run = journal.ParentRun(run); run == "" {
			return false
		}
	}
	return true
}

// surveyMax bounds the sleeping runs that a new engine checks. Faults of the others are found when they wake.
const surveyMax = 10_000

// Survey calls check with the id of each sleeping run until ctx ends. A panic of the store ends only one check: it recurs when
// the run is loaded.
func Survey(ctx context.Context, ids []string, check func(id string)) {
	for _, id := range ids[:min(len(ids), surveyMax)] {
		if ctx.Err() != nil {
			return
		}
		_ = usercode.Apart(func() error { check(id); return nil })
	}
}
