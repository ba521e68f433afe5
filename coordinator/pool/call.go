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

// Owner is who has asked for calls: the run that they belong to. Its methods are called on any goroutine, and return at once.
type Owner interface {
	// Land takes calls that have ended. It reports false when the owner takes nothing any more.
	Land(calls []*Call) bool

	// LandHere is Land for a goroutine that can go on with the owner itself. rests tells that the owner was waiting, and has not
	// been told: Drive follows.
	LandHere(calls []*Call) (taken, rests bool)

	// Drive goes on with the owner on the goroutine that has called LandHere. It may take as long as a sync of the disk.
	Drive()

	// Reported takes a report, to be journaled; reply is called once it is durable or refused. It reports false when the owner
	// takes nothing any more.
	Reported(e journal.Event, reply func(error)) bool

	// Again tells that there is room for calls which had none before.
	Again()
}

// Run is what the calls of one run have in common.
type Run struct {
	id   string         // the run's id
	Ring *keychain.Ring // the run's secrets; nil: it has none

	owner Owner
	pool  *Pool
}

// Run returns what the calls of a run have in common.
func (p *Pool) Run(id string, owner Owner) Run { return Run{id: id, owner: owner, pool: p} }

// Call is a call that is being made, or was. Between Submit and Owner.Land it belongs to the pool, else to its owner.
type Call struct {
	operation.Call
	Of   reactive.Request // what it was made for
	Step string           // key of the node, as it was when the call was made; Node is the operation's to change

	run      *Run
	op       *registry.Performer
	out      any         // of a call that was answered with an output and nothing beside it
	side     *side       // what few calls have; nil: nothing. See aside
	returned atomic.Bool // it has ended, and its owner has been told
	room     counts      // what it counts in

	Stopped bool // its attempt was ended by something else than its answer
}

// side is what few calls have. Calls are many, and what each takes in memory is paid for by all.
type side struct {
	entry  *registry.Entry // of the run: its document may say who the participant is
	texts  int64           // bytes of room that its answer has, as a text
	values int64           // and as a value
	isEnd  bool            // end says how the call has ended
	end    Ending
}

// aside is what the call has that few have. Until the call is made it belongs to the run's loop, then to the goroutine that makes
// it, and after that to the loop again.
func (c *Call) aside() *side {
	if c.side == nil {
		c.side = &side{}
	}
	return c.side
}

// Ending is the result of a call. If the call was abandoned, Lost is the reason and Result is empty.
type Ending struct {
	call.Result
	Lost error // decide.ErrShutdown: it was given up because the engine shuts down; else why the run cannot go on in this process
}

// Unable is the error of a call that this process cannot make, though another could.
type Unable struct{ Reason error }

func (e *Unable) Error() string { return e.Reason.Error() }

// end keeps how the call has ended.
func (c *Call) end(l Ending) {
	c.Forget()
	if l.About == nil && l.Failure == nil && l.Lost == nil {
		c.out = l.Output
		return
	}
	s := c.aside()
	s.end, s.isEnd = l, true
}

// Ending returns how the call has ended.
func (c *Call) Ending() Ending {
	if s := c.side; s != nil && s.isEnd {
		return s.end
	}
	return Ending{Result: call.Result{Output: c.out}}
}

// Forget lets go of how the call has ended: calls that were made together are kept together until the last has ended.
func (c *Call) Forget() {
	c.out = nil
	if s := c.side; s != nil {
		s.end, s.isEnd = Ending{}, false
	}
}

// prepare fills in the call that a request of a run stands for.
func (c *Call) prepare(h *Host, req reactive.Request) *Call {
	decide.CallFor(h.root, req, &c.Request)
	c.run, c.Of, c.Step, c.op = h.run, req, c.Node, h.entry.Performers[decide.Operation(h.root, req)]
	c.HostBy(c)
	if req.Participant != "" {
		c.aside().entry = h.entry
	}
	return c
}

// carryOut makes a call, and ends its context. A panic, and a function that ends its goroutine, fail the call and nothing else.
func (c *Call) carryOut() (l Ending) {
	defer c.End(decide.ErrEnded)
	err := usercode.CallExit(func() error { l = c.make(); return nil },
		func(p *usercode.Panic) { c.run.land(c, c.run.failed(p)) })
	if err != nil {
		return c.run.failed(err)
	}
	return l
}

// make makes a call, and makes of what comes back what can be journaled. It calls methods of values and errors that are not
// ours.
func (c *Call) make() Ending {
	if c.Participant != "" {
		var err error
		if c.About, err = about(c.run.pool.directory(c.aside().entry), c.Participant); err != nil {
			return Ending{Result: operation.Settle(nil, nil, err)}
		}
	}
	if err := c.reveal(); err != nil {
		return Ending{Result: operation.ResultOf(nil, err)}
	}
	out, err := c.op.Caller.Call(&c.Call)
	err = usercode.Finite(err)
	if unable, ok := err.(*Unable); ok {
		return Ending{Lost: unable.Reason}
	}
	if errors.Is(err, decide.ErrShutdown) && c.run.pool.closed.Load() {
		return Ending{Lost: decide.ErrShutdown}
	}
	return Ending{Result: c.run.redacted(operation.Settle(c.op.Caller, out, c.run.redactedError(err)))}
}

// failed is the ending of a call whose function did not return.
func (r *Run) failed(err error) Ending {
	return Ending{Result: r.redacted(operation.Settle(nil, nil, r.redactedError(err)))}
}

// land gives a call back to its owner, with how it has ended. It is called on the goroutine that made the call.
func (r *Run) land(c *Call, l Ending) {
	c.end(l)
	r.landAll([]*Call{c})
}

func (r *Run) landAll(calls []*Call) {
	landing(calls)
	r.landed(calls, r.owner.Land(calls))
}

// landHere gives calls back to their owner and goes on with it, if it was only waiting for them.
func (r *Run) landHere(calls []*Call) {
	landing(calls)
	taken, rests := r.owner.LandHere(calls)
	r.landed(calls, taken)
	if rests {
		r.owner.Drive()
	}
}

func landing(calls []*Call) {
	for _, c := range calls {
		c.returned.Store(true)
	}
}

func (r *Run) landed(calls []*Call, taken bool) {
	if !taken {
		r.pool.Return(calls)
		r.pool.found(calls)
	}
	r.pool.count(len(calls))
}
