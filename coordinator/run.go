package coordinator

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/coordinator/children"
	"github.com/sluiceflow/sluice/coordinator/inbox"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// stepper decides for a run: see decide.Stepper, which is one.
type stepper interface {
	// Step applies what came in, and what has fallen due, and decides.
	Step(now int64, items []decide.Item) decide.StepResult

	// Note returns what a command adds to the journal of a run that does not go on here.
	Note(now int64, command journal.Event) ([]journal.Event, error)

	// Resume returns the calls to be made again, and the endings of those that may not be.
	Resume(underWay func(reactive.Request) bool) (again []reactive.Request, interrupted []journal.Event)

	Room() *decide.Reserved        // reserved by Step
	OpenCalls() []reactive.Request // requested and unanswered
	NextDue() int64                // Unix nanoseconds; 0: never
	Head() journal.Head
	Done() *journal.Event // nil: the run lives
	Paused() bool
}

// run is one run in memory. Whoever holds turns owns everything but the inbox.
type run struct {
	id      string
	engine  *Engine
	inbox   *inbox.Inbox
	turns   inbox.Baton
	durable chan struct{} // closed when the run's start is durable, if it has begun here
	over    chan struct{} // closed when the run has left memory
	err     error         // why it left without having finished; set before over is closed
	result  *Result       // set before over is closed, when it finished

	entry    *registry.Entry
	calls    pool.Run      // with the run's secrets
	under    pool.UnderWay // calls
	host     *pool.Host    // of step
	step     stepper       // nil until the run is recovered, and after what was decided has been given up
	seq      uint64        // last durable sequence
	last     int64         // latest instant given to the stepper
	more     bool          // there is something to decide
	idle     bool          // it has left memory because nothing happened
	timer    *time.Timer
	ctx      context.Context // of the loop
	armed    int64           // instant of the timer for which the loop sleeps; 0: for none
	resting  bool            // the loop sleeps
	acted    time.Time       // when another goroutine has taken a turn last
	gone     bool            // a turn of another goroutine was the last: the run is recovered, because of failed, or leaves memory
	failed   error           // why the run has to be recovered
	paused   atomic.Bool     // as of the last turn; read by child runs that begin
	items    []decide.Item   // taken last
	pending  []decide.Item   // those of items that are not durable or refused yet
	landed   []*pool.Call    // calls whose results are among items, and not durable yet
	backoff  time.Duration   // before the next try after a failed append, or a failed recovery
	refusals int             // appends in a row that failed
	started  bool            // the run has begun here: there may be nothing durable of it
	careful  bool            // code that is not ours has ended a loop of this run: from then on it is called apart
	unable   error           // a call has found out that the run cannot go on in this process
	known    uint64          // what the library had learned when the run was recovered
}

func newRun(e *Engine, id string) *run {
	r := &run{id: id, engine: e, inbox: inbox.New(), turns: inbox.NewBaton(), durable: make(chan struct{}), over: make(chan struct{})}
	r.calls = e.pool.Run(id, r)
	return r
}

// adopt takes a root to be driven.
func (r *run) adopt(entry *registry.Entry, root *reactive.Root, now int64) {
	r.entry, r.last = entry, max(r.last, now)
	r.host = pool.NewHost(&r.calls, entry, root, r.engine.config.Limits.OfRun())
	r.host.Apart = r.careful
	r.step = decide.NewStepper(root, r.host)
}

// Again has the loop decide anew.
func (r *run) Again() { r.inbox.Poke() }

// Land takes calls that have ended.
func (r *run) Land(calls []*pool.Call) bool { return r.inbox.Land(calls) }

// Reported takes a report of a call.
func (r *run) Reported(event journal.Event, reply func(error)) bool {
	return r.inbox.Add(decide.Item{Event: event, Received: r.engine.clock.Now(), Reply: reply})
}

// instant is now, but never before the last one: instants in a journal ascend.
func (r *run) instant() int64 {
	r.last = max(r.last, r.engine.clock.Now())
	return r.last
}

// resume makes the calls again that the journal knows as requested and unanswered. One that may not be made twice is given up as
// interrupted.
func (r *run) resume(ctx context.Context) {
	children := r.engine.children
	children.Claim(r.id, r.children)
	r.paused.Store(r.step.Paused())
	children.RestorePause(context.WithoutCancel(ctx), r.id, r.step.Paused(), r.children())
	again, interrupted := r.step.Resume(func(req reactive.Request) bool { return r.under.Find(req) != nil })
	for _, event := range interrupted {
		r.inbox.Add(decide.Item{Event: event, Received: r.instant()})
	}
	r.host.Make(ctx, r.host.Admit(again, r.step.Room()), &r.under, false)
}

// children are the ids of the runs that the run's open calls have started, or will.
func (r *run) children() map[string]bool {
	return children.IDs(r.host.Children(r.step.OpenCalls()))
}

// relayPause tells the child runs when the run's pause has begun or ended.
func (r *run) relayPause(ctx context.Context) {
	if paused := r.step.Paused(); r.paused.Swap(paused) != paused {
		r.engine.children.Pause(ctx, r.id, paused, r.children())
	}
}

// answer tells those who wished for something that it is durable, or why it was refused.
func (r *run) answer(replies []decide.Reply) {
	for _, a := range replies {
		a.To(a.Err)
	}
}

var errLeft = errors.New("the run has left memory")

// take returns the items that came in, with an event for every call that has landed. The result of a call that was ended from
// here is kept when it is an answer; that it was ended is known. The slice is valid until the next take.
func (r *run) take() []decide.Item {
	came, landed := r.inbox.Drain()
	clear(r.items)
	r.items = append(r.items[:0], came...)
	r.pending, r.landed = r.items, landed
	for _, c := range landed {
		switch l := c.Ending(); {
		case l.Failure != nil && c.Stopped, l.Lost == ErrShutdown:
		case l.Lost != nil:
			r.unable = l.Lost
		default:
			e := decide.Ending(c.Of, l.Result)
			e.Node, e.Hint = c.Step, c.Of.Node+1
			r.items = append(r.items, decide.Item{Event: e})
		}
	}
	return r.items
}

// settled forgets the calls whose results are durable now. Until then they count as under way: they are not made again.
func (r *run) settled() {
	r.under.Forget(r.landed)
	r.engine.pool.Return(r.landed)
	r.pending, r.landed = nil, nil
}

// finish ends a run that has finished.
func (r *run) finish() bool {
	e := r.step.Done()
	if e == nil {
		return false
	}
	r.result = inspect.NewResult(r.id, e)
	return true
}
