package pool

import (
	"errors"
	"sync/atomic"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Owner is the run to which calls belong. Its methods are called on any goroutine and, except Drive, return at once.
type Owner interface {
	// Deliver passes calls that have ended to the owner. It reports false if the owner no longer accepts calls.
	Deliver(calls []*Call) bool

	// DeliverHere is Deliver for a goroutine that can drive the owner itself. If asleep is true, the owner was waiting and has not
	// been woken: the caller must call Drive.
	DeliverHere(calls []*Call) (accepted, asleep bool)

	// Drive drives the owner on the goroutine that has called DeliverHere. It may take as long as a sync of the disk.
	Drive()

	// AddReport passes on a report, to be journaled; reply is called once it is durable or refused. AddReport reports false if the owner no
	// longer accepts reports.
	AddReport(e journal.Event, reply func(error)) bool

	// Wake is called when there is room for calls that had none.
	Wake()
}

// Run holds the data that the calls of one run share.
type Run struct {
	ID   string         // the run's id
	Ring *keychain.Ring // the run's secrets; nil: none

	owner Owner
	pool  *Pool
}

// Run returns the data that the calls of a run share.
func (p *Pool) Run(id string, owner Owner) Run { return Run{ID: id, owner: owner, pool: p} }

// Call is a call in progress, or one that has ended. Between Host.Make and Owner.Deliver it belongs to the pool, otherwise to its owner.
type Call struct {
	operation.Call
	Of   reactive.Request // the request that it carries out
	Step string           // key of the node when the call was made; the operation may change Node

	run      *Run
	op       *registry.Performer
	out      any         // the output, if that is the whole result
	rare     *rareFields // nil: all zero
	returned atomic.Bool // the call has ended, and is being delivered
	room     counts      // the bounds that it counts towards

	Stopped bool // the attempt has ended before the call
}

// rareFields holds the fields that few calls need: there may be many calls in memory.
type rareFields struct {
	entry  *registry.Entry // of the run, whose document may describe the participant
	texts  int64           // bytes of room for the text of the answer
	values int64           // bytes of room for its value

	keychain any // the part of the keychain that its binding reads

	signed *signed // for a verified answer; nil: it is not verified
	isEnd  bool    // end is set
	end    Ending
}

// rareFields returns the rare fields, to be changed. They belong to the run's loop, and while the call is made to the goroutine
// that makes it.
func (c *Call) rareFields() *rareFields {
	if c.rare == nil {
		c.rare = &rareFields{}
	}
	return c.rare
}

// Ending is the result of a call, or the reason why the call was abandoned.
type Ending struct {
	call.Result
	Abandoned error // decide.ErrShutdown: the engine shuts down; otherwise the reason why the run cannot go on in this process
}

// Unable is the error of a call that this process cannot make, but another program could.
type Unable struct{ Reason error }

func (e *Unable) Error() string { return e.Reason.Error() }

// end sets the call's ending.
func (c *Call) end(l Ending) {
	c.Forget()
	if l.About == nil && l.Failure == nil && l.Abandoned == nil {
		c.out = l.Output
		return
	}
	s := c.rareFields()
	s.end, s.isEnd = l, true
}

// Ending returns the call's ending.
func (c *Call) Ending() Ending {
	if s := c.rare; s != nil && s.isEnd {
		return s.end
	}
	return Ending{Result: call.Result{Output: c.out}}
}

// Forget drops the call's ending. The call itself may stay in memory until others have ended, see callsTogether.
func (c *Call) Forget() {
	c.out = nil
	if s := c.rare; s != nil {
		s.end, s.isEnd, s.keychain = Ending{}, false, nil
	}
}

// prepare fills in the call for a request of a run.
func (c *Call) prepare(h *Host, req reactive.Request) *Call {
	decide.CallFor(h.root, req, &c.Request)
	c.run, c.Of, c.Step, c.op = h.run, req, c.Node, h.entry.Performers[decide.Operation(h.root, req)]
	c.HostBy(c)
	if req.Participant != "" {
		c.rareFields().entry = h.entry
	}
	if s := h.signed(req); s != nil {
		c.rareFields().signed = s
	}
	return c
}

// carryOut makes a call, and ends its context. A panic, or a function that ends its goroutine, fails only the call.
func (c *Call) carryOut() (l Ending) {
	defer c.End(decide.ErrEnded)
	err := usercode.CallExit(func() error { l = c.make(); return nil },
		func(p *usercode.Panic) { c.run.deliver(c, c.run.failed(p)) })
	if err != nil {
		return c.run.failed(err)
	}
	return l
}

// make makes a call, and converts its answer to an ending. It calls methods of the program's values and errors.
func (c *Call) make() Ending {
	if c.Participant != "" {
		var err error
		if c.About, err = about(c.run.pool.directory(c.rareFields().entry), c.Participant); err != nil {
			return Ending{Result: operation.Settle(nil, nil, err)}
		}
	}
	if err := c.reveal(); err != nil {
		return Ending{Result: operation.ResultOf(nil, err)}
	}
	out, err := c.op.Caller.Call(&c.Call)
	err = usercode.Finite(err)
	if unable, ok := err.(*Unable); ok {
		return Ending{Abandoned: unable.Reason}
	}
	if errors.Is(err, decide.ErrShutdown) && c.run.pool.closed.Load() {
		return Ending{Abandoned: decide.ErrShutdown}
	}
	return Ending{Result: c.judged(c.run.redacted(operation.Settle(c.op.Caller, out, c.run.redactedError(err))))}
}

// failed is the ending of a call whose function did not return.
func (r *Run) failed(err error) Ending {
	return Ending{Result: r.redacted(operation.Settle(nil, nil, r.redactedError(err)))}
}

// deliver passes a call and its ending to its owner. It is called on the goroutine that made the call.
func (r *Run) deliver(c *Call, l Ending) {
	c.end(l)
	r.deliverAll([]*Call{c})
}

func (r *Run) deliverAll(calls []*Call) {
	markReturned(calls)
	r.afterDelivery(calls, r.owner.Deliver(calls))
}

// deliverHere passes calls to their owner, and drives the owner if it was asleep.
func (r *Run) deliverHere(calls []*Call) {
	markReturned(calls)
	accepted, asleep := r.owner.DeliverHere(calls)
	r.afterDelivery(calls, accepted)
	if asleep {
		r.owner.Drive()
	}
}

func markReturned(calls []*Call) {
	for _, c := range calls {
		c.returned.Store(true)
	}
}

func (r *Run) afterDelivery(calls []*Call, accepted bool) {
	if !accepted {
		r.pool.ReleaseRoom(calls)
		r.pool.removeUnreturned(calls)
	}
	r.pool.count(len(calls))
}
