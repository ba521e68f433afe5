package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
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

// As is a handle of the same run whose wishes are recorded as those of a person or a program.
func (r *Run) As(actor string) *Run { return &Run{r.engine, r.id, actor} }

// Result is how a run ended.
type Result struct {
	Run     string
	Status  reactive.RunStatus
	Failure *journal.Failure // why it did not complete; nil when it did
	Output  any              // a value of package value, or what the event holds
}

// Decode puts the output into a Go value, by its json tags.
func (r *Result) Decode(into any) error { return value.Convert(r.Output, into) }

// Err is nil when the run completed, else what ended it.
func (r *Result) Err() error {
	if r.Status == reactive.RunCompleted {
		return nil
	}
	if r.Failure == nil {
		return fmt.Errorf("run %s: %s", r.Run, r.Status)
	}
	return fmt.Errorf("run %s: %s: %w", r.Run, r.Status, r.Failure)
}

func newResult(id string, e *journal.Event) *Result {
	return &Result{Run: id, Status: reactive.RunStatus(e.Detail.State), Failure: e.Detail.Failure, Output: e.Value}
}

// Wait returns when the run has ended, however it did: see Result.Err. Its own error says why that cannot be told: ctx
// ended, the engine shut down, or the run cannot go on in this process.
func (r *Run) Wait(ctx context.Context) (*Result, error) {
	e := r.engine
	for {
		e.mu.Lock()
		active, stopped := e.runs[r.id], e.stopped[r.id]
		e.mu.Unlock()
		if active == nil && stopped != nil {
			return nil, stopped
		}
		if active == nil {
			result, err := r.await(ctx)
			if result != nil || err != nil {
				return result, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-active.over:
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

// await follows a run that is not in memory until it ends.
func (r *Run) await(ctx context.Context) (*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.engine.ctx, func() { cancel(ErrShutdown) })()
	if err := r.engine.parked(ctx, r.id); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	for e, err := range r.engine.store.Tail(ctx, r.id, 1) {
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, fmt.Errorf("read run %s: %w", r.id, err)
		case e.Type == journal.RunFinished && !r.reopened(ctx, e.Seq):
			return newResult(r.id, &e), nil
		}
	}
	return nil, context.Cause(ctx)
}

// Cancel ends the run: whatever has not ended aborts, calls under way are stopped.
func (r *Run) Cancel(ctx context.Context, reason string) error {
	return r.wish(ctx, journal.Event{
		Type: journal.RunCanceled, Detail: &journal.Detail{
			Reason: reason, Failure: &journal.Failure{Code: reactive.CodeCanceled, Message: reason},
		},
	})
}

// Abort stops one step, map or map item, named by its key, such as `check[3]`; of a playbook, a run of a step, such as
// `fetch@2`, whose arcs are then followed as those of one that failed, or one of its calls.
func (r *Run) Abort(ctx context.Context, step, reason string) error {
	return r.wish(ctx, journal.Event{Type: journal.NodeAborted, Node: step, Detail: &journal.Detail{Reason: reason}})
}

// Retry has a step that ended, or that waits for its retry, attempted again. A finished run goes on with that, and its
// deadline begins anew; one that was cancelled, or ended all at once, can only be started again, as can a playbook's.
func (r *Run) Retry(ctx context.Context, step string) error {
	return r.wish(ctx, journal.Event{Type: journal.NodeRetried, Node: step})
}

// Send gives the run a message; a step that waits for its name takes it, now or later.
func (r *Run) Send(ctx context.Context, name string, payload any) error {
	v, err := value.Of(payload)
	if err != nil {
		return fmt.Errorf("payload of message %q: %w", name, err)
	}
	return r.wish(ctx, journal.Event{Type: journal.MessageReceived, Value: v, Detail: &journal.Detail{Name: name}})
}

// Pause lets nothing new start until Resume; calls under way and their timers go on.
func (r *Run) Pause(ctx context.Context, reason string) error {
	return r.wish(ctx, journal.Event{Type: journal.RunPaused, Detail: &journal.Detail{Reason: reason}})
}

// Resume ends a pause.
func (r *Run) Resume(ctx context.Context) error {
	return r.wish(ctx, journal.Event{Type: journal.RunResumed})
}

// Decide says whether a step's task is done, where a person is to say so: the step's fulfillment waits for one, or its
// outcome has paused the run.
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
	if r.actor != "" {
		if event.Detail == nil {
			event.Detail = &journal.Detail{}
		}
		event.Detail.Actor = r.actor
	}
	if !r.Driven() {
		return r.engine.note(ctx, r.id, event)
	}
	err := r.ask(ctx, event)
	for errors.Is(err, errLeft) {
		err = r.ask(ctx, event)
	}
	return err
}

// ask puts a wish once; errLeft says that the run left memory before it was looked at.
func (r *Run) ask(ctx context.Context, event journal.Event) error {
	done := make(chan error, 1)
	it := Item{Event: event, Reply: func(err error) { done <- err }}
	if err := r.engine.deliver(ctx, r.id, it); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-done:
		if err != nil {
			return fmt.Errorf("run %s: %w", r.id, err)
		}
		return nil
	}
}
