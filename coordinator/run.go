package coordinator

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net"
)

// run is one run in memory. Its loop owns everything but the inbox.
type run struct {
	id      string
	engine  *Engine
	inbox   *inbox
	durable chan struct{} // closed when the run's start is durable, if it has begun here
	over    chan struct{} // closed when the run has left memory
	err     error         // why it left without having finished; set before over is closed
	result  *Result       // set before over is closed, when it finished

	entry    *registry.Entry
	ring     *keychain.Ring               // the run's secrets; nil: it has none
	root     *reactive.Root               // nil until the run is recovered, and after what was decided has been given up
	step     *decide.Stepper              // decides about root
	seq      uint64                       // last durable sequence
	last     int64                        // latest instant given to the stepper
	flights  []*flight                    // calls under way, by node
	asides   map[reactive.Request]*flight // calls under way of participants and decision sources, and given up ones of nodes used again
	flying   int                          // how many of both
	held     []reactive.Request           // calls that the journal has as requested and the process has no room for, oldest first
	more     bool                         // there is something to decide
	idle     bool                         // it has left memory because nothing happened
	timer    *time.Timer
	paused   atomic.Bool   // as of the last turn; read by child runs that begin
	items    []decide.Item // taken last
	pending  []decide.Item // those of items that are not durable or refused yet
	landed   []*flight     // calls whose results are among items, and not durable yet
	backoff  time.Duration // before the next try after a failed append, or a failed recovery
	refusals int           // appends in a row that failed
	bounded  bool          // some of its calls need room that is not without end
	started  bool          // the run has begun here: there may be nothing durable of it
	careful  bool          // code that is not ours has ended a loop of this run: from then on it is called apart
	unable   error         // a call has found out that the run cannot go on in this process
	known    uint64        // what the library had learned when the run was recovered
}

func newRun(e *Engine, id string) *run {
	return &run{id: id, engine: e, inbox: newInbox(), durable: make(chan struct{}), over: make(chan struct{})}
}

// adopt takes a root to be driven.
func (r *run) adopt(entry *registry.Entry, root *reactive.Root, now int64) {
	r.entry, r.last = entry, max(r.last, now)
	r.root, r.step = root, decide.NewStepper(root, r)
	if r.bounded = r.engine.bounds(entry); r.bounded {
		root.Rooms(rooms(entry))
	}
}

// Limits are those of the engine.
func (r *run) Limits() decide.Limits { return r.engine.config.Limits.OfRun() }

// again has the loop decide anew.
func (r *run) again() { r.inbox.poke() }

// instant is now, but never before the last one: instants in a journal ascend.
func (r *run) instant() int64 {
	r.last = max(r.last, r.engine.clock.now())
	return r.last
}

// resume makes the calls again that the journal knows as requested and unanswered, with the same request ids. Those
// that are under way in this process go on; one that may not be made twice is given up as interrupted.
func (r *run) resume(ctx context.Context) {
	r.root.TakeCancels()
	r.root.TakeCalls()
	r.disown()
	r.restorePause(context.WithoutCancel(ctx))
	var calls []reactive.Request
	for _, req := range r.root.OpenCalls() {
		switch {
		case r.flight(req) != nil:
		case req.Decision == 0 && r.root.Place(req.Node).Step.NonIdempotent:
			r.inbox.add(decide.Item{Event: r.step.About(req.Node, interrupted(req)), Received: r.instant()})
		default:
			calls = append(calls, req)
		}
	}
	r.held = nil
	r.dispatch(ctx, r.admit(calls))
}

func interrupted(req reactive.Request) journal.Event {
	return decide.Ending(req, call.Result{Failure: call.NewFailure(reactive.CodeInterrupted,
		"the process ended while the call was under way, and the step is not idempotent")})
}

// answer tells those who wished for something that it is durable, or why it was refused.
func (r *run) answer(replies []decide.Reply) {
	for _, a := range replies {
		a.To(a.Err)
	}
}

// dispatch makes calls. They share one slice, so that a turn costs one allocation and not one per call.
func (r *run) dispatch(ctx context.Context, calls []reactive.Request) {
	if len(calls) == 0 {
		return
	}
	flights := make([]flight, len(calls))
	begun := 0
	defer func() { r.returnRooms(calls[begun:]) }() // none, unless preparing one has panicked
	for i, req := range calls {
		f := r.prepare(&flights[i], req)
		f.room = r.room(req)
		f.Begin(ctx)
		r.track(f)
		begun++
	}
	r.engine.pool.submit(flights)
}

// prepare fills in a call.
func (r *run) prepare(f *flight, req reactive.Request) *flight {
	root := r.root
	op := root.Row(req.Node).Op
	f.Input = root.Requested(req.Node)
	if req.Decision != 0 {
		op = root.Place(req.Node).Decision
		f.Input, _ = root.DecisionInput(req.Node)
		f.Decision = req.Decision
	}
	f.run, f.req, f.op = r, req, r.entry.Performers[op]
	if r.ring != nil && req.Decision == 0 {
		f.aside().secrets = net.Of(root).Secrets(req.Node)
	}
	if req.Decision == 0 {
		f.making = root.Making(req)
	}
	f.HostBy(f)
	f.Identity = root.Start().Identity
	f.Run, f.Node, f.Operation, f.Attempt = r.id, root.Key(req.Node), r.entry.Plan.Operations[op].Name, req.Attempt
	f.key, f.Participant = f.Node, req.Participant
	if req.Participant != "" {
		f.aside().entry = r.entry
	}
	return f
}

// track notes a call as under way. Those of steps are found by their node; the others are few.
func (r *run) track(f *flight) {
	r.flying++
	if f.req.Participant != "" || f.req.Decision != 0 {
		r.aside(f)
		return
	}
	for int(f.req.Node) >= len(r.flights) {
		r.flights = append(r.flights, make([]*flight, max(64, int(r.root.Len())-len(r.flights)))...)
	}
	if former := r.flights[f.req.Node]; former != nil { // its call was given up, and has not come home yet
		r.aside(former)
	}
	r.flights[f.req.Node] = f
}

// aside notes a call that is not found by its node.
func (r *run) aside(f *flight) {
	if r.asides == nil {
		r.asides = map[reactive.Request]*flight{}
	}
	r.asides[f.req] = f
}

// flight is the call under way for a request; nil: there is none.
func (r *run) flight(req reactive.Request) *flight {
	if int(req.Node) < len(r.flights) {
		if f := r.flights[req.Node]; f != nil && f.req == req {
			return f
		}
	}
	return r.asides[req]
}

// untrack forgets a call.
func (r *run) untrack(f *flight) {
	if r.flight(f.req) != f {
		return
	}
	r.flying--
	if r.asides[f.req] == f {
		delete(r.asides, f.req)
		return
	}
	r.flights[f.req.Node] = nil
}

var errLeft = errors.New("the run has left memory")

// stop ends the contexts of calls whose attempts were closed by something else than their answer.
func (r *run) stop(cancels []reactive.Request) {
	for _, req := range cancels {
		if f := r.flight(req); f != nil {
			f.stopped = true
			f.End(decide.ErrEnded)
		}
	}
}

// land returns a call to its run, with how it has ended. It is called on the goroutine that made the call.
func (r *run) land(f *flight, l landing) {
	f.end(l)
	r.bringHome(f)
}

// bringHome brings home calls that have landed.
func (r *run) bringHome(flights ...*flight) {
	for _, f := range flights {
		f.home.Store(true)
	}
	if !r.inbox.land(flights) {
		r.engine.returnRoom(flights)
		r.engine.pool.found(flights)
	}
	r.engine.pool.home(len(flights))
}

// take returns the items that came in, with an event for every call that has landed. The result of a call that was ended from
// here is kept when it is an answer; that it was ended is known. The slice is valid until the next take.
func (r *run) take() []decide.Item {
	came, landed := r.inbox.drain()
	clear(r.items)
	r.items = append(r.items[:0], came...)
	r.pending, r.landed = r.items, landed
	for _, f := range landed {
		switch l := f.landing(); {
		case l.Failure != nil && f.stopped, l.lost == ErrShutdown:
		case l.lost != nil:
			r.unable = l.lost
		default:
			e := decide.Ending(f.req, l.Result)
			e.Node, e.Hint = f.key, f.req.Node+1
			r.items = append(r.items, decide.Item{Event: e})
		}
	}
	return r.items
}

// home forgets the calls whose results are durable now. Until then they count as under way: they are not made again.
func (r *run) home() {
	for _, f := range r.landed {
		r.untrack(f)
		f.end(landing{}) // calls that were made together are kept together until the last has landed
	}
	r.engine.returnRoom(r.landed)
	r.pending, r.landed = nil, nil
}

// finish ends a run that has finished.
func (r *run) finish() bool {
	e := r.root.Finished()
	if e == nil {
		return false
	}
	r.result = newResult(r.id, e)
	return true
}
