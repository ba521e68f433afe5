package flow

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Function is the handle of a Go function with a name: the test of an If, the list of an Each or the input of a step. The
// name identifies the function in documents and journals. A definition has one handle for each name, and in an engine all
// definitions with the same hash have the same: make a handle once, at package level, and use it any number of times.
type Function[A, R any] struct{ handle *template.Function }

// NewFunc returns the handle of a Go function with a name. The result must depend only on the argument, because the function
// is called again when a run is recovered. A panic counts as an error. A function of several arguments takes a struct: see
// Struct.
func NewFunc[A, R any](name string, fn func(A) R) Function[A, R] {
	return newFunction(here(), name, trying(fn))
}

// NewTryFunc is NewFunc for a function that may fail. Its error fails the If, the Each or the step.
func NewTryFunc[A, R any](name string, fn func(A) (R, error)) Function[A, R] {
	return newFunction(here(), name, fn)
}

// Of returns the function's result for an argument.
func (f Function[A, R]) Of(a Arg[A]) Arg[R] {
	return f.of(here(), a)
}

func (f Function[A, R]) of(pos document.Pos, a Arg[A]) Arg[R] {
	arg := argument{pos: pos, function: f.handle, args: []argument{argOf(a)}}
	switch {
	case f.handle == nil:
		arg.err = errNil
	case f.handle.Call == nil:
		arg.err, arg.function = fmt.Errorf("function %q is nil", f.handle.Name), nil
	}
	return typed[R]{arg}
}

// Handle returns the handle to pass to template.Workflow.Register for a document that names the function.
func (f Function[A, R]) Handle() *template.Function { return f.handle }

// Func is NewFunc and Of in one, for a function that is used once, in a workflow that is defined once.
func Func[A, R any](name string, fn func(A) R, a Arg[A]) Arg[R] {
	pos := here()
	return newFunction(pos, name, trying(fn)).of(pos, a)
}

// TryFunc is Func for a function that may fail.
func TryFunc[A, R any](name string, fn func(A) (R, error), a Arg[A]) Arg[R] {
	pos := here()
	return newFunction(pos, name, fn).of(pos, a)
}

// trying adapts a function that cannot fail to one that may; nil stays nil.
func trying[A, R any](fn func(A) R) func(A) (R, error) {
	if fn == nil {
		return nil
	}
	return func(a A) (R, error) { return fn(a), nil }
}

// newFunction adapts a function to values.
func newFunction[A, R any](pos document.Pos, name string, fn func(A) (R, error)) Function[A, R] {
	if fn == nil {
		return Function[A, R]{&template.Function{Name: name, Pos: pos}}
	}
	return Function[A, R]{&template.Function{Name: name, Pos: pos, Call: func(args []value.Value) (value.Value, error) {
		if len(args) != 1 {
			return nil, fmt.Errorf("function %q takes one argument, and is called with %d", name, len(args))
		}
		var a A
		if err := value.Convert(args[0], &a); err != nil {
			return nil, fmt.Errorf("argument of function %q: %w", name, err)
		}
		result, err := fn(a)
		if err != nil {
			return nil, err
		}
		return value.Of(result)
	}}}
}
