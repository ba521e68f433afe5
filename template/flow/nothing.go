package flow

import (
	"errors"
	"reflect"

	"github.com/sluiceflow/sluice/template"
)

// A program may pass nil, or the zero value of a handle, by mistake. That is a fault of the definition, at the place of the
// step or container that it was passed to.

var errNil = errors.New("an argument is nil, or the zero value of its type")

// isNil reports whether an interface is nil or contains a nil pointer.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return v == nil || r.Kind() == reflect.Pointer && r.IsNil()
}

// argOf returns an Arg without its type.
func argOf[T any](a Arg[T]) argument {
	if isNil(a) {
		return argument{err: errNil}
	}
	return a.argument()
}

// placedOf returns the handle of a step or map; nil for none.
func placedOf(p Placed) *handle {
	if isNil(p) {
		return nil
	}
	return p.placed()
}

// build builds a node.
func (d *definition) build(n Node) []template.Node {
	if isNil(n) {
		d.refuseNil("a node")
		return nil
	}
	return n.build(d)
}

// refuseNil records that an argument of the step or container being built is nil or zero.
func (d *definition) refuseNil(what string) {
	d.fault(d.at, "", what+" is nil, or the zero value of its type")
}
