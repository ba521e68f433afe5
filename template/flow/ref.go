package flow

import (
	"cmp"
	"reflect"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// Ref is a handle for a result of type T: of a step or map, which is placed where it is to run, of the run's input, or of
// the item of a map's body. It is an Arg[T]. Copies are the same handle.
type Ref[T any] struct {
	handle *handle
	before []Node // placed before the step, see After
}

// Node is a part of a workflow that runs: a step, a map or a container.
type Node interface {
	build(d *definition) []template.Node // the nodes to place, one after the other
	place() document.Pos
	inParallel()
	inWorkflow()
}

// Placed is a handle with a status: that of a step or a map.
type Placed interface{ placed() *handle }

// kind is the kind of a handle.
type kind uint8

const (
	inputKind kind = iota
	itemKind
	stepKind
	mapKind
)

// handle is the shared part of the copies of a Ref. Its address is its identity.
type handle struct {
	kind kind
	id   string
	pos  document.Pos
	typ  reflect.Type // of the input
	each *handle      // of an item: the map whose body it belongs to
	make func(d *definition) template.Node
}

func (r Ref[T]) argument() argument {
	if r.handle == nil {
		return argument{err: errNil}
	}
	return argument{pos: r.handle.pos, source: func(d *definition) string { return d.read(r.handle, d.at) }}
}

func (Ref[T]) of(T)              {}
func (Ref[T]) resultOf(T)        {}
func (r Ref[T]) placed() *handle { return r.handle }
func (Ref[T]) inParallel()       {}
func (Ref[T]) inWorkflow()       {}

func (r Ref[T]) place() document.Pos {
	if r.handle == nil {
		return document.Pos{}
	}
	return r.handle.pos
}

// After returns the same handle, to be placed after nodes: they run one after the other, then the step. It allows a body
// that returns one handle to have several steps.
func (r Ref[T]) After(nodes ...Node) Ref[T] {
	return Ref[T]{handle: r.handle, before: append(append([]Node(nil), nodes...), r.before...)}
}

func (r Ref[T]) build(d *definition) []template.Node {
	nodes := d.nodes(r.before)
	if n := d.place(r.handle); n != nil {
		nodes = append(nodes, n)
	}
	return nodes
}

// Input returns the input of the run. All handles of it are the same.
func Input[T any]() Ref[T] {
	return Ref[T]{handle: &handle{kind: inputKind, id: "input", pos: here(), typ: reflect.TypeFor[T]()}}
}

// Call returns a step: the operation op with the input in. The id names the step in journals, documents and expressions; ""
// means the operation's name. A nil input is null. The step runs where the Ref is placed.
func Call[In, Out any](id string, op template.Op[In, Out], in Arg[In], options ...StepOption) Ref[Out] {
	pos := here()
	return Ref[Out]{handle: step(pos, id, op.Name(), inputOf(in), options, func(d *definition) {
		isOther := op.Implementation() != nil && d.workflow.Child(op.Name()) != nil
		if isOther || !d.workflow.Provide(op.Name(), op.Implementation()) {
			d.fault(pos, op.Name(), "the workflow has another operation of this name")
		}
	})}
}

// Sub returns a step that runs another workflow, as a run of its own: the step's input is the run's, the run's output is the
// step's result. It fails with child_failed if the run does not complete. The id "" means the workflow's name. In documents
// it is a binding `workflow: {name: …}` of an operation with that name. A definition has one workflow for each name.
func Sub[In, Out any](id string, w Workflow[In, Out], in Arg[In], options ...StepOption) Ref[Out] {
	pos, name := here(), ""
	if w.tree != nil {
		name = w.tree.Name
	}
	return Ref[Out]{handle: step(pos, id, name, inputOf(in), options, func(d *definition) {
		if w.tree == nil {
			d.refuseNil("the workflow of step " + quoted(id))
			return
		}
		if d.workflow.Implementation(name) != nil || !d.workflow.ProvideChild(w.tree) {
			d.fault(pos, name, "the workflow has another operation, or runs another workflow, of this name")
		}
		d.bind(pos, name, template.Binding{Workflow: &template.Child{Name: name}})
	})}
}

// inputOf returns the input of a step; nil means none.
func inputOf[In any](in Arg[In]) *argument {
	if in == nil {
		return nil
	}
	arg := argOf(in)
	return &arg
}

// step makes the handle of a step. provide adds to the workflow the values that the call needs.
func step(pos document.Pos, id, operation string, in *argument, options []StepOption, provide func(d *definition)) *handle {
	id = cmp.Or(id, operation)
	return &handle{kind: stepKind, id: id, pos: pos, make: func(d *definition) template.Node {
		s := &template.Step{ID: id, Operation: operation, Pos: pos}
		if in != nil {
			if s.Func = in.renderFunc(d); s.Func == nil {
				s.Input = in.render(d)
			}
		}
		provide(d)
		for _, option := range options {
			if option == nil {
				d.refuseNil("an option")
				continue
			}
			option.step(s, d)
		}
		return s
	}}
}

// Body is the last node in the body of an Each and has the result of an item: a Ref, a Choice, or a Container, in which the
// last step has the result.
type Body[Out any] interface {
	Node
	resultOf(Out)
}

// Each is a map: the body once for each item of a list, all concurrently unless limited by MaxConcurrency. Its handle is for
// the list of the body's results, in the order of the items; a result that was skipped is the zero Out.
//
// Each calls the function body once, with a handle for the item. The returned node is placed as the body, and the result of
// its last step is the item's; Ref.After adds nodes before a step.
func Each[T, Out any, B Body[Out]](id string, over Arg[[]T], body func(item Ref[T]) B, options ...EachOption) Ref[[]Out] {
	pos := here()
	h := &handle{kind: mapKind, id: id, pos: pos}
	var result Node
	if body != nil {
		result = body(Ref[T]{handle: &handle{kind: itemKind, pos: pos, each: h}})
	}
	h.make = func(d *definition) template.Node {
		m := &template.Map{ID: id, As: d.itemName(), Pos: pos}
		for _, option := range options {
			if option == nil {
				d.refuseNil("an option")
				continue
			}
			option.each(m)
		}
		arg := argOf(over)
		if m.Func = arg.renderFunc(d); m.Func == nil {
			m.Over = arg.render(d)
		}
		d.maps = append(d.maps, openMap{h, m.As})
		m.Steps = d.build(result)
		d.maps = d.maps[:len(d.maps)-1]
		return m
	}
	return Ref[[]Out]{handle: h}
}

// Index returns the position of a map's item in its list, from 0.
func Index[T any](item Ref[T]) Arg[int] {
	pos := here()
	return typed[int]{argument{pos: pos, source: func(d *definition) string {
		if h := item.handle; h == nil || h.kind != itemKind {
			d.fault(pos, "", "Index wants the item of a map")
		} else if n := len(d.maps); n == 0 || d.maps[n-1].handle != h.each {
			d.fault(pos, h.each.id, "the index of map "+quoted(h.each.id)+" is known only directly in its body")
		}
		return "index"
	}}}
}
