package reactive

import (
	"io"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/plan"
)

// Root holds what a run's journal means: facts folded event by event, and the statuses, slots and decisions derived from
// them. Apply is its only input. It has no clock, no goroutine and does no I/O, so the same plan and the same events
// give the same Root anywhere. It is owned by one goroutine.
//
// Invariants, checked by check:
//  1. A ready node has no unsatisfied predecessor, and holds a slot in every group around it.
//  2. A group is over its limit only by nodes that nobody granted.
//  3. What a node shows to its successors is what shows says of its status.
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
	body   Body // of a routed run; else nil
}

// New makes the root of a run that has no events yet.
func New(p *plan.Plan) *Root {
	r := &Root{tree: &tree{}}
	bank := signals.NewBank(p.Wiring, r.tree.derive)
	r.keeper = ledger.NewLedger(p, bank, host{r})
	r.Ledger = r.keeper.Ledger
	r.places = newPlaces(r.keeper, p, bank)
	r.room = newRoom(r.keeper, r.places)
	r.tree.init(r.keeper, r.places, r.room)
	r.gates, r.faults = r.tree.gates, r.tree.faults
	if p.Workflow.Routing == nil { // else its rows are sites of calls, and no calls yet
		r.tree.plant()
	}
	return r
}

// Observer is told, while events are applied, of the nodes of which something is different.
type Observer interface {
	// Changed tells of a node, and of the maps around it.
	Changed(v int32)

	// Closed tells that something is different of all nodes.
	Closed()

	// Applied tells that an event has been applied: nothing changes until the next.
	Applied()
}

// Observe has an observer told of what happens from now on; there is one at most.
func (r *Root) Observe(o Observer) { r.watcher = o }

// Observer is the root's observer; nil: it has none.
func (r *Root) Observer() Observer { return r.watcher }

// Watch makes the root record changes of statuses and tasks from now on, for Changes and TaskChanges.
func (r *Root) Watch() { r.keeper.Watch() }

// Changes are the status changes since the last call, in the order in which they were derived. The slice is valid until
// the next Apply.
func (t *tree) Changes() []ledger.Change {
	c := t.changes
	t.changes = t.changes[:0]
	return c
}

// Apply takes the next event of the journal and derives all that follows from it. The unit of derivation is one event:
// however a journal is cut into batches, the statuses are the same.
func (r *Root) Apply(e *journal.Event) ledger.Outcome {
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

// tidy drops from the front of the queues what has lost its meaning. It is done after every event, and not when somebody
// looks, because a node may be put in again: how often anybody has looked must change nothing.
func (r *Root) tidy() {
	for len(r.gates.asks) > 0 && !r.keeper.Node(r.gates.asks[0]).Has(ledger.Asked) {
		r.gates.asks = r.gates.asks[1:]
	}
	r.keeper.Tidy()
}

// Digest writes everything that what the run does next depends on, at an instant: two roots of one plan that write the same
// go on in the same way. What has only led there is left out: sequences, instants, and which of several failures was the
// first.
func (r *Root) Digest(w io.Writer, now int64) {
	r.keeper.Digest(w, r.inOrder(), now)
	if r.body != nil {
		r.body.Digest(w, now)
	}
}
