package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template/value"
)

// CodeChildFailed is the reason of a step whose child run did not complete, or refused its input.
const CodeChildFailed = "child_failed"

// children carries out the calls that start child runs. A child has a journal of its own, under a name made of the request, so
// that a call that is made again after a crash finds the run that it has started.
type children struct{ engine *Engine }

var _ registry.Starter = children{}

// CallChild starts the child, or finds it, and waits for its end. When the call ends first, the child is cancelled.
func (c children) CallChild(call *operation.Call, find func(context.Context) (*registry.Entry, error)) (any, error) {
	ctx, cancel := context.WithCancelCause(call)
	defer cancel(nil)
	defer context.AfterFunc(c.engine.draining, func() { cancel(ErrShutdown) })()
	r, err := c.start(context.WithoutCancel(ctx), call, find) // to know whether there is a child to be cancelled
	if err != nil {
		return nil, c.failure(ctx, call, err)
	}
	result, err := c.await(ctx, r)
	switch {
	case err == nil && result.Err() == nil:
		return result.Output, nil
	case err == nil:
		return nil, childFailure(result)
	}
	if call.Err() != nil && !errors.Is(context.Cause(ctx), ErrShutdown) {
		err = r.Cancel(context.WithoutCancel(ctx), orphaned)
		if errors.Is(err, ErrFinished) {
			err = nil
		}
		return nil, errors.Join(context.Canceled, err)
	}
	return nil, c.failure(ctx, call, err)
}

// await waits for the child's end. One that is parked may be tried again at any time, and is no failure of the step.
func (c children) await(ctx context.Context, r *Run) (*Result, error) {
	for {
		result, err := r.Wait(ctx)
		if !errors.Is(err, ErrParked) {
			return result, err
		}
		select {
		case <-ctx.Done():
			return nil, cancelled.Error(ctx)
		case <-c.engine.untilTried(r.id):
		}
	}
}

// failure is what the step says. That the engine shuts down is none: the call is made again by the next one. A child that
// lacks its secrets has not begun, and may be tried again as any call that lacks some. What this program lacks to begin it is no
// failure either: another may have it.
func (c children) failure(ctx context.Context, call *operation.Call, err error) error {
	if errors.Is(err, ErrShutdown) || errors.Is(context.Cause(ctx), ErrShutdown) {
		return ErrShutdown
	}
	if errors.Is(err, keychain.ErrUnavailable) {
		return lacking(err)
	}
	if errors.Is(err, ErrMissing) {
		return &unableError{fmt.Errorf("child workflow of operation %q: %w", call.Operation, err)}
	}
	code := CodeChildFailed
	if errors.Is(err, ErrLimit) {
		code = reactive.CodeLimit
	}
	return &operation.Error{Code: code, Permanent: true, Err: err}
}

// childFailure is what the step says whose child run has ended without completing. Its details say how. Where that has failed
// because of a child of its own, that one is named, whose id says which runs are above it.
func childFailure(r *Result) error {
	message := r.Err().Error()
	if f := r.Failure; f != nil && f.Code == CodeChildFailed && strings.HasPrefix(f.Message, "run "+r.Run+"/") {
		message = f.Message
	}
	details := map[string]any{"run": r.Run, "status": string(r.Status)}
	if r.Failure != nil {
		details["code"], details["message"] = r.Failure.Code, r.Failure.Message
	}
	return &operation.Error{Code: CodeChildFailed, Message: message, Details: details, Permanent: true, Err: r.Err()}
}

func (c children) start(ctx context.Context, call *operation.Call, find func(context.Context) (*registry.Entry, error)) (*Run, error) {
	id := childOf(call)
	r, err := c.engine.Run(ctx, id)
	if !errors.Is(err, ErrRunNotFound) {
		return r, err
	}
	input, err := value.Of(call.Input)
	if err != nil {
		return nil, err
	}
	entry, err := find(ctx)
	if err != nil {
		return nil, err
	}
	if err := entry.Schema.Check(input); err != nil {
		return nil, err
	}
	return c.engine.beget(ctx, entry, input, startOptions{id: id, parent: callOf(call), in: call.Identity})
}
