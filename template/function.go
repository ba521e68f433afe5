package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Function is the handle of a Go function that a workflow calls by name: it decides a conditional, returns the list of a map or
// computes an input. The tree contains the name in a Func; the workflow contains the handle, which no document can contain. The
// address of a handle is its identity, because two closures of one function literal cannot be distinguished otherwise: make one
// handle and use it wherever the function is needed, in any number of workflows.
//
// The result must depend only on the arguments: when a run is recovered or inspected, the function is called again.
type Function struct {
	Name string                                        // not empty, unique in a workflow
	Call func(args []value.Value) (value.Value, error) // args are the rendered arguments of the Func
	Pos  document.Pos                                  // where the handle was made
}

// Register makes a function available to the workflow under its name. Registering the same handle again changes nothing.
// Register returns an error, and changes nothing, if the workflow has another handle with that name.
func (w *Workflow) Register(f *Function) error {
	switch {
	case f == nil:
		return errors.New("the function is nil")
	case f.Call == nil:
		return fmt.Errorf("function %q is nil", f.Name)
	}
	if known := w.funcs[f.Name]; known != nil && known != f {
		return fmt.Errorf("two functions are named %q, made at %s and at %s: make a function once, and use its handle in both places",
			f.Name, known.Pos, f.Pos)
	}
	if w.funcs == nil {
		w.funcs = make(map[string]*Function)
	}
	w.funcs[f.Name] = f
	return nil
}

// Functions returns the registered functions, sorted by name.
func (w *Workflow) Functions() []*Function {
	list := make([]*Function, 0, len(w.funcs))
	for _, name := range slices.Sorted(maps.Keys(w.funcs)) {
		list = append(list, w.funcs[name])
	}
	return list
}
