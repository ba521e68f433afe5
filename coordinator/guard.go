package coordinator

import (
	"context"
	"errors"

	"github.com/sluiceflow/sluice/internal/usercode"
)

// The engine recovers panics of the program's code: see package usercode. A panic on the left fails the part on the right:
//
//	operations, MarshalJSON and Error of their results, Directory.Participant   the call
//	Go functions of workflows, pure operations, Directory.Resolve               the step
//	the input of Start, the payload of a message                                Start, Send
//	the logger                                                                  nothing: the line goes to standard error
//
// If the store or the engine itself panics, the run is parked. A call that ends its goroutine fails. Code that the loop calls
// may end the loop's goroutine: then a new loop recovers the run from its journal, and calls such code on separate goroutines,
// where it fails like any other.

// afterGoexit starts a new loop after the program's code has ended the loop's goroutine. It is the last function that the
// goroutine calls.
func (r *run) afterGoexit(ctx context.Context, p *usercode.Panic) {
	if r.apart { // the code had no separate goroutine, so no call or step can fail for it
		r.recordPanic(p)
		r.unload()
		return
	}
	r.apart = true
	r.rewind()
	r.engine.loops.Go(func() { r.loop(ctx) })
}

// recordPanic records that the run cannot go on because its loop has panicked.
func (r *run) recordPanic(err error) {
	r.engine.report("the loop of a run has panicked", r.id, err)
	r.err = err
	if r.step != nil {
		r.host.GiveUp(r.step.Room())
	}
}

// report logs a panic for which no call or step fails.
func (e *Engine) report(what, run string, err error) {
	stack := ""
	if p, ok := errors.AsType[*usercode.Panic](err); ok {
		stack = p.Stack
	}
	e.config.Logger.Error(what, "run", run, "error", err, "stack", stack)
}
