package reactive

import (
	"io"

	"github.com/sluiceflow/sluice/reactive/cells"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/plan"
)

// Root is the state of a run, computed from its journal: facts folded event by event, and the statuses, slots and decisions
// derived from them. Apply is its only input. It has no clock, no goroutine and does no I/O, so the same plan and the same events
// lead to the same Root anywhere. It belongs to one goroutine.
//
// Invariants, checked by check:
//  1. A ready node has no unsatisfied predecessor, and holds a slot in every group around it.
//  2. A group is over its limit only by nodes that were not granted a slot.
//  3. The result of a node for its successors is that of shows for its status.
//  4. Each expansion's counters are those of its items' nodes; the run's are those of the nodes outside maps.
//  5. After the run is closed no status changes.
type Root struct {
	*ledger.Ledger
	*places
	*room
	*tree
	*gates
	*faults
	keeper ledger.Keeper
	body   Body        // nil unless the run is routed
	cells  cells.Cells // the body of a world, or nil
}

// New returns the root of a run without events.
func New(p *plan.Plan) *Root {
	r := &Root{tree: &tree{}}
	bank := signals.NewBank(p.Wiring, r.tree.derive)
	r.keeper = ledger.NewLedger(p, bank, host{r})
	r.Ledger = r.keeper.Ledger
	r.places = newPlaces(r.keeper, p, bank)
	r.room = newRoom(r.keeper, r.places)
	r.tree.init(r.keeper, r.places, r.room)
	r.gates, r.faults = r.tree.gates, r.tree.faults
	if p.Workflow.Routing == nil { // the rows of a routed run are call sites
		r.tree.initNodes()
	}
	return r
}

// Observer is notified of changed nodes while the root applies events.
type Observer interface {
	// Changed is called for a node; the maps around it may have changed too.
	Changed(v int32)

	// Closed is called when all nodes may have changed.
	Closed()

	// Applied is called after an event: nothing changes until the next.
	Applied()
}

// Observe sets the observer and replaces an earlier one.
func (r *Root) Observe(o Observer) { r.watcher = o }

// Observer returns the root's observer, or nil.
func (r *Root) Observer() Observer { return r.watcher }

// Watch makes the root record changes of statuses and tasks from now on, for Changes and TaskChanges.
func (r *Root) Watch() { r.keeper.Watch() }

// Changes returns the status changes since the last call, in the order in which they were derived. The slice is valid until
// the next Apply.
func (t *tree) Changes() []ledger.Change {
	c := t.changes
	t.changes = t.changes[:0]
	return c
}

// Apply applies the next event of the journal and derives all its consequences. The unit of derivation is one event, so
// statuses do not depend on the batches of a journal.
func (r *Root) Apply(e *journal.Event) ledger.Effect {
	r.keeper.Advance(e)
	r.tree.meter.Bound(EvaluationMax)
	out := r.fold(e)
	r.places.bank.Drain()
	r.grant()
	if r.body != nil {
		r.body.Apply(e)
	}
	r.tree.meter.Free()
	if r.watcher != nil {
		r.watcher.Applied()
	}
	r.tidy()
	return out
}

// tidy drops stale entries from the front of the queues. It runs after every event, not when a queue is read: a node may be
// queued again, and the number of reads must change nothing.
func (r *Root) tidy() {
	for len(r.gates.asks) > 0 && !r.keeper.Node(r.gates.asks[0]).Has(ledger.Asked) {
		r.gates.asks = r.gates.asks[1:]
	}
	r.keeper.Tidy()
}

// Digest writes all state at an instant that determines the run's future: two roots of one plan with equal digests continue in
// the same way. It omits history: sequences, instants, and which of several failures was the first.
func (r *Root) Digest(w io.Writer, now int64) {
	r.keeper.Digest(w, r.inOrder(), now)
	if r.body != nil {
		r.body.Digest(w, now)
	}
}
