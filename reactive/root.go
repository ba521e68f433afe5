package reactive

import (
	"io"
	"strconv"

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
	r := &Root{}
	bank := signals.NewBank(p.Wiring, func(v int32) { r.derive(v) })
	r.keeper = ledger.NewLedger(p, bank, host{r})
	r.Ledger = r.keeper.Ledger
	r.places = newPlaces(r.keeper, p, bank)
	r.room = newRoom(r.keeper, r.places)
	r.tree = newTree(r.keeper, r.places, r.room)
	r.gates, r.faults = r.tree.gates, r.tree.faults
	if p.Workflow.Routing == nil { // else its rows are sites of calls, and no calls yet
		r.tree.plant()
	}
	return r
}

// host is what the ledger may ask of the root that it belongs to.
type host struct{ r *Root }

func (h host) Key(v int32) string { return h.r.Key(v) }

func (h host) Before(v, u int32) bool { return h.r.before(v, u) }

func (h host) Use(v int32) (number int32, asked uint64) {
	if h.r.routed == nil {
		return 0, 0
	}
	use := h.r.routed.of(v)
	return use.number, use.asked
}

func (h host) Requested(v int32, seq uint64) {
	if h.r.routed != nil {
		h.r.routed.of(v).asked = seq
	}
	h.r.tree.begun(v)
}

func (h host) Started(v int32) { h.r.tree.markStarted(v) }

func (h host) Again(v int32) {
	h.r.tree.resumeMaps(v)
	h.r.room.want(v)
}

func (h host) Want(v int32) { h.r.room.want(v) }

func (h host) Unwant(v int32) { h.r.room.stopWaiting(v) }

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
	r.tree.grant()
	if r.body != nil {
		r.body.Apply(e)
	}
	r.tree.meter.Free()
	if r.tree.signals != nil {
		r.tree.signals.flush()
	}
	r.tidy()
	return out
}

// tidy drops from the front of the queues what has lost its meaning. It is done after every event, and not when somebody
// looks, because a node may be put in again: how often anybody has looked must change nothing.
func (r *Root) tidy() {
	for len(r.tree.gates.asks) > 0 && !r.keeper.Node(r.tree.gates.asks[0]).Has(ledger.Asked) {
		r.tree.gates.asks = r.tree.gates.asks[1:]
	}
	r.keeper.Tidy()
}

// Node finds a step, map or map item's node by its key, such as `pay` or `check[3]`. It reports false when there is no
// such node now.
func (p *places) Node(key string) (int32, bool) {
	if p.routed != nil {
		return p.routed.find(key)
	}
	id, indexes, ok := plan.ParseKey(key)
	if !ok {
		return -1, false
	}
	row, ok := p.plan.Row(id)
	if !ok || p.plan.Depth(row) != len(indexes) {
		return -1, false
	}
	v := p.locate(row, indexes)
	if v < 0 || p.l.Node(v).Status == ledger.Absent {
		return -1, false
	}
	return v, true
}

// locate walks down from the outermost map around row, one index a map; -1 when an item does not exist.
func (p *places) locate(row int32, indexes []int) int32 {
	if len(indexes) == 0 {
		return row
	}
	last := len(indexes) - 1
	owner := p.locate(p.plan.Nodes[row].Map, indexes[:last])
	if owner < 0 {
		return -1
	}
	x := p.maps[owner]
	if x == nil || indexes[last] >= len(x.blocks) {
		return -1
	}
	b := &p.blocks[x.blocks[indexes[last]]]
	return b.base + row - (b.row + 1)
}

// Key is the name of a node in journals: its id, with the index of each map around it.
func (p *places) Key(v int32) string {
	if int(v) < len(p.plan.Keys) {
		return p.plan.Keys[v]
	}
	if p.routed != nil {
		return p.routed.of(v).key
	}
	key := p.plan.Keys[p.bank.Row(v)]
	if key == "" {
		return ""
	}
	i := int(v) - len(p.plan.Nodes)
	for len(p.keys) <= i {
		p.keys = append(p.keys, "")
	}
	if p.keys[i] == "" {
		p.keys[i] = key + p.suffix(p.l.Node(v).Block)
	}
	return p.keys[i]
}

func (p *places) suffix(b int32) string {
	if b == 0 {
		return ""
	}
	return p.suffix(p.blocks[b].parent) + "[" + strconv.Itoa(int(p.blocks[b].index)) + "]"
}

// beside finds the instance of a row that lies in the same body as node v.
func (p *places) beside(v, row int32) int32 { return v + row - p.bank.Row(v) }

// Compare is template order, for sorting: items of a map follow it, one after the other. O(depth of maps).
func (p *places) Compare(a, b int32) int {
	switch {
	case a == b:
		return 0
	case p.before(a, b):
		return -1
	}
	return 1
}

// before is template order: where two nodes' bodies differ, the maps that hold them, then the items, are compared.
func (p *places) before(a, b int32) bool {
	if p.routed != nil {
		return p.routed.of(a).number < p.routed.of(b).number
	}
	ba, bb := p.l.Node(a).Block, p.l.Node(b).Block
	if ba == bb {
		return a < b
	}
	da, db := p.depth(ba), p.depth(bb)
	ia, ib := int32(-1), int32(-1) // index of the item that holds a or b, once we have left it
	climb := func(v *int32, blk *int32, index *int32, d *int) {
		*index = p.blocks[*blk].index
		*v = p.blocks[*blk].owner
		*blk = p.l.Node(*v).Block
		*d--
	}
	for da > db {
		climb(&a, &ba, &ia, &da)
	}
	for db > da {
		climb(&b, &bb, &ib, &db)
	}
	for ba != bb {
		climb(&a, &ba, &ia, &da)
		climb(&b, &bb, &ib, &db)
	}
	if a != b {
		return a < b
	}
	return ia < ib
}

func (p *places) depth(b int32) int {
	d := 0
	for ; b != 0; b = p.blocks[b].parent {
		d++
	}
	return d
}

// Digest writes everything that what the run does next depends on, at an instant: two roots of one plan that write the same
// go on in the same way. What has only led there is left out: sequences, instants, and which of several failures was the
// first.
func (r *Root) Digest(w io.Writer, now int64) {
	r.keeper.Digest(w, r.inOrder(), now)
	if d, ok := r.body.(Digester); ok {
		d.Digest(w, now)
	}
}
