package flow

import (
	"reflect"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// Workflow is the typed handle of a definition, with the types of its runs' input and output. It is a value; copies are the
// same handle. sluice.Start starts it, Sub makes it a step of another.
type Workflow[In, Out any] struct{ tree *template.Workflow }

// New is Define for a workflow whose input and output have types: in is an Input, and every other Input of the workflow has
// the same type. The parts are those of Define; their nodes run one after the other.
func New[In, Out any](name string, in Ref[In], out RunOutput[Out], parts ...Part) (Workflow[In, Out], error) {
	return newTyped(here(), name, in, out, parts)
}

// MustNew is New for workflows that are part of a program: it panics where New returns an error.
func MustNew[In, Out any](name string, in Ref[In], out RunOutput[Out], parts ...Part) Workflow[In, Out] {
	return must(newTyped(here(), name, in, out, parts))
}

func newTyped[In, Out any](pos document.Pos, name string, in Ref[In], out RunOutput[Out], parts []Part) (Workflow[In, Out], error) {
	d := newDefinition(name, pos)
	d.input = reflect.TypeFor[In]()
	if in.handle == nil {
		d.refuseNil("the input")
	} else if in.handle.kind != inputKind {
		d.fault(in.handle.pos, in.handle.id, "a workflow takes an Input, not a result or an item")
	}
	out.set(d)
	tree, err := define(d, parts)
	return Workflow[In, Out]{tree}, err
}

// Typed adds types to an untyped tree, such as one that was read from a document. The program is responsible for their
// correctness: for a run with another input or output, Start or the reader of the result returns an error.
func Typed[In, Out any](tree *template.Workflow) Workflow[In, Out] { return Workflow[In, Out]{tree} }

// Tree returns the definition without its types, for an engine's Config and other functions that take any workflow.
func (w Workflow[In, Out]) Tree() *template.Workflow { return w.tree }
