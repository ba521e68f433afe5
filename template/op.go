package template

import (
	"maps"
	"slices"
)

// Op is the typed handle of an operation: its name, and the Go types of what it takes and gives. Steps built with it take
// only input of that type, and their results have the other. It is a value; copies are the same handle.
type Op[In, Out any] struct {
	name           string
	implementation any
}

// NewOp gives a handle for an operation. Implementation is what an engine will make of it, a pointer of a type that the
// engine knows; nil is for an operation that a document binds or a worker serves.
func NewOp[In, Out any](name string, implementation any) Op[In, Out] {
	return Op[In, Out]{name: name, implementation: implementation}
}

// Name is what documents and journals call the operation.
func (o Op[In, Out]) Name() string { return o.name }

// Implementation is what NewOp was given.
func (o Op[In, Out]) Implementation() any { return o.implementation }

// Provide hands a workflow the implementation of an operation that its steps call, so that whoever runs the workflow has
// it at hand. It reports false, and changes nothing, when the workflow has another implementation of that name. A nil
// implementation provides nothing.
func (w *Workflow) Provide(operation string, implementation any) bool {
	if implementation == nil {
		return true
	}
	if known, ok := w.provided[operation]; ok {
		return known == implementation
	}
	if w.provided == nil {
		w.provided = make(map[string]any)
	}
	w.provided[operation] = implementation
	return true
}

// Provided gives the names of the operations that the workflow brings an implementation of, sorted.
func (w *Workflow) Provided() []string { return slices.Sorted(maps.Keys(w.provided)) }

// Implementation gives what Provide was given for an operation, or nil.
func (w *Workflow) Implementation(operation string) any { return w.provided[operation] }
