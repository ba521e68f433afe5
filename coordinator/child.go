package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/internal/canceled"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// CodeChildFailed is the reason of a step whose child run did not complete, or refused its input.
const CodeChildFailed = "child_failed"

// childCaller makes a call by running a workflow. The child has a journal of its own, under a name made of the request, so
// that a call that is made again after a crash finds the run that it has started.
type childCaller struct {
	engine *Engine
	find   func(ctx context.Context) (*entry, error)
	below  *entry // as it was when the binding was made; nil in a restored workflow
}

// Call starts the child, or finds it, and waits for its end. When the call ends first, the child is cancelled.
func (c *childCaller) Call(call *operation.Call) (any, error) {
	ctx, cancel := context.WithCancelCause(call)
	defer cancel(nil)
	defer context.AfterFunc(c.engine.draining, func() { cancel(ErrShutdown) })()
	r, err := c.start(context.WithoutCancel(ctx), call) // to know whether there is a child to be cancelled
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
func (c *childCaller) await(ctx context.Context, r *Run) (*Result, error) {
	for {
		result, err := r.Wait(ctx)
		if !errors.Is(err, ErrParked) {
			return result, err
		}
		select {
		case <-ctx.Done():
			return nil, canceled.Error(ctx)
		case <-c.engine.untilTried(r.id):
		}
	}
}

// failure is what the step says. That the engine shuts down is none: the call is made again by the next one. A child that
// lacks its secrets has not begun, and may be tried again as any call that lacks some. What this program lacks to begin it is no
// failure either: another may have it.
func (c *childCaller) failure(ctx context.Context, call *operation.Call, err error) error {
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

func (c *childCaller) start(ctx context.Context, call *operation.Call) (*Run, error) {
	id := childOf(call)
	r, err := c.engine.Run(ctx, id)
	if !errors.Is(err, ErrRunNotFound) {
		return r, err
	}
	input, err := value.Of(call.Input)
	if err != nil {
		return nil, err
	}
	entry, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	if err := entry.schema.check(input); err != nil {
		return nil, err
	}
	return c.engine.beget(ctx, entry, input, startOptions{id: id, parent: callOf(call), in: call.Identity})
}

// child compiles the workflow that a binding of parent names: by a path relative to the file that names it, or by a name,
// which means the workflow that parent has brought along, else the one of that name that the engine knows. The caller holds
// mu.
func (l *library) child(parent *template.Workflow, child *template.Child) (*entry, error) {
	folder := filepath.Dir(parent.Pos.File)
	if child.Path == "" {
		if w := parent.Child(child.Name); w != nil {
			return l.adopt(w)
		}
		switch known := l.named[child.Name]; len(known) {
		case 0:
			return nil, child.Fault(ErrMissing, slices.Sorted(maps.Keys(l.named)))
		case 1:
			return known[0], nil
		}
		return nil, child.Fault(errAmbiguous, nil)
	}
	file := child.Path
	if !filepath.IsAbs(file) {
		file = filepath.Join(folder, file)
	}
	if e := l.files[file]; e != nil {
		return e, nil
	}
	data, err := readfile.Regular(file, document.BytesMax)
	if err != nil {
		return nil, child.Fault(err, documentsBeside(child.Path, folder))
	}
	checked, err := kinds.Load(file, data, template.Known{Operation: l.knows, Operations: l.names()})
	if err != nil {
		return nil, err
	}
	return l.compileFile(file, checked.Workflow)
}

// errAmbiguous refuses a name that could mean more than one workflow.
var errAmbiguous = errors.New("the engine knows several of that name: name one by its path, or bring it along (flow.Sub)")

// sameChildren reports whether a workflow has brought along the children that an equal one, of which e was made, runs by
// their names. In the hash of a definition a child is but a name; a journal holds the hashes of both.
func (l *library) sameChildren(e *entry, w *template.Workflow) (bool, error) {
	for _, child := range w.Children() {
		now, err := l.adopt(child)
		if err != nil {
			return false, err
		}
		for i, p := range e.performers {
			bound := e.plan.Operations[i].Bound
			if p != nil && bound != nil && bound.Binding.Workflow != nil && bound.Binding.Workflow.Name == child.Name &&
				p.caller.(*childCaller).below.plan.Hash != now.plan.Hash {
				return false, nil
			}
		}
	}
	return true, nil
}

// documentsBeside lists the paths that may have been meant by one that is not there, relative to the same folder.
func documentsBeside(path, folder string) []string {
	var names []string
	for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
		files, _ := filepath.Glob(filepath.Join(folder, filepath.Dir(path), pattern)) // a hint: none is as good
		for _, file := range files {
			names = append(names, filepath.Join(filepath.Dir(path), filepath.Base(file)))
		}
	}
	return names
}

// compileFile compiles a child document. It is known by its file before its own children are looked at, because a
// workflow may start itself.
func (l *library) compileFile(file string, w *template.Workflow) (*entry, error) {
	if len(l.files) >= workflowsMax {
		clear(l.files)
	}
	e := &entry{}
	l.files[file] = e
	made, err := l.compile(w, template.Known{Operation: l.knows, Operations: l.names()}, nil)
	if err != nil {
		delete(l.files, file)
		return nil, err
	}
	l.files[file] = made
	return made, nil
}

// bindChild makes the caller of a workflow binding. It refuses a child that is not there or makes no sense, and one that
// asks participants where its own step does: a fan-out within a fan-out. In a restored workflow the child is the one that
// its run was started with.
func (l *library) bindChild(p *plan.Plan, op *plan.Operation, children map[string]string) (operation.Caller, error) {
	if hash := children[p.Hash+"/"+op.Name]; hash != "" {
		return &childCaller{engine: l.engine, find: func(ctx context.Context) (*entry, error) {
			return l.find(ctx, l.engine.store, hash, children)
		}}, nil
	}
	child := op.Bound.Binding.Workflow
	e, err := l.child(p.Workflow, child)
	if err != nil {
		return nil, err
	}
	if fansOut(e, map[*entry]bool{}) {
		for i := range p.Nodes {
			if n := &p.Nodes[i]; n.Kind == plan.Step && n.Step.Target != nil && &p.Operations[n.Op] == op {
				return nil, &document.Error{Pos: n.Step.Target.Pos, Text: n.Key,
					Msg: fmt.Sprintf("nested fan-out: step %q asks participants, and so does its workflow %q", n.Key, op.Name)}
			}
		}
	}
	find := func(context.Context) (*entry, error) { return e, nil }
	if child.Path != "" { // a document that starts itself is known by its path before it has been compiled
		find = func(context.Context) (*entry, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			e, err := l.child(p.Workflow, child)
			l.settle(err == nil)
			return e, err
		}
	}
	return &childCaller{engine: l.engine, find: find, below: e}, nil
}

// fansOut reports whether a workflow, or a child below it, asks participants.
func fansOut(e *entry, seen map[*entry]bool) bool {
	if e == nil || e.plan == nil || seen[e] {
		return false
	}
	seen[e] = true
	return e.plan.Checked.FansOut() || slices.ContainsFunc(e.performers, func(p *performer) bool {
		if p == nil {
			return false
		}
		c, ok := p.caller.(*childCaller)
		return ok && fansOut(c.below, seen)
	})
}

// bundle is the hash of every child workflow below an entry, by the hash of its parent and the operation, and their
// entries: what a run is started with, so that a changed file does not change it.
func (e *Engine) bundle(ctx context.Context, top *entry) (map[string]string, []*entry, error) {
	children := map[string]string{}
	all := []*entry{top}
	for i := 0; i < len(all); i++ {
		for k, performer := range all[i].performers {
			if performer == nil {
				continue
			}
			c, ok := performer.caller.(*childCaller)
			if !ok {
				continue
			}
			below, err := c.find(ctx)
			if err != nil {
				return nil, nil, err
			}
			children[all[i].plan.Hash+"/"+all[i].plan.Operations[k].Name] = below.plan.Hash
			if !slices.Contains(all, below) {
				all = append(all, below)
			}
		}
	}
	return children, all, nil
}
