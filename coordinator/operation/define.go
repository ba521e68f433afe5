package operation

import (
	"context"
	"reflect"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Caller carries out calls. Call is called from many goroutines at once, and should return soon after the context of the call has
// ended. Its output is copied to a value of package value when Call has returned, and is not used after that. A panic in Call, or
// in a method of its output, fails the call.
type Caller interface {
	// Call carries out one call and returns its output or its error.
	Call(c *Call) (any, error)
}

// Reply is an output with metadata. The rules of a playbook's task read the members of About as members of outcome, and the receipt
// of an effect has the member AboutSignature as its signature. An operation may return a Reply, and a function passed to Define may
// have Reply as its Out.
type Reply struct {
	Output any            // the output, as without a Reply
	About  map[string]any // by name, such as pg: {code: "23505"}; nil: nothing
}

// Define makes an operation from a Go function. It decodes the input into In and encodes the output from Out by their json tags, so
// live and recovered runs see the same values. It passes types without pointers, maps, slices and interfaces directly. Builders use
// the returned handle, and the engine is configured with it.
func Define[In, Out any](name string, f func(ctx context.Context, in In) (Out, error)) template.Op[In, Out] {
	return template.NewOp[In, Out](name, newFunction(f))
}

// DefinePure makes an operation from a Go function that depends only on its input and has no side effects. The engine calls it on
// the goroutine of the run, and journals request and answer together. The function should return within microseconds.
func DefinePure[In, Out any](name string, f func(in In) (Out, error)) template.Op[In, Out] {
	return template.NewOp[In, Out](name, &pureFunction[In, Out]{
		newFunction(func(_ context.Context, in In) (Out, error) { return f(in) }),
	})
}

func newFunction[In, Out any](f func(context.Context, In) (Out, error)) *function[In, Out] {
	out := reflect.TypeFor[Out]()
	return &function[In, Out]{
		f:        f,
		plainIn:  value.Plain(reflect.TypeFor[In]()),
		plainOut: value.Plain(out),
		partial:  !value.Total(out),
	}
}

// Pure is a Caller without side effects.
type Pure interface {
	Caller

	// Pure marks the type; it is never called.
	Pure()
}

type pureFunction[In, Out any] struct{ *function[In, Out] }

func (pureFunction[In, Out]) Pure() {}

type function[In, Out any] struct {
	f                 func(context.Context, In) (Out, error)
	plainIn, plainOut bool
	partial           bool // an Out may not be a value of the model
}

func (f *function[In, Out]) uncopied() {}

func (f *function[In, Out]) Call(c *Call) (any, error) {
	in, err := f.input(c.Input)
	if err != nil {
		return nil, &Error{Code: "invalid_input", Permanent: true, Err: err}
	}
	out, err := f.f(c, in)
	if err != nil {
		return nil, err
	}
	if f.plainOut {
		if f.partial {
			if _, err := value.Of(out); err != nil {
				return nil, invalidOutput(err)
			}
		}
		return out, nil
	}
	if r, ok := any(out).(Reply); ok {
		return r.copied()
	}
	return encoded(out)
}

// copied returns a copy of r that shares no memory with the function that made r.
func (r Reply) copied() (any, error) {
	var about map[string]any
	if r.About != nil {
		if err := value.Convert(r.About, &about); err != nil {
			return nil, &Error{Code: CodeInvalidOutput, Permanent: true, Err: err}
		}
	}
	out, err := encoded(r.Output)
	if err != nil {
		return nil, err
	}
	return Reply{Output: out, About: about}, nil
}

func encoded(out any) (any, error) {
	data, err := value.Encode(out)
	if err != nil {
		return nil, invalidOutput(err)
	}
	return value.Raw(data), nil
}

func (f *function[In, Out]) input(from any) (in In, err error) {
	if f.plainIn {
		if in, ok := from.(In); ok {
			return in, nil
		}
	}
	err = value.Convert(from, &in)
	return in, err
}
