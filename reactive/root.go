package reactive

import (
	"math"
	"strconv"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
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
	plan         *plan.Plan
	bank         *signals.Bank
	nodes        []node
	blocks       []block
	keys         []string // of instances in blocks, made when asked for
	slots        slots
	starts       starts
	meter        expr.Meter
	apart        []starts // those whose calls need another room than most, by that; nil: they are among the others
	rooms        []Room   // by operation; nil: all need the same
	maps         map[int32]*expansion
	top          expansion             // the run as one body: its counters
	blame        map[int32]*blame      // gates that have seen a failure among what they need
	blamed       []int32               // the keys of blame, oldest first
	dependencies map[int32]*dependents // of nodes that have failed, for those that need them
	older        map[request]*attempt  // attempts that are not their node's newest
	loose        map[looseRequest]*loose
	looseOrder   []looseRequest     // its keys, oldest first
	upstream     map[int32][]uint64 // by row of a gate: the rows it can be reached from
	timers       timers
	mail         mail
	asks         []int32 // gates and maps whose Go function has to be asked
	cancels      []Request
	fails        []int32 // nodes in the order in which they failed for good
	judged       int     // fails[:judged] do not end the run
	changes      []Change
	taskChanges  []TaskChange
	gathers      map[int32]*call.Gather // of steps that ask participants
	tasks        map[int32]*task        // of steps that declare who says when they are done
	reports      map[int32]*reports     // of steps whose newest attempt has reported
	calls        []Request              // of participants and decision sources, to be made
	hedges       []Request
	decisions    []int32
	closings     []closing
	watched      bool
	signals      *Signals // nil until somebody asks for them
	run          run
	opened       opened
	bytes        int    // of the values of all events
	cells        *Cells // of a routed run; else nil
	body         Body   // of a routed run; else nil
	seq          uint64
	at           int64 // of the event being applied
}

// run is what is known of the run itself.
type run struct {
	start    *journal.Start
	input    any
	started  int64 // Unix nanoseconds
	deadline int64 // Unix nanoseconds; 0: none, or no call yet
	closed   *journal.Event
	finished *journal.Event
	stopped  bool  // by a person, until a person resumes it
	above    bool  // by a pause of the run that has started this one, until that is over
	pauses   int   // tasks whose outcome has paused the run, until each is decided
	deciding int   // decision calls that are to be made or answered
	busy     int32 // nodes that only this process can move: ready, or running outside the engine
}

// request names an attempt of a node.
type request struct{ node, attempt int32 }

// looseRequest names a request that belongs to no node.
type looseRequest struct {
	key     string
	attempt int32
}

// loose is what is known of such a request.
type loose struct{ begin, end *journal.Event }

// attempt is one that is not the newest of its node.
type attempt struct {
	open   bool
	status Status
}

// Request names a call to be made or cancelled: of a step, of one participant of a step, or to a decision source.
type Request struct {
	Node        int32
	Attempt     int32
	Cell        int32  // in a routed run: which of the calls that have had the node, from 1; else 0
	Decision    int32  // number of a call to the step's decision source; 0: a call of the step itself
	Participant string // who is asked; "": nobody in particular
}

// Request names an attempt of a node.
func (r *Root) Request(v, attempt int32) Request {
	req := Request{Node: v, Attempt: attempt}
	if r.cells != nil {
		req.Cell = r.cells.of(v).number
	}
	return req
}

func (q Request) asking(participant string) Request {
	q.Participant = participant
	return q
}

func (q Request) deciding(number int32) Request {
	q.Decision = number
	return q
}

// Change is one step of one node from a status to another, caused by the event with sequence Seq.
type Change struct {
	Node     int32
	From, To Status
	Seq      uint64
	Cell     *CellChange // of a routed run; else nil
}

// TaskChange is a step's task's move from a state to another, caused by the event applied last.
type TaskChange struct {
	Node     int32
	Key      string
	Attempt  int32
	From, To call.Fulfillment
	Failure  *journal.Failure // why the step failed or was skipped by it; nil otherwise
}

// CellChange is what a cell's node knew when its status changed: it may be another cell's since.
type CellChange struct {
	Key     string
	Attempt int32
	Pending bool
	Failure *journal.Failure
	Output  any // once it has completed
}

// New makes the root of a run that has no events yet.
func New(p *plan.Plan) *Root {
	r := &Root{
		plan:         p,
		nodes:        make([]node, len(p.Nodes)),
		blocks:       make([]block, 1),
		maps:         map[int32]*expansion{},
		blame:        map[int32]*blame{},
		upstream:     map[int32][]uint64{},
		older:        map[request]*attempt{},
		dependencies: map[int32]*dependents{},
		gathers:      map[int32]*call.Gather{},
		tasks:        map[int32]*task{},
		loose:        map[looseRequest]*loose{},
	}
	r.blocks[0] = block{owner: -1, parent: -1, row: -1}
	r.bank = signals.NewBank(p.Wiring, r.derive)
	r.slots.less, r.slots.valid = r.entryBefore, r.isCandidate
	r.starts = newStarts(len(p.Nodes), r.entryBefore)
	r.timers.less = r.earlier
	r.slots.add(-1, 0)
	r.addGroups(0, int32(len(p.Groups)), 0)
	if p.Workflow.Routing != nil {
		return r // its rows are sites of calls, and no calls yet
	}
	for row := range r.nodes {
		n := &p.Nodes[row]
		if n.Map >= 0 || n.Kind == plan.Join {
			continue
		}
		r.nodes[row].status = Idle
		r.top.unsettled++
	}
	return r
}

// Watch makes the root record changes of statuses and tasks from now on, for Changes and TaskChanges.
func (r *Root) Watch() { r.watched = true }

// TaskChanges are the changes of tasks since the last call, in the order in which they were decided. The slice is valid until
// the next Apply.
func (r *Root) TaskChanges() []TaskChange {
	c := r.taskChanges
	r.taskChanges = r.taskChanges[:0]
	return c
}

// Changes are the status changes since the last call, in the order in which they were derived. The slice is valid until
// the next Apply.
func (r *Root) Changes() []Change {
	c := r.changes
	r.changes = r.changes[:0]
	return c
}

// Outcome says what an event has meant.
type Outcome uint8

// The outcomes.
const (
	Applied   Outcome = iota // it counted
	Duplicate                // it says again what is known
	Late                     // its attempt, or the run, had already ended
	Unbound                  // it belongs to no node (yet)
)

var outcomeNames = [...]string{"applied", "duplicate", "late", "unbound"}

// Counted reports whether the event has changed what the run means.
func (o Outcome) Counted() bool { return o == Applied }

func (o Outcome) String() string { return outcomeNames[o] }

// Apply takes the next event of the journal and derives all that follows from it. The unit of derivation is one event:
// however a journal is cut into batches, the statuses are the same.
func (r *Root) Apply(e *journal.Event) Outcome {
	r.seq, r.at = e.Seq, e.At
	r.bytes += bytesOf(e)
	r.meter.Bound(EvaluationMax)
	out := r.fold(e)
	r.bank.Drain()
	r.grant()
	if r.body != nil {
		r.body.Apply(e)
	}
	r.meter.Free()
	if r.signals != nil {
		r.signals.flush()
	}
	r.tidy()
	return out
}

// tidy drops from the front of the queues what has lost its meaning. It is done after every event, and not when somebody
// looks, because a node may be put in again: how often anybody has looked must change nothing.
func (r *Root) tidy() {
	for len(r.asks) > 0 && !r.nodes[r.asks[0]].has(asked) {
		r.asks = r.asks[1:]
	}
	for len(r.decisions) > 0 && !r.wantsDecision(r.decisions[0]) {
		r.decisions = r.decisions[1:]
	}
}

// Seq is the sequence of the event applied last.
func (r *Root) Seq() uint64 { return r.seq }

// Bytes is how many bytes the values of all events have together: their encodings.
func (r *Root) Bytes() int { return r.bytes }

func bytesOf(e *journal.Event) int {
	size := sizeOf(e.Value)
	if d := e.Detail; d != nil {
		size += sizeOf(d.About)
		if d.Failure != nil {
			size += sizeOf(d.Failure.Details)
		}
	}
	return size
}

// sizeOf is the size of a value of the model; of what is none, and fails when it is read, nothing.
func sizeOf(v any) int {
	if v == nil {
		return 0
	}
	size, err := value.Size(v, math.MaxInt)
	if err != nil {
		return 0
	}
	return size
}

// Plan is the plan that the root follows.
func (r *Root) Plan() *plan.Plan { return r.plan }

// Len is how many nodes there are now, items of maps included. Nodes are [0, Len); those of package plan's rows come first.
func (r *Root) Len() int32 { return int32(len(r.nodes)) }

// Node finds a step, map or map item's node by its key, such as `pay` or `check[3]`. It reports false when there is no
// such node now.
func (r *Root) Node(key string) (int32, bool) {
	if r.cells != nil {
		return r.cells.find(key)
	}
	id, indexes, ok := plan.ParseKey(key)
	if !ok {
		return -1, false
	}
	row, ok := r.plan.Row(id)
	if !ok || r.plan.Depth(row) != len(indexes) {
		return -1, false
	}
	v := r.locate(row, indexes)
	if v < 0 || r.nodes[v].status == Absent {
		return -1, false
	}
	return v, true
}

// locate walks down from the outermost map around row, one index a map; -1 when an item does not exist.
func (r *Root) locate(row int32, indexes []int) int32 {
	if len(indexes) == 0 {
		return row
	}
	last := len(indexes) - 1
	owner := r.locate(r.plan.Nodes[row].Map, indexes[:last])
	if owner < 0 {
		return -1
	}
	x := r.maps[owner]
	if x == nil || indexes[last] >= len(x.blocks) {
		return -1
	}
	b := &r.blocks[x.blocks[indexes[last]]]
	return b.base + row - (b.row + 1)
}

// Key is the name of a node in journals: its id, with the index of each map around it.
func (r *Root) Key(v int32) string {
	if int(v) < len(r.plan.Keys) {
		return r.plan.Keys[v]
	}
	if r.cells != nil {
		return r.cells.of(v).key
	}
	key := r.plan.Keys[r.bank.Row(v)]
	if key == "" {
		return ""
	}
	i := int(v) - len(r.plan.Nodes)
	for len(r.keys) <= i {
		r.keys = append(r.keys, "")
	}
	if r.keys[i] == "" {
		r.keys[i] = key + r.suffix(r.nodes[v].block)
	}
	return r.keys[i]
}

func (r *Root) suffix(b int32) string {
	if b == 0 {
		return ""
	}
	return r.suffix(r.blocks[b].parent) + "[" + strconv.Itoa(int(r.blocks[b].index)) + "]"
}

// row is what deriving needs of a node's row.
func (r *Root) row(v int32) *plan.Row { return &r.plan.Rows[r.bank.Row(v)] }

// node is everything the plan knows of a node's row.
func (r *Root) node(v int32) *plan.Node { return &r.plan.Nodes[r.bank.Row(v)] }

// beside finds the instance of a row that lies in the same body as node v.
func (r *Root) beside(v, row int32) int32 { return v + row - r.bank.Row(v) }

// Compare is template order, for sorting: items of a map follow it, one after the other. O(depth of maps).
func (r *Root) Compare(a, b int32) int {
	switch {
	case a == b:
		return 0
	case r.before(a, b):
		return -1
	}
	return 1
}

// before is template order: where two nodes' bodies differ, the maps that hold them, then the items, are compared.
func (r *Root) before(a, b int32) bool {
	if r.cells != nil {
		return r.cells.of(a).number < r.cells.of(b).number
	}
	ba, bb := r.nodes[a].block, r.nodes[b].block
	if ba == bb {
		return a < b
	}
	da, db := r.depth(ba), r.depth(bb)
	ia, ib := int32(-1), int32(-1) // index of the item that holds a or b, once we have left it
	climb := func(v *int32, blk *int32, index *int32, d *int) {
		*index = r.blocks[*blk].index
		*v = r.blocks[*blk].owner
		*blk = r.nodes[*v].block
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

func (r *Root) depth(b int32) int {
	d := 0
	for ; b != 0; b = r.blocks[b].parent {
		d++
	}
	return d
}
