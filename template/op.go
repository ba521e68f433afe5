package template

import (
	"maps"
	"reflect"
	"slices"
)

// Op is the typed handle of an operation: its name, and the Go types of its input and output. Steps built with it accept only
// input of the first type, and their results have the second. Copies of an Op are the same handle.
type Op[In, Out any] struct {
	name           string
	implementation any
}

// NewOp returns a handle for an operation. The implementation is a pointer to a type of the engine that runs the operation; its
// address distinguishes it from other implementations with that name. It is nil for an operation that a document binds or a
// worker serves.
func NewOp[In, Out any](name string, implementation any) Op[In, Out] {
	return Op[In, Out]{name: name, implementation: implementation}
}

// Name returns the name of the operation in documents and journals.
func (o Op[In, Out]) Name() string { return o.name }

// Implementation returns the implementation passed to NewOp.
func (o Op[In, Out]) Implementation() any { return o.implementation }

// Provide adds to a workflow the implementation of an operation that its steps call. The engine that runs the workflow uses it.
// Provide reports false, and changes nothing, if the workflow has another implementation with that name, or one that cannot be
// compared with it. A nil implementation provides nothing.
func (w *Workflow) Provide(operation string, implementation any) bool {
	if implementation == nil {
		return true
	}
	if known, ok := w.provided[operation]; ok {
		return SameImplementation(known, implementation)
	}
	if w.provided == nil {
		w.provided = make(map[string]any)
	}
	w.provided[operation] = implementation
	return true
}

// Provided returns the names of the operations whose implementation the workflow has, sorted.
func (w *Workflow) Provided() []string { return slices.Sorted(maps.Keys(w.provided)) }

// Implementation returns the implementation of an operation that was passed to Provide, or nil.
func (w *Workflow) Implementation(operation string) any { return w.provided[operation] }

// ProvideChild adds a child workflow, which steps run by a binding `workflow: {name: …}`. It reports false, and changes
// nothing, if the workflow has another child with that name.
func (w *Workflow) ProvideChild(child *Workflow) bool {
	if known := w.children[child.Name]; known != nil {
		return known == child
	}
	if w.children == nil {
		w.children = make(map[string]*Workflow)
	}
	w.children[child.Name] = child
	return true
}

// Children returns the workflows passed to ProvideChild, sorted by name.
func (w *Workflow) Children() []*Workflow {
	list := make([]*Workflow, 0, len(w.children))
	for _, name := range slices.Sorted(maps.Keys(w.children)) {
		list = append(list, w.children[name])
	}
	return list
}

// Child returns the workflow with that name that was passed to ProvideChild, or nil.
func (w *Workflow) Child(name string) *Workflow { return w.children[name] }

// SameImplementation reports whether two implementations are the same. Those that Go cannot compare, such as functions, never are.
func SameImplementation(a, b any) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && (a == nil || reflect.ValueOf(a).Comparable()) && a == b
}
