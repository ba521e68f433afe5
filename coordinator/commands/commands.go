// Package commands has the commands that a person or a program sends to a run. Its methods are a part of coordinator.Run.
//
//	err := run.As("ann").Cancel(ctx, "ordered twice")
//
// A command is an event that the run journals or refuses. This package makes the event and brings it to the run; it does not decide
// the consequences.
package commands

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Commands sends commands to one run.
type Commands struct {
	in  *Taker
	run Run
}

func (c Commands) command(ctx context.Context, command journal.Event) error {
	_, err := c.in.Take(ctx, c.run, command)
	return err
}

// Cancel ends the run: unfinished steps abort, and calls in progress are stopped.
func (c Commands) Cancel(ctx context.Context, reason string) error {
	return c.command(ctx, Cancelled(reason))
}

// Cancelled returns the event of a Cancel.
func Cancelled(reason string) journal.Event {
	return journal.Event{
		Type: journal.RunCancelled, Detail: &journal.Detail{
			Reason: reason, Failure: &journal.Failure{Code: reactive.CodeCancelled, Message: reason},
		},
	}
}

// Abort stops an unfinished step, map, map item or named conditional by its key, such as `check[3]`: the call of a step is
// stopped, a map aborts with its items and a conditional with its branches. A step whose decision is open aborts too. In a
// playbook it stops a run of a step, such as `fetch@2`, whose arcs are then followed as after a failure, or one of its calls.
func (c Commands) Abort(ctx context.Context, step, reason string) error {
	return c.command(ctx, journal.Event{Type: journal.NodeAborted, Node: step, Detail: &journal.Detail{Reason: reason}})
}

// A RetryOption changes how Retry repeats a step.
type RetryOption func(*journal.Detail)

// Retry starts another attempt of a step that has ended or waits for its retry. A finished run is reopened, and its deadline
// begins anew. Retry is not possible for a run that was cancelled or that ended as a whole, nor for a playbook: start it
// again.
//
// If a step's work is answered and its decision is open, its decision source is asked again; where a person decides, Retry
// returns ErrNotPossible. See coordinator.RepeatWork.
//
// The attempt has the idempotency key of those before: see coordinator.NewKey.
func (c Commands) Retry(ctx context.Context, step string, opts ...RetryOption) error {
	return c.command(ctx, Retried(step, opts...))
}

// Retried returns the event of a Retry.
func Retried(step string, opts ...RetryOption) journal.Event {
	d := &journal.Detail{}
	for _, opt := range opts {
		if opt != nil {
			opt(d)
		}
	}
	if d.Key != "" {
		d.Key = step + "#" + d.Key // no step has such an id, so no other call has the key
	}
	return journal.Event{Type: journal.NodeRetried, Node: step, Detail: d}
}

// Pause prevents new starts until Resume, also in child runs; calls in progress and their timers go on.
func (c Commands) Pause(ctx context.Context, reason string) error {
	return c.command(ctx, Paused(reason))
}

// Paused returns the event of a Pause.
func Paused(reason string) journal.Event {
	return journal.Event{Type: journal.RunPaused, Detail: &journal.Detail{Reason: reason}}
}

// Resume ends a pause, or releases a run that is held since it was imported.
func (c Commands) Resume(ctx context.Context) error { return c.command(ctx, Resumed()) }

// Resumed returns the event of a Resume.
func Resumed() journal.Event {
	return journal.Event{Type: journal.RunResumed, Detail: &journal.Detail{}}
}

// Decide records whether a step's task is done, while that decision is open: the step waits for a person, its decision source is being
// asked, or an earlier decision has paused the run. The call of a decision source is stopped.
//
// A payload is kept in the journal beside the decision, as evidence; the consequences depend on done alone. See
// coordinator.WithPayload.
func (c Commands) Decide(ctx context.Context, step string, done bool, reason string, payload ...PayloadOption) error {
	state := call.NotFulfilled
	if done {
		state = call.Fulfilled
	}
	e := journal.Event{Type: journal.DecisionReceived, Node: step, Detail: &journal.Detail{State: string(state), Reason: reason}}
	for _, p := range payload {
		v, err := value.Own(p.Payload)
		if err != nil {
			return fmt.Errorf("payload of the decision about %q: %w", step, err)
		}
		e.Value = v
	}
	return c.command(ctx, e)
}

// A PayloadOption adds a value to a decision.
type PayloadOption struct{ Payload any }

// Patch writes to the context of a playbook's run, all changes or none. The keys are paths such as `approved` or
// `limits.price`; missing objects on the way are created. Gates are then evaluated again. Other runs have no context: Patch
// returns ErrNotPossible.
func (c Commands) Patch(ctx context.Context, changes map[string]any) error {
	values, err := value.OwnMembers(changes)
	if err != nil {
		return fmt.Errorf("ctx.%w", err)
	}
	return c.command(ctx, journal.Event{Type: journal.ContextPatched, Value: values})
}
