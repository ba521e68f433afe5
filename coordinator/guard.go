package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
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

// Guard calls code that is not ours on the loop.
func (r *run) Guard(f func() error) error {
	if r.careful {
		return usercode.Apart(f)
	}
	return usercode.Call(f)
}

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
		r.giveUp()
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

// derived follows a journal by what f does. A panic of ours is an error, and is logged: readers are no part of the run, and
// must not end the process that it lives in.
func (e *Engine) derived(run string, f func()) error {
	err := usercode.Call(func() error { f(); return nil })
	if err != nil {
		e.report("what has become of a run cannot be derived", run, err)
	}
	return err
}

// Function calls a Go function of the run's own definition.
func (r *run) Function(name string, args []any) (value.Value, *journal.Failure) {
	return operation.CallFunction(r.Guard, name, r.entry.Functions[name], args)
}

// Pure makes a call that leaves nothing behind, on the loop itself; false for any other.
func (r *run) Pure(v int32, input any) (call.Result, bool) {
	p := r.entry.Performers[r.root.Row(v).Op]
	if !p.Pure || r.ring != nil { // to get a secret may take its time
		return call.Result{}, false
	}
	f := r.prepare(&flight{}, reactive.Request{Node: v, Attempt: r.root.Attempt(v)})
	f.Input = input
	var l landing
	if err := r.Guard(func() error { l = f.make(); return nil }); err != nil {
		l = r.failed(err)
	}
	return l.Result, true
}

// Resolve returns the participants that a step's target means.
func (r *run) Resolve(v int32, at int64) (ids []string, failure *journal.Failure) {
	err := r.Guard(func() error {
		ids = directory.Resolve(r.engine.directory(r.entry), r.root.Place(v).Step.Target, time.Unix(0, at))
		return nil
	})
	if err != nil {
		failure, _ = operation.FailureOf(fmt.Errorf("directory: %w", err))
		return nil, failure
	}
	if i := slices.IndexFunc(ids, func(id string) bool { return id == "" || !utf8.ValidString(id) }); i >= 0 {
		return nil, call.NewFailure(CodeDirectory, fmt.Sprintf("the directory has a participant whose id is %q", ids[i]))
	}
	return ids, nil
}

// CodeDirectory is the code of steps whose target means a participant that cannot be asked, and of calls about whose participant
// the directory gives what is no value.
const CodeDirectory = "invalid_directory"

// about is what bindings see of a participant. What is no value fails the call, as an output does.
func about(d directory.Directory, participant string) (map[string]any, error) {
	known, ok := d.Participant(participant)
	if !ok {
		return nil, nil
	}
	owned, err := value.Own(known)
	if err != nil {
		return nil, &operation.Error{Code: CodeDirectory, Permanent: true, Err: fmt.Errorf("participant %q: %w", participant, err)}
	}
	about, _ := owned.(map[string]any)
	return about, nil
}
