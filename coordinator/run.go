package coordinator

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/children"
	"github.com/sluiceflow/sluice/coordinator/clock"
	"github.com/sluiceflow/sluice/coordinator/inbox"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/residence"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// run is one run in memory. The goroutine that holds turns owns all fields except the inbox, the channels and paused.
type run struct {
	id       string
	engine   *Engine
	inbox    *inbox.Inbox
	turns    inbox.TurnLock
	durable  chan struct{} // closed when the start is durable, if the run was started here
	unloaded chan struct{} // closed when the run has left memory
	err      error         // the reason that an unfinished run has left memory; set before unloaded is closed
	result   *Result       // of a finished run; set before unloaded is closed

	entry      *registry.Entry
	calls      pool.Run // with the run's secrets
	inProgress pool.InProgress
	host       *pool.Host      // of step
	step       *decide.Stepper // nil while the run must be recovered
	seq        uint64          // last durable sequence
	last       int64           // latest instant passed to the stepper
	more       bool            // there are further decisions
	idle       bool            // the run has left memory, and is loaded again when needed
	leaving    bool            // the run leaves memory as soon as its snapshot is made
	timer      *time.Timer
	ctx        context.Context // of the loop
	wakeAt     int64           // instant of the timer for which the loop sleeps; 0: none
	asleep     bool            // the loop sleeps
	drivenAt   time.Time       // when another goroutine last began to drive the run
	stopped    bool            // another goroutine's turn was the last: the loop recovers the run or unloads it
	failed     error           // the reason that the run must be recovered
	keeper     cells.Keeper
	paused     atomic.Bool   // as of the last turn; read by child runs that begin
	items      []decide.Item // of the current turn
	pending    []decide.Item // items that are neither durable nor refused
	ended      []*pool.Call  // calls whose results are among items, and not durable yet
	backoff    clock.Backoff // between the attempts of an append or a recovery
	refusals   int           // consecutive failed appends
	place      residence.Place
	started    bool   // the run was started here: it may not be durable yet
	apart      bool   // the program's code has ended a loop of this run: it is called on separate goroutines
	obstacle   error  // the reason, found by a call, that the run cannot go on in this process
	learned    uint64 // registry.Learned when the run was recovered
}

func newRun(e *Engine, id string) *run {
	r := &run{id: id, engine: e, inbox: inbox.New(), turns: inbox.NewTurnLock(), durable: make(chan struct{}), unloaded: make(chan struct{})}
	r.calls = e.pool.Run(id, r)
	return r
}

// setRoot sets the root that the run's turns drive.
func (r *run) setRoot(entry *registry.Entry, root *reactive.Root, now int64) {
	r.entry, r.last = entry, max(r.last, now)
	r.host = pool.NewHost(&r.calls, entry, root, r.engine.config.Limits.OfRun())
	r.host.Apart = r.apart
	r.step = decide.NewStepper(root, r.host)
}

// Wake implements pool.Owner: the loop takes another turn.
func (r *run) Wake() { r.inbox.Wake() }

// Deliver implements pool.Owner.
func (r *run) Deliver(calls []*pool.Call) bool { return r.inbox.Deliver(calls) }

// AddReport implements pool.Owner.
func (r *run) AddReport(event journal.Event, reply func(error)) bool {
	return r.inbox.Add(decide.Item{Event: event, Received: r.engine.clock.Now(), Reply: reply})
}

// instant returns the current instant, but never one before the last: instants in a journal ascend.
func (r *run) instant() int64 {
	r.last = max(r.last, r.engine.clock.Now())
	return r.last
}

// resume makes the calls again that are requested in the journal without an answer. A call that may not be repeated fails as
// interrupted.
func (r *run) resume(ctx context.Context) {
	children := r.engine.children
	children.Claim(r.id, r.children)
	r.paused.Store(r.step.Paused())
	children.RestorePause(context.WithoutCancel(ctx), r.id, r.step.Paused(), r.children())
	again, interrupted := r.step.Resume(func(req reactive.Request) bool {
		return r.inProgress.Find(req) != nil || r.host.Adopt(req) || r.host.Holds(req)
	})
	for _, event := range interrupted {
		r.inbox.Add(decide.Item{Event: event, Received: r.instant()})
	}
	r.host.Make(ctx, r.host.Admit(again, r.step.Room()), &r.inProgress, false)
}

// children returns the ids of the runs that the run's open calls have started, or will start.
func (r *run) children() map[string]bool {
	return children.IDs(r.host.Children(r.step.OpenCalls()))
}

// keep makes a snapshot, if one is due, while the run goes on; if leaves is true, before the run leaves memory.
func (r *run) keep(leaves bool) {
	if e := r.engine; r.step.SnapshotDue(leaves) && r.keeper.Begin() {
		e.loops.Go(func() {
			if err := r.keeper.Keep(e.ctx, e.handle(r.id, "").Handle, leaves); err != nil && e.ctx.Err() == nil {
				e.config.Logger.Warn("a snapshot of a world could not be made", "run", r.id, "error", err)
			}
			r.Wake() // it may wait for this before it leaves memory
		})
	}
}

// keepsFirst reports whether a run that is to leave memory waits for a snapshot that is being made: the next load then reads few events.
// If no snapshot can be made, the run does not wait.
func (r *run) keepsFirst() bool {
	r.keep(true)
	return r.keeper.Busy()
}

// relayPause passes the beginning or end of the run's pause on to its child runs.
func (r *run) relayPause(ctx context.Context) {
	if paused := r.step.Paused(); r.paused.Swap(paused) != paused {
		r.engine.children.Pause(ctx, r.id, paused, r.children())
	}
}

// sendReplies sends the replies to commands: nil once they are durable, or the reason of a refusal.
func (r *run) sendReplies(replies []decide.Reply) {
	for _, a := range replies {
		a.To(a.Err)
	}
}

var errUnloaded = errors.New("the run has left memory")

// takeItems drains the inbox. It returns its items, and an item for each call that has ended; it drops the failures of calls that
// were stopped, because their attempts have ended before. The slice is valid until the next call of takeItems.
func (r *run) takeItems() []decide.Item {
	items, ended := r.inbox.Drain()
	clear(r.items)
	r.items = append(r.items[:0], items...)
	r.pending, r.ended = r.items, ended
	for _, c := range ended {
		switch l := c.Ending(); {
		case l.Failure != nil && c.Stopped, l.Abandoned == ErrShutdown:
		case l.Abandoned != nil:
			r.obstacle = l.Abandoned
		default:
			e := decide.Ending(c.Of, l.Result)
			e.Node, e.Hint = c.Step, max(0, r.inProgress.Of(c).Node+1)
			r.items = append(r.items, decide.Item{Event: e})
		}
	}
	return r.items
}

// releaseEnded removes the calls whose results have become durable from those in progress, and releases their room. Until then
// they count as in progress, so that a recovery does not make them again.
func (r *run) releaseEnded() {
	r.inProgress.Forget(r.ended)
	r.engine.pool.ReleaseRoom(r.ended)
	r.pending, r.ended = nil, nil
}

// finish sets the result if the run has ended. It reports whether it has.
func (r *run) finish() bool {
	e := r.step.Done()
	if e == nil {
		return false
	}
	r.result = inspect.NewResult(r.id, e)
	r.host.LeaveWorkers()
	return true
}
