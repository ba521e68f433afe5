package ledger

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/plan"
)

// Ledger records the calls of a run, as journaled. Only its Keeper changes it.
type Ledger struct {
	*tasks
	*fanOut
	*mail
	*reportLog
	*keptLog
	plan       *plan.Plan
	bank       *signals.Bank
	host       Host
	reused     bool // its nodes are reused for calls
	nodes      []Node
	run        run
	timers     timers
	keys       map[string]string    // parts of idempotency keys set by retries, by the key of the node
	older      map[request]*attempt // attempts other than the newest of their node
	loose      map[looseRequest]*loose
	looseOrder []looseRequest // its keys, oldest first
	cancels    []Request
	toMake     []Request // calls of participants and decision sources
	fails      []int32   // nodes in the order in which they failed for good
	watched    bool
	bytes      int    // encoded size of the values of all events
	base       uint64 // sequence of the newest snapshot; 0: none
	seq        uint64
	at         int64 // of the event being applied
}

// Host is the owner of a ledger. It names and orders the nodes, and is notified if an attempt begins, may begin, or may no
// longer begin.
type Host interface {
	// Key returns the name of a node in journals.
	Key(v int32) string

	// Before reports whether a node precedes another in template order, or in the order of opening.
	Before(v, u int32) bool

	// Use returns the number of the call that has the node, and the sequence of its newest request. Both are 0 unless the run
	// is routed.
	Use(v int32) (number int32, asked uint64)

	// Requested is called when an attempt begins, with the sequence of its event.
	Requested(v int32, seq uint64)

	// Started is called when a step fails without an attempt.
	Started(v int32)

	// Want requests the start of a node as soon as there is room for it.
	Want(v int32)

	// Again is like Want, for another attempt that a command requested.
	Again(v int32)

	// Unwant withdraws Want and Again.
	Unwant(v int32)
}

// NewLedger returns the ledger of a run without events. The bank has the predecessors of the nodes.
func NewLedger(p *plan.Plan, bank *signals.Bank, h Host) Keeper {
	l := &Ledger{
		plan:   p,
		bank:   bank,
		host:   h,
		reused: p.Workflow.Routing != nil,
		nodes:  make([]Node, len(p.Nodes)),
		older:  map[request]*attempt{},
		loose:  map[looseRequest]*loose{},
	}
	l.tasks = &tasks{l: l, tasks: map[int32]*task{}, undecided: map[int32]bool{}}
	l.fanOut = &fanOut{l: l, gathers: map[int32]*call.Gather{}}
	l.mail = &mail{l: l}
	l.reportLog = &reportLog{l: l}
	l.keptLog = &keptLog{l: l}
	l.timers.l = l
	l.timers.less = l.timers.earlier
	return Keeper{l}
}

// unwant withdraws the request to start a node, if there is one.
func (l *Ledger) unwant(v int32) {
	if l.nodes[v].Has(Candidate | Granted) {
		l.host.Unwant(v)
	}
}
