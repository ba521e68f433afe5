package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Run is a handle of one run: to wait for it, to watch it, and to step in. It is a small value that holds nothing open;
// it is safe for concurrent use.
//
// Who steps in has wishes, which are journaled or refused: with ErrFinished when the run has ended, with ErrStepNotFound,
// with ErrNotPossible where it would be without effect. A refused wish leaves the journal as it was.
type Run struct {
	engine *Engine
	id     string
	actor  string // whose wishes are made by this handle; "": nobody is named
}

// ID is the run's id.
func (r *Run) ID() string { return r.id }

// As is a handle of the same run whose wishes are recorded as those of a person or a program. A name of more
// than ActorMax bytes is refused with every wish.
func (r *Run) As(actor string) *Run { return &Run{r.engine, r.id, actor} }

// Wait returns when the run has ended, however it did: see Result.Err. Its own error says why that cannot be told: ctx
// ended, ErrShutdown, or ErrParked with what keeps the run from going on in this process. A run that does not go on here has
// ended when its journal says so, or will by what has fallen due: see State.Late.
func (r *Run) Wait(ctx context.Context) (*Result, error) {
	e := r.engine
	for {
		if err := e.down(); err != nil {
			return nil, err
		}
		e.mu.Lock()
		active := e.runs[r.id]
		e.mu.Unlock()
		if active == nil {
			result, err := r.await(ctx)
			if result != nil || err != nil {
				return result, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, cancelled.Error(ctx)
		case <-active.over:
		case <-e.shut:
		}
		if !isClosed(active.over) { // its loop does not come to an end
			return nil, ErrShutdown
		}
		switch {
		case active.result != nil:
			return active.result, nil
		case active.err != nil:
			return nil, active.err
		case !active.idle:
			return nil, ErrShutdown
		}
	}
}

// await follows a run that is not in memory until it ends. It returns nothing when the run is in memory after all, or has been
// parked in the meantime.
func (r *Run) await(ctx context.Context) (*Result, error) {
	e := r.engine
	notice, leave := e.notice(r.id)
	defer leave()
	if notice.Err() != nil {
		return nil, e.down()
	}
	if err := e.parkedFor(r.id); err != nil {
		return nil, err
	}
	result, last, err := r.ending(ctx)
	if result != nil || err != nil {
		return result, err
	}
	if result, err = e.reader.Await(ctx, notice, r.id, last); result != nil || err != nil {
		return result, e.why(ctx, err)
	}
	return nil, e.down()
}

// ending reads how a run that is not in memory has ended; nil when it has not, with the sequence of its last event. One that
// could not go on here is found out by that.
func (r *Run) ending(ctx context.Context) (*Result, uint64, error) {
	e := r.engine
	known := e.registry.Learned()
	end, err := e.reader.Ending(ctx, r.id)
	if err != nil {
		return nil, 0, e.why(ctx, err)
	}
	if end.Result == nil && end.Start != nil && r.Driven() {
		if start, reason := e.reader.ObstacleOf(ctx, end.Start, true); reason != nil {
			e.parkAsleep(r.id, reason, start, known)
		}
	}
	return end.Result, end.Last, nil
}

// Cancel ends the run: whatever has not ended aborts, calls under way are stopped.
func (r *Run) Cancel(ctx context.Context, reason string) error {
	return r.wish(ctx, journal.Event{
		Type: journal.RunCancelled, Detail: &journal.Detail{
			Reason: reason, Failure: &journal.Failure{Code: reactive.CodeCancelled, Message: reason},
		},
	})
}

// Abort stops one step, map, map item or named conditional that has not ended, by its key, such as `check[3]`: its call is
// stopped, a map takes its items with it and a conditional its branches. A step whose decision is open is aborted, too. Of
// a playbook it stops a run of a step, such as `fetch@2`, whose arcs are then followed as those of one that failed, or one
// of its calls.
func (r *Run) Abort(ctx context.Context, step, reason string) error {
	return r.wish(ctx, journal.Event{Type: journal.NodeAborted, Node: step, Detail: &journal.Detail{Reason: reason}})
}

// A RetryOption changes what Retry repeats.
type RetryOption func(*journal.Detail)

// RepeatWork has the work of a step repeated whose decision is open: without it, only the decision is asked for again.
func RepeatWork() RetryOption { return func(d *journal.Detail) { d.Work = true } }

// Retry has a step that ended, or that waits for its retry, attempted again. A finished run goes on with that, and its
// deadline begins anew; one that was cancelled, or ended all at once, can only be started again, as can a playbook's.
//
// A step whose work is answered and whose decision is open has its decision source asked again; where a person decides, it
// returns ErrNotPossible. See RepeatWork.
func (r *Run) Retry(ctx context.Context, step string, opts ...RetryOption) error {
	d := &journal.Detail{}
	for _, opt := range opts {
		if opt != nil {
			opt(d)
		}
	}
	return r.wish(ctx, journal.Event{Type: journal.NodeRetried, Node: step, Detail: d})
}

// Send gives the run a message; a step that waits for its name takes it, now or later. One that no step of the workflow waits
// for is journaled, too, and the logger is told: see Awaits.
func (r *Run) Send(ctx context.Context, name string, payload any) error {
	if err := r.engine.down(); err != nil {
		return err
	}
	v, err := value.Own(payload)
	if err != nil {
		return fmt.Errorf("payload of message %q: %w", name, err)
	}
	err = r.wish(ctx, journal.Event{Type: journal.MessageReceived, Value: v, Detail: &journal.Detail{Name: name}})
	if err == nil {
		r.tellUnawaited(ctx, name)
	}
	return err
}

// Pause lets nothing new start until Resume, also in child runs; calls under way and their timers go on.
func (r *Run) Pause(ctx context.Context, reason string) error {
	return r.wish(ctx, journal.Event{Type: journal.RunPaused, Detail: &journal.Detail{Reason: reason}})
}

// Resume ends a pause.
func (r *Run) Resume(ctx context.Context) error {
	return r.wish(ctx, journal.Event{Type: journal.RunResumed})
}

// Decide says whether a step's task is done, while that is open: the step's fulfillment waits for a person, its decision
// source is being asked, which is then given up, or what was decided has paused the run.
func (r *Run) Decide(ctx context.Context, step string, done bool, reason string) error {
	state := call.NotFulfilled
	if done {
		state = call.Fulfilled
	}
	return r.wish(ctx, journal.Event{Type: journal.DecisionReceived, Node: step, Detail: &journal.Detail{
		State: string(state), Reason: reason,
	}})
}

// wish puts an event to the run's loop and waits until it is durable or refused.
func (r *Run) wish(ctx context.Context, event journal.Event) error {
	if err := limits.CheckActor(r.actor); err != nil {
		return err
	}
	if r.actor != "" {
		if event.Detail == nil {
			event.Detail = &journal.Detail{}
		}
		event.Detail.Actor = r.actor
	}
	put := r.ask
	if !r.Driven() {
		put = func(ctx context.Context, event journal.Event) error { return r.engine.note(ctx, r.id, event) }
	}
	err := put(ctx, event)
	for errors.Is(err, errLeft) {
		err = put(ctx, event)
	}
	if errors.Is(err, decide.ErrRules) { // of a run that has finished, its rules are nobody's concern any more
		if head, unread := r.engine.reader.Head(ctx, r.id); unread == nil && !head.Open {
			return fmt.Errorf("run %s: %w", r.id, ErrFinished)
		}
	}
	return err
}

// ask puts a wish once; errLeft says that the run left memory before it was looked at.
func (r *Run) ask(ctx context.Context, event journal.Event) error {
	done := make(chan error, 1)
	it := decide.Item{Event: event, Reply: once(done)}
	if err := r.engine.deliver(ctx, r.id, it); err != nil {
		return err
	}
	err, told := r.engine.reply(ctx, done)
	if told && err != nil {
		return fmt.Errorf("run %s: %w", r.id, err)
	}
	return err
}
