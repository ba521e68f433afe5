package coordinator

import (
	"context"
	"errors"

	"github.com/sluiceflow/sluice/internal/usercode"
)

// What a program hands to the engine is called behind a guard, see package usercode. A panic is the failure of what asked:
//
//	operations, MarshalJSON and Error of what they return, who a participant is   the call
//	Go functions of workflows, pure operations                                    the step
//	who a target means                                                            the step
//	the input of Start, the payload of a message                                  Start, Send
//	the logger                                                                    nothing: the line goes to standard error
//
// Where nothing asked, as when the store panics, or we do, the run is parked. Calls are made on goroutines of their own, and
// one that ends its goroutine has failed. What the loop itself calls takes the loop's goroutine along: then another loop goes
// on from what the journal says, and calls such code apart, where it fails like everything else.

// exited goes on after code that the loop has called has ended the loop's goroutine. It is the last that happens there.
func (r *run) exited(ctx context.Context, p *usercode.Panic) {
	if r.careful { // it was not called apart, so it was no code that asks for an outcome
		r.collapse(p)
		r.leave()
		return
	}
	r.careful = true
	r.rewind()
	r.engine.loops.Go(func() { r.loop(ctx) })
}

// collapse notes that the run cannot go on, because its loop has panicked.
func (r *run) collapse(err error) {
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
