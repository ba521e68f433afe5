package keychain

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Rings has the rings of the runs of an engine, each while it is referenced. The ring of a child run also redacts the secrets of its
// parent, because its input may contain them. It is safe for concurrent use.
type Rings struct {
	timeout time.Duration
	find    func(ctx context.Context, run string) (Begun, error)

	mu   sync.Mutex
	live map[string]weak.Pointer[Ring] // by the id of the run
}

// Begun describes the start of a run.
type Begun struct {
	Workflow *template.Workflow          // that it follows
	Dir      string                      // to which paths of files are relative; "": the folder of the process
	Input    func() (value.Value, error) // reads its input
}

// NewRings returns no rings yet. timeout bounds each request to a server for a secret; 0: 30 s. find describes the start of a run that is
// not in memory.
func NewRings(timeout time.Duration, find func(ctx context.Context, run string) (Begun, error)) *Rings {
	return &Rings{timeout: timeout, find: find, live: map[string]weak.Pointer[Ring]{}}
}

// Begin fetches the secrets of a new run of w, and returns its ring; nil if neither the run nor a run above it has secrets. The run above
// is in memory. If the run's own secrets cannot be fetched, the run does not start. Once no other run can take the id, the caller passes
// the ring to Keep.
func (r *Rings) Begin(ctx context.Context, run string, w *template.Workflow, input value.Value, dir string) (*Ring, error) {
	var workload map[string]value.Value
	if h, ok := w.Routing.(holder); ok {
		workload = h.WorkloadOf(input)
	}
	ring := below(r.of(journal.ParentRun(run)), w, workload, dir, r.timeout)
	if ring == nil {
		return nil, nil
	}
	if err := ring.Resolve(ctx); err != nil {
		return nil, fmt.Errorf("workflow %s: %w", w.Name, err)
	}
	return ring, nil
}

// Of returns the ring of a run that has begun; nil if neither it nor a run above it has secrets. The run's own secrets are fetched anew
// when they are needed; its earlier secrets are still redacted.
func (r *Rings) Of(ctx context.Context, run string, w *template.Workflow, workload map[string]value.Value, dir string) *Ring {
	if ring := r.of(run); ring != nil {
		ring.renew()
		return ring
	}
	ring := below(r.above(ctx, run), w, workload, dir, r.timeout)
	r.mu.Lock()
	defer r.mu.Unlock()
	if first := r.live[run].Value(); first != nil { // another goroutine has made one meanwhile
		return first
	}
	r.keep(run, ring)
	return ring
}

// Keep records the ring of a new run under its id; nil: it has none.
func (r *Rings) Keep(run string, ring *Ring) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(run, ring)
}

// keep is Keep. The caller holds mu.
func (r *Rings) keep(run string, ring *Ring) {
	if ring == nil {
		return
	}
	r.live[run] = weak.Make(ring)
	runtime.AddCleanup(ring, r.forget, run)
}

// above returns the ring of the run that has started another; nil if there is none, or it can no longer be read.
func (r *Rings) above(ctx context.Context, run string) *Ring {
	parent := journal.ParentRun(run)
	if parent == "" {
		return nil
	}
	if ring := r.of(parent); ring != nil {
		return ring
	}
	b, err := r.find(ctx, parent)
	if err != nil {
		return nil
	}
	var workload map[string]value.Value
	if h, ok := b.Workflow.Routing.(holder); ok && len(h.Secrets()) > 0 { // otherwise the input, which may be large, is not needed
		input, err := b.Input()
		if err != nil {
			return nil
		}
		workload = h.WorkloadOf(input)
	}
	return r.Of(ctx, parent, b.Workflow, workload, b.Dir)
}

// of returns the ring of a run; nil if it is no longer referenced.
func (r *Rings) of(run string) *Ring {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[run].Value()
}

// forget forgets a run if its ring is no longer referenced.
func (r *Rings) forget(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live[run].Value() == nil { // otherwise it has another ring
		delete(r.live, run)
	}
}
