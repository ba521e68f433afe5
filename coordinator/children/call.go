package children

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/template/value"
)

// CodeChildFailed is the code of a step whose child run did not complete or refused its input.
const CodeChildFailed = "child_failed"

var _ registry.Starter = (*Children)(nil)

// CallChild starts the child, or finds it, and waits for its end. If the call ends first, the child is cancelled.
func (c *Children) CallChild(call *operation.Call, find func(context.Context) (*registry.Entry, error)) (any, error) {
	ctx, cancel := context.WithCancelCause(call)
	defer cancel(nil)
	defer context.AfterFunc(c.Draining, func() { cancel(decide.ErrShutdown) })()
	id := ID(&call.Request)
	err := c.start(context.WithoutCancel(ctx), id, call, find) // even if ctx has ended: an existing child must be cancelled
	if err != nil {
		return nil, c.failure(ctx, call, err)
	}
	result, err := c.await(ctx, id)
	switch {
	case err == nil && result.Err() == nil:
		return result.Output, nil
	case err == nil:
		return nil, childFailure(result)
	}
	if call.Err() != nil && !errors.Is(context.Cause(ctx), decide.ErrShutdown) {
		err = c.Engine.Cancel(context.WithoutCancel(ctx), id, orphaned)
		if errors.Is(err, decide.ErrFinished) {
			err = nil
		}
		return nil, errors.Join(context.Canceled, err)
	}
	return nil, c.failure(ctx, call, err)
}

// await waits for the child's end. A parked child is not a failure of the step: it may be tried again at any time.
func (c *Children) await(ctx context.Context, id string) (*inspect.Result, error) {
	for {
		result, err := c.Engine.Wait(ctx, id)
		if !errors.Is(err, decide.ErrParked) {
			return result, err
		}
		select {
		case <-ctx.Done():
			return nil, cancelled.Error(ctx)
		case <-c.Engine.Tried(id):
		}
	}
}

// failure returns the error of a call whose child could not be started or awaited. A shutdown of the engine does not fail the call,
// because the next engine repeats it, and neither do missing operations or functions, because another program may have them. A
// child that lacks its secrets has not begun, and may be retried like any call that lacks secrets.
func (c *Children) failure(ctx context.Context, call *operation.Call, err error) error {
	if errors.Is(err, decide.ErrShutdown) || errors.Is(context.Cause(ctx), decide.ErrShutdown) {
		return decide.ErrShutdown
	}
	if errors.Is(err, keychain.ErrUnavailable) {
		return pool.SecretError(err)
	}
	if errors.Is(err, decide.ErrMissing) {
		return &pool.Unable{Reason: fmt.Errorf("child workflow of operation %q: %w", call.Operation, err)}
	}
	code := CodeChildFailed
	if errors.Is(err, decide.ErrLimit) {
		code = reactive.CodeLimit
	}
	return &operation.Error{Code: code, Permanent: true, Err: err}
}

// childFailure returns the error of a call whose child run has ended without completing; the details describe the end. If the
// child failed because of a child of its own, the error names the innermost one, whose id contains the ids of the runs above.
func childFailure(r *inspect.Result) error {
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

// start begins the child unless it exists.
func (c *Children) start(ctx context.Context, id string, call *operation.Call, find func(context.Context) (*registry.Entry, error)) error {
	if known, err := c.Engine.Exists(ctx, id); known || err != nil {
		return err
	}
	input, err := value.Of(call.Input)
	if err != nil {
		return err
	}
	entry, err := find(ctx)
	if err != nil {
		return err
	}
	if err := entry.Schema.Check(input); err != nil {
		return err
	}
	from, kept, err := c.kept(ctx, call)
	if err != nil {
		return err
	}
	return c.begin(ctx, entry, input, Start{ID: id, Call: Name(&call.Request), Identity: call.Identity, Dir: call.Dir, From: from, Kept: kept})
}
