package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template"
)

// run is one run in memory. Its loop owns everything but the inbox.
type run struct {
	id     string
	engine *Engine
	inbox  *inbox
	over   chan struct{} // closed when the run has left memory
	err    error         // why it left without having finished; set before over is closed
	result *Result       // set before over is closed, when it finished

	entry   *entry
	ring    *keychain.Ring // the run's secrets; nil: it has none
	step    *Stepper
	seq     uint64                       // last durable sequence
	last    int64                        // latest instant given to the stepper
	flights []*flight                    // calls under way, by node
	asides  map[reactive.Request]*flight // calls under way of participants and decision sources, and given up ones of nodes used again
	flying  int                          // how many of both
	more    bool                         // there is something to decide
	idle    bool                         // it has left memory because nothing happened
	timer   *time.Timer
	items   []Item        // taken last
	backoff time.Duration // before the next try after a failed append
}

func newRun(e *Engine, id string) *run {
	return &run{id: id, engine: e, inbox: newInbox(), over: make(chan struct{})}
}

// adopt takes a root to be driven.
func (r *run) adopt(entry *entry, root *reactive.Root, now int64) {
	r.entry, r.last = entry, max(r.last, now)
	r.step = NewStepper(root, r)
}

// Function finds a Go function of the workflow.
func (r *run) Function(name string) *template.Function { return r.engine.library.function(name) }

// Reserve asks for room for one more call.
func (r *run) Reserve() bool { return r.engine.calls.take(r) }

// Resolve gives the participants that a step's target means.
func (r *run) Resolve(v int32, at int64) []string {
	return directory.Resolve(r.engine.directory(r.entry), r.step.root.Place(v).Step.Target, time.Unix(0, at))
}

// EventsMax is how many events the run may have.
func (r *run) EventsMax() uint64 {
	if most := r.engine.config.Limits.EventsMax; most > 0 {
		return uint64(most)
	}
	return math.MaxUint64
}

// Pure makes a call that leaves nothing behind, on the loop itself; false for any other.
func (r *run) Pure(v int32, input any) (any, error, bool) {
	p := r.entry.performers[r.step.root.Row(v).Op]
	if !p.pure || r.ring != nil { // to get a secret may take its time
		return nil, nil, false
	}
	f := r.prepare(&flight{}, reactive.Request{Node: v, Attempt: r.step.root.Attempt(v)})
	f.Input = input
	l := fly(f)
	return l.out, l.err, true
}

// again has the loop decide anew.
func (r *run) again() { r.inbox.poke() }

// instant is now, but never before the last one: instants in a journal ascend.
func (r *run) instant() int64 {
	r.last = max(r.last, time.Now().UnixNano())
	return r.last
}

// recover makes the root, unless it is there: a new run's is empty, any other's follows from the journal. It reports
// false when there is nothing to drive.
func (r *run) recover(ctx context.Context) bool {
	if r.step != nil {
		return true
	}
	entry, root, err := r.engine.replay(context.WithoutCancel(ctx), r.id, r.entry)
	if err != nil {
		r.err = err
		return false
	}
	r.seq = root.Seq()
	r.adopt(entry, root, root.At())
	if n := net.Of(root); n != nil && r.ring == nil {
		r.ring = keychain.New(n.Playbook(), n.Workload())
	}
	if !r.inbox.holds(journal.NodeRetried) && r.finish() {
		return false
	}
	if r.err = entry.missing; r.err != nil {
		return false
	}
	r.more = true
	r.resume(ctx)
	return true
}

// resume makes the calls again that the journal knows as requested and unanswered, with the same request ids. Those
// that are under way in this process go on; one that may not be made twice is given up as interrupted.
func (r *run) resume(ctx context.Context) {
	r.step.root.TakeCancels()
	r.step.root.TakeCalls()
	r.disown()
	var calls []reactive.Request
	for _, req := range r.step.root.OpenCalls() {
		switch {
		case r.flight(req) != nil:
		case req.Decision == 0 && r.step.root.Place(req.Node).Step.NonIdempotent:
			r.inbox.add(Item{Event: r.step.about(req.Node, interrupted(req)), Received: r.instant()})
		default:
			calls = append(calls, req)
		}
	}
	for _, req := range calls {
		if req.Participant == "" && req.Decision == 0 {
			r.engine.calls.add(1)
		}
	}
	r.dispatch(ctx, calls)
}

func interrupted(req reactive.Request) journal.Event {
	return Ending(req, nil, &operation.Error{
		Code: reactive.CodeInterrupted, Permanent: true,
		Message: "the process ended while the call was under way, and the step is not idempotent",
	})
}

// survive decides what a failed append means. A store that takes no more from us ends the run in this process, and
// the journal stays as it is; anything else is tried again from what the journal says, with nothing lost that came in.
func (r *run) survive(ctx context.Context, items []Item, err error) bool {
	for _, final := range []error{journal.ErrConflict, journal.ErrReadOnly, journal.ErrClosed, journal.ErrDamaged, journal.ErrTooLarge} {
		if errors.Is(err, final) {
			r.err = fmt.Errorf("append run %s: %w", r.id, err)
			for _, it := range items {
				if it.Reply != nil {
					it.Reply(r.err)
				}
			}
			return false
		}
	}
	r.engine.calls.release(r.step.reserved)
	r.engine.config.Logger.Warn("append failed, trying again", "run", r.id, "error", err)
	r.inbox.putBack(items)
	r.step = nil
	r.backoff = min(max(2*r.backoff, 10*time.Millisecond), time.Second)
	timer := time.NewTimer(r.backoff)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// answer tells those who wished for something that it is durable, or why it was refused.
func (r *run) answer(replies []Reply) {
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
	for i, req := range calls {
		f := r.prepare(&flights[i], req)
		if req.Participant != "" || req.Decision != 0 {
			r.engine.calls.add(1)
		}
		f.Begin(ctx)
		r.track(f)
	}
	r.engine.pool.submit(flights)
}

// prepare fills in a call.
func (r *run) prepare(f *flight, req reactive.Request) *flight {
	root := r.step.root
	op := root.Row(req.Node).Op
	f.Input = root.Requested(req.Node)
	if req.Decision != 0 {
		op = root.Place(req.Node).Decision
		f.Input, _ = root.DecisionInput(req.Node)
		f.Decision = req.Decision
	}
	f.run, f.req, f.op = r, req, r.entry.performers[op]
	if r.ring != nil && req.Decision == 0 {
		f.secrets = net.Of(root).Secrets(req.Node)
	}
	f.Run, f.Node, f.Operation, f.Attempt = r.id, root.Key(req.Node), r.entry.plan.Operations[op].Name, req.Attempt
	if f.Participant = req.Participant; f.Participant != "" {
		f.About = r.engine.about(r.entry, f.Participant)
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
		r.flights = append(r.flights, make([]*flight, max(64, int(r.step.root.Len())-len(r.flights)))...)
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

var (
	errEnded = errors.New("the attempt has ended")
	errLeft  = errors.New("the run has left memory")
)

// stop ends the contexts of calls whose attempts were closed by something else than their answer.
func (r *run) stop(cancels []reactive.Request) {
	for _, req := range cancels {
		if f := r.flight(req); f != nil {
			f.End(errEnded)
		}
	}
}

// land brings a call's outcome home. It is called on the goroutine that made the call.
func (r *run) land(f *flight, l landing) {
	f.landing = l
	r.bringHome(f)
}

// bringHome brings home calls that have landed.
func (r *run) bringHome(flights ...*flight) {
	r.inbox.land(flights)
	r.engine.pool.home(len(flights))
}

// take gives the items that came in, with an event for every call that has landed. What a call says that was ended from here
// is kept when it is an answer; that it was ended is no news. The slice is valid until the next take.
func (r *run) take() []Item {
	came, landed := r.inbox.drain()
	clear(r.items)
	items := append(r.items[:0], came...)
	for _, f := range landed {
		it := Item{flight: f}
		if f.landing.err != nil && f.Cause() != nil || errors.Is(f.landing.err, ErrShutdown) {
			it.Event.Type = noEvent
		} else {
			it.Event = Ending(f.req, f.landing.out, f.landing.err)
			it.Event.Node, it.Event.Hint = f.Node, f.req.Node+1
		}
		items = append(items, it)
	}
	r.items = items
	return items
}

// home forgets the calls whose outcomes are durable now. Until then they count as under way: nobody makes them again.
func (r *run) home(items []Item) {
	n := 0
	for i := range items {
		f := items[i].flight
		if f == nil {
			continue
		}
		n++
		r.untrack(f)
	}
	r.engine.calls.release(n)
}

// finish ends a run that has finished.
func (r *run) finish() bool {
	e := r.step.root.Finished()
	if e == nil {
		return false
	}
	r.result = newResult(r.id, e)
	return true
}

// leave takes the run out of memory, whatever the reason, and tells everybody who waits.
func (r *run) leave() {
	r.engine.calls.release(r.flying)
	for _, f := range r.flights {
		if f != nil {
			f.End(errEnded)
		}
	}
	for _, f := range r.asides {
		f.End(errEnded)
	}
	r.engine.forget(r)
	for _, it := range r.inbox.close() {
		if it.Reply != nil {
			it.Reply(r.parting(&it.Event))
		}
	}
	close(r.over)
}

// parting is what is told to those who came in too late. A finished run may still be reopened: it is asked again.
func (r *run) parting(e *journal.Event) error {
	switch {
	case r.err != nil:
		return r.err
	case r.result != nil && e.Type == journal.NodeRetried:
		return errLeft
	case r.result != nil:
		return ErrFinished
	}
	return ErrShutdown
}

// head is what a list of runs shows of this one.
func (r *run) head() journal.Head {
	root := r.step.root
	s := root.Start()
	return journal.Head{
		Run: r.id, Workflow: s.Workflow, Name: s.Name, Status: string(root.RunStatus()), Labels: s.Labels,
		Started: root.StartedAt(), Updated: r.last, Due: root.NextDue(), Open: root.Finished() == nil,
	}
}
