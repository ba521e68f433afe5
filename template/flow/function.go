package flow

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Func is what a Go function makes of an argument: the test of an If, the list of an Each or the input of a step. The name
// stands for the function in documents and journals, so it is the function's for good; fn must depend on its argument
// alone, because it is called again when a run is recovered. TryFunc is for functions that may fail; a panic counts as an
// error of either.
func Func[A, R any](name string, fn func(A) R, a Arg[A]) Arg[R] {
	return call[R](here(), name, fn, func(args []value.Value) (any, error) {
		x, err := convert[A](name, args, 0)
		if err != nil {
			return nil, err
		}
		return fn(x), nil
	}, a.argument())
}

// TryFunc is Func for a function that may fail. Its error fails the If, the Each or the step.
func TryFunc[A, R any](name string, fn func(A) (R, error), a Arg[A]) Arg[R] {
	return call[R](here(), name, fn, func(args []value.Value) (any, error) {
		x, err := convert[A](name, args, 0)
		if err != nil {
			return nil, err
		}
		return fn(x)
	}, a.argument())
}

// Func2 is Func for a function of two arguments.
func Func2[A, B, R any](name string, fn func(A, B) R, a Arg[A], b Arg[B]) Arg[R] {
	return call[R](here(), name, fn, func(args []value.Value) (any, error) {
		x, err := convert[A](name, args, 0)
		if err != nil {
			return nil, err
		}
		y, err := convert[B](name, args, 1)
		if err != nil {
			return nil, err
		}
		return fn(x, y), nil
	}, a.argument(), b.argument())
}

// call makes the argument that stands for a Go function.
func call[R any](pos document.Pos, name string, fn any, apply func([]value.Value) (any, error), args ...argument) Arg[R] {
	f := template.NewFunction(name, fn, func(values []value.Value) (value.Value, error) {
		result, err := apply(values)
		if err != nil {
			return nil, err
		}
		return value.Of(result)
	})
	return typed[R]{argument{pos: pos, function: f, args: args}}
}

// convert gives the value of an argument as the type that the function takes.
func convert[T any](name string, args []value.Value, i int) (T, error) {
	var x T
	if i >= len(args) {
		return x, fmt.Errorf("function %q is called with %d arguments", name, len(args))
	}
	if err := value.Convert(args[i], &x); err != nil {
		return x, fmt.Errorf("argument %d of function %q: %w", i+1, name, err)
	}
	return x, nil
}
