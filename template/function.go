package template

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"

	"github.com/sluiceflow/sluice/template/value"
)

// Function is a Go function that a workflow calls by name: it decides a conditional, gives a map's list or computes an
// input. The tree holds the name in a Func, and the workflow the Function itself, which no document can.
//
// It must depend on its arguments alone: it is called again for the same decision when a run is recovered or looked at.
type Function struct {
	Name string
	Call func(args []value.Value) (value.Value, error) // args are those of the Func, rendered

	code  uintptr // tells two functions of one name from one that is used twice
	where string  // where it was written, for the message about that
}

// NewFunction gives fn a name. Call adapts it to values; fn itself only says which function it is.
func NewFunction(name string, fn any, call func(args []value.Value) (value.Value, error)) *Function {
	f := &Function{Name: name, Call: call, code: reflect.ValueOf(fn).Pointer()}
	if code := runtime.FuncForPC(f.code); code != nil {
		file, line := code.FileLine(f.code)
		f.where = fmt.Sprintf("%s:%d", file, line)
	}
	return f
}

// Register makes a function known to the workflow under its name. Registering the same function again changes nothing.
// Register panics when the name belongs to another function: a run that is recovered could not tell which one it meant.
func (w *Workflow) Register(f *Function) {
	if known := w.funcs[f.Name]; known != nil && known.code != f.code {
		panic(fmt.Sprintf("template: two functions are named %q: %s and %s", f.Name, known.where, f.where))
	}
	if w.funcs == nil {
		w.funcs = make(map[string]*Function)
	}
	w.funcs[f.Name] = f
}

// Functions gives the registered functions, sorted by name.
func (w *Workflow) Functions() []*Function {
	list := make([]*Function, 0, len(w.funcs))
	for _, name := range slices.Sorted(maps.Keys(w.funcs)) {
		list = append(list, w.funcs[name])
	}
	return list
}
