package flow

import (
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Container is a Node that contains others. It is not an Arg: results are read from the steps in it. At the end of an Each's
// body its last step returns the item's result, of any type.
type Container struct {
	pos  document.Pos
	make func(d *definition) template.Node
}

func (c *Container) build(d *definition) []template.Node {
	if c == nil || c.make == nil {
		d.refuseNil("a container") // the container of a zero Choice, or a zero Container
		return nil
	}
	defer func(at document.Pos) { d.at = at }(d.at)
	d.at = c.pos
	return []template.Node{c.make(d)}
}

func (*Container) resultOf(any) {}
func (*Container) inParallel()  {}
func (*Container) inWorkflow()  {}

func (c *Container) place() document.Pos {
	if c == nil {
		return document.Pos{}
	}
	return c.pos
}

// Nodes is a list of nodes, of any length, and itself a node: in a Parallel its nodes run side by side, anywhere else one
// after the other. It has the result of a Container.
type Nodes []Node

func (n Nodes) build(d *definition) []template.Node { return d.nodes(n) }
func (Nodes) resultOf(any)                          {}
func (Nodes) inParallel()                           {}
func (Nodes) inWorkflow()                           {}

func (n Nodes) place() document.Pos {
	if len(n) == 0 || isNil(n[0]) {
		return document.Pos{}
	}
	return n[0].place()
}

// Sequential runs nodes one after the other.
func Sequential(nodes ...Node) *Container {
	pos := here()
	return &Container{pos, func(d *definition) template.Node {
		return &template.Sequential{Steps: d.nodes(nodes), Pos: pos}
	}}
}

// ParallelPart is a Node, or MaxConcurrency.
type ParallelPart interface{ inParallel() }

// Parallel runs nodes side by side.
func Parallel(parts ...ParallelPart) *Container {
	pos := here()
	return &Container{pos, func(d *definition) template.Node {
		p := &template.Parallel{Pos: pos}
		for _, part := range parts {
			switch part := part.(type) {
			case nil:
				d.refuseNil("a part")
			case MaxConcurrency:
				p.MaxConcurrency = int(part)
			case Nodes:
				for _, n := range part {
					p.Steps = append(p.Steps, d.one(n))
				}
			case Node:
				p.Steps = append(p.Steps, d.one(part))
			}
		}
		return p
	}}
}

// Branch is Then, Else or Named: a part of an If.
type Branch interface {
	branch(d *definition, c *template.Conditional)
}

// If runs its Then branch if the test is true and its Else branch if it is not. It catches failures of steps whose status
// the test reads: for the steps after the If they have no effect. Choose is an If with a result.
func If(test Arg[bool], branches ...Branch) *Container { return conditional(here(), test, branches...) }

// conditional makes the container of If and Choose.
func conditional(pos document.Pos, test Arg[bool], branches ...Branch) *Container {
	return &Container{pos, func(d *definition) template.Node {
		c := &template.Conditional{Pos: pos}
		arg := argOf(test)
		if arg.tested != nil {
			d.field(arg.tested, "status", pos)
			c.Test = arg.tested.id
		} else if c.Func = arg.renderFunc(d); c.Func == nil {
			c.Test = testText(arg.render(d))
		}
		for _, branch := range branches {
			if branch == nil {
				d.refuseNil("a branch")
				continue
			}
			branch.branch(d, c)
		}
		return c
	}}
}

// testText returns the expression of a rendered test: a literal boolean becomes one.
func testText(v value.Value) string {
	if text, ok := v.(string); ok {
		return text
	}
	return "{{ " + source(v) + " }}"
}

type branchFunc func(d *definition, c *template.Conditional)

func (f branchFunc) branch(d *definition, c *template.Conditional) { f(d, c) }

// Then returns the nodes that an If runs, one after the other, if its test is true.
func Then(nodes ...Node) Branch {
	return branchFunc(func(d *definition, c *template.Conditional) { c.Then = append(c.Then, d.nodes(nodes)...) })
}

// Else returns the nodes that an If runs, one after the other, if its test is false.
func Else(nodes ...Node) Branch {
	return branchFunc(func(d *definition, c *template.Conditional) { c.Else = append(c.Else, d.nodes(nodes)...) })
}

// Named sets the id of an If or Choose, by which its decision can be looked up.
type Named string

func (id Named) branch(_ *definition, c *template.Conditional) { c.ID = string(id) }

// Choice is the handle that Choose returns: a Node, to be placed where it is to run, and an Arg[T].
type Choice[T any] struct {
	*Container
	results [2]argument
}

// Result is a Node that has a result of type T: a Ref of a step or map, or a Choice.
type Result[T any] interface {
	Node
	Arg[T]
}

// Choose runs then or otherwise, as the test decides, and has the result of the one that ran. Ref.After adds nodes before
// either. The result is the zero T if the branch taken has none: the step was skipped by its timing or fulfillment, or its
// failure was caught. If only one branch has a result, use If and Coalesce.
func Choose[T any](test Arg[bool], then, otherwise Result[T], options ...Named) Choice[T] {
	branches := []Branch{Then(then), Else(otherwise)}
	for _, id := range options {
		branches = append(branches, id)
	}
	return Choice[T]{conditional(here(), test, branches...), [2]argument{argOf[T](then), argOf[T](otherwise)}}
}

// argument reads both branches: the one that was not taken was skipped.
func (c Choice[T]) argument() argument {
	if c.Container == nil {
		return argument{err: errNil}
	}
	a := coalesce(c.pos, c.results[0], c.results[1])
	either := a.source
	a.source = func(d *definition) string { return strings.TrimSuffix(either(d), orNull) + orNull }
	return a
}

func (Choice[T]) of(T)       {}
func (Choice[T]) resultOf(T) {}
