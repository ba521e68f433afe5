package reactive

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/plan"
)

// Ledger is what the journal says of a run and its calls: attempts, timers, requests, messages, participants, reports and tasks.
type Ledger struct {
	*tasks
	*fanOut
	*mail
	*reportLog
	plan       *plan.Plan
	bank       *signals.Bank
	host       Host
	reused     bool // its nodes are calls, one after another
	nodes      []node
	run        run
	timers     timers
	older      map[request]*attempt // attempts that are not their node's newest
	loose      map[looseRequest]*loose
	looseOrder []looseRequest // its keys, oldest first
	cancels    []Request
	toMake     []Request // calls of participants and decision sources
	fails      []int32   // nodes in the order in which they failed for good
	watched    bool
	bytes      int // of the values of all events
	seq        uint64
	at         int64 // of the event being applied
}

// Host is whom a ledger belongs to: it says what the nodes are, and what follows from an attempt for what is around it.
type Host interface {
	// Key is the name of a node in journals.
	Key(v int32) string

	// Before reports whether a node comes before another in the order of the template, or of the calls' opening.
	Before(v, u int32) bool

	// Use says which call has the node: its number, and the sequence of its newest request. Both are 0 where a node is one step's.
	Use(v int32) (number int32, asked uint64)

	// Requested tells that an attempt begins, by the event with a sequence, and Started that a step fails that had none.
	Requested(v int32, seq uint64)
	Started(v int32)

	// Want has a node started as soon as there is room for it, and Again does so because somebody has asked for another attempt.
	// Unwant takes both back.
	Want(v int32)
	Again(v int32)
	Unwant(v int32)
}

func newLedger(p *plan.Plan, bank *signals.Bank, h Host) *Ledger {
	l := &Ledger{
		plan:   p,
		bank:   bank,
		host:   h,
		reused: p.Workflow.Routing != nil,
		nodes:  make([]node, len(p.Nodes)),
		older:  map[request]*attempt{},
		loose:  map[looseRequest]*loose{},
	}
	l.tasks = &tasks{l: l, tasks: map[int32]*task{}}
	l.fanOut = &fanOut{l: l, gathers: map[int32]*call.Gather{}}
	l.mail = &mail{l: l}
	l.reportLog = &reportLog{l: l}
	l.timers.l = l
	l.timers.less = l.timers.earlier
	return l
}

// run is what is known of the run itself.
type run struct {
	start    *journal.Start
	input    any
	started  int64 // Unix nanoseconds
	deadline int64 // Unix nanoseconds; 0: none, or no call yet
	closed   *journal.Event
	finished *journal.Event
	stopped  bool // by a person, until a person resumes it
	above    bool // by a pause of the run that has started this one, until that is over
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
	Use         int32  // in a routed run: which of the calls that have had the node, from 1; else 0
	Decision    int32  // number of a call to the step's decision source; 0: a call of the step itself
	Participant string // who is asked; "": nobody in particular
}

// Request names an attempt of a node.
func (l *Ledger) Request(v, attempt int32) Request {
	req := Request{Node: v, Attempt: attempt}
	if l.reused {
		req.Use, _ = l.host.Use(v)
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
	Call     *CallChange // of a routed run; else nil
}

// TaskChange is a step's task's move from a state to another, caused by the event applied last.
type TaskChange struct {
	Node     int32
	Key      string
	Attempt  int32
	From, To call.Fulfillment
	Failure  *journal.Failure // why the step failed or was skipped by it; nil otherwise
}

// CallChange is what the node of a call knew when its status changed: it may be another call's since.
type CallChange struct {
	Key     string
	Attempt int32
	Pending bool
	Failure *journal.Failure
	Output  any // once it has completed
}

// unwant takes back a node's wish to start, if it has one.
func (l *Ledger) unwant(v int32) {
	if l.nodes[v].has(candidate | granted) {
		l.host.Unwant(v)
	}
}
