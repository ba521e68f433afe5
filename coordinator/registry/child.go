package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
)

// Starter carries out calls of operations that are bound to a workflow.
type Starter interface {
	// CallChild runs the workflow that find returns, and returns its output.
	CallChild(call *operation.Call, find func(context.Context) (*Entry, error)) (any, error)
}

// Child is the Caller of an operation that is bound to a workflow.
type Child struct {
	find  func(ctx context.Context) (*Entry, error) // returns the workflow as it is when the call is made
	by    *Registry
	below *Entry // when the binding was made; nil in a restored workflow
}

// Call implements operation.Caller.
func (c *Child) Call(call *operation.Call) (any, error) { return c.by.children.CallChild(call, c.find) }

// child compiles the workflow that a binding of parent names, by a path relative to the file of parent, or by the name of a workflow that
// parent includes, or else of a registered workflow. The caller holds mu.
func (l *Registry) child(parent *template.Workflow, child *template.Child) (*Entry, error) {
	if child.Path == "" {
		if w := parent.Child(child.Name); w != nil {
			return l.adopt(w, nil)
		}
		switch known := l.named[child.Name]; len(known) {
		case 0:
			return nil, child.Fault(unregistered{}, slices.Sorted(maps.Keys(l.named)))
		case 1:
			return known[0], nil
		}
		return nil, child.Fault(errAmbiguous, nil)
	}
	file := pathOf(parent, child)
	if e := l.files[file]; e != nil {
		return e, nil
	}
	read, ok := l.texts[file]
	if !ok {
		return nil, &unread{parent}
	}
	if read.err != nil {
		return nil, child.Fault(read.err, documentsBeside(child.Path, filepath.Dir(parent.Pos.File)))
	}
	checked, err := kinds.Load(file, read.data, template.Known{Operation: l.has, Operations: l.names()})
	if err != nil {
		return nil, err
	}
	return l.compileFile(file, checked)
}

// unread is the error of a compilation that needs documents that have not been read ahead: see add.
type unread struct{ by *template.Workflow }

func (e *unread) Error() string { return "documents that " + e.by.Name + " names have not been read" }

// unregistered is decide.ErrMissing of a workflow's name.
type unregistered struct{}

func (unregistered) Error() string {
	return "this program has registered none of that name; a document is named by its path"
}

func (unregistered) Is(err error) bool { return err == decide.ErrMissing }

// errAmbiguous is the error of a name that several workflows have.
var errAmbiguous = errors.New("several registered workflows have that name: name one by its path, or include it (flow.Sub)")

// sameChildren reports whether w includes the same children, with the same ones below them, as the equal workflow from which e was made.
// The hash of a definition holds only the names of children; a journal holds the hashes of both.
func (l *Registry) sameChildren(e *Entry, w *template.Workflow) (bool, error) {
	for _, child := range w.Children() {
		now, err := l.adopt(child, nil)
		if err != nil {
			return false, err
		}
		for i, p := range e.Performers {
			bound := e.Plan.Operations[i].Bound
			if p != nil && bound != nil && bound.Binding.Workflow != nil && bound.Binding.Workflow.Name == child.Name &&
				p.Caller.(*Child).below != now {
				return false, nil
			}
		}
	}
	return true, nil
}

// documentsBeside suggests paths of existing documents for a missing one, relative to the same folder.
func documentsBeside(path, folder string) []string {
	var names []string
	for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
		files, _ := filepath.Glob(filepath.Join(folder, filepath.Dir(path), pattern)) // a suggestion only: ignore errors
		for _, file := range files {
			names = append(names, filepath.Join(filepath.Dir(path), filepath.Base(file)))
		}
	}
	return names
}

// compileFile compiles a child document. It is registered by its file before its own children are compiled, because a workflow
// may start itself.
func (l *Registry) compileFile(file string, checked *template.Checked) (*Entry, error) {
	if len(l.files) >= WorkflowsMax {
		clear(l.files)
	}
	e := &Entry{}
	l.files[file] = e
	made, err := l.compile(checked, false, nil)
	if err != nil {
		delete(l.files, file)
		return nil, err
	}
	l.files[file] = made
	return made, nil
}

// bindChild makes the caller of a workflow binding. It refuses a child that is missing or invalid, and one that asks
// participants if its own step does too: a fan-out within a fan-out. In a restored workflow the child is the one that the run
// was started with.
func (l *Registry) bindChild(p *plan.Plan, op *plan.Operation, children map[string]string) (operation.Caller, error) {
	if hash := children[p.Hash+"/"+op.Name]; hash != "" {
		return &Child{by: l, find: func(ctx context.Context) (*Entry, error) {
			return l.Find(ctx, hash, children)
		}}, nil
	}
	child := op.Bound.Binding.Workflow
	e, err := l.child(p.Workflow, child)
	if err != nil {
		return nil, err
	}
	if fansOut(e, map[*Entry]bool{}) {
		for i := range p.Nodes {
			if n := &p.Nodes[i]; n.Kind == plan.Step && n.Step.Target != nil && &p.Operations[n.Op] == op {
				return nil, &document.Error{Pos: n.Step.Target.Pos, Text: n.Key,
					Msg: fmt.Sprintf("nested fan-out: step %q asks participants, and so does its workflow %q", n.Key, op.Name)}
			}
		}
	}
	find := func(context.Context) (*Entry, error) { return e, nil }
	if child.Path != "" { // a document that starts itself is registered by its path before it is compiled
		find = func(context.Context) (*Entry, error) {
			return l.add(func() (*Entry, error) { return l.child(p.Workflow, child) })
		}
	}
	return &Child{by: l, find: find, below: e}, nil
}

// fansOut reports whether a workflow, or a child below it, asks participants.
func fansOut(e *Entry, seen map[*Entry]bool) bool {
	if e == nil || e.Plan == nil || seen[e] {
		return false
	}
	seen[e] = true
	return e.Plan.Checked.FansOut() || slices.ContainsFunc(e.Performers, func(p *Performer) bool {
		if p == nil {
			return false
		}
		c, ok := p.Caller.(*Child)
		return ok && fansOut(c.below, seen)
	})
}

// Bundle makes the definitions of an entry and of every child workflow below it durable, and returns the hashes of the
// children by the hash of the parent and the operation. A run is started with these, so that a changed file does not affect
// it.
func (l *Registry) Bundle(ctx context.Context, top *Entry) (map[string]string, error) {
	children, all, err := below(ctx, top)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if err := l.keep(ctx, one); err != nil {
			return nil, err
		}
	}
	return children, nil
}

// Find returns the workflow that the operation starts, as it is now.
func (c *Child) Find(ctx context.Context) (*Entry, error) { return c.find(ctx) }
