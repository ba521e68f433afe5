package flow

import (
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// container is a Node that has no handle.
type container struct {
	pos  document.Pos
	make func(d *definition) template.Node
}

func (c *container) build(d *definition) []template.Node {
	defer func(at document.Pos) { d.at = at }(d.at)
	d.at = c.pos
	return []template.Node{c.make(d)}
}

func (c *container) place() document.Pos { return c.pos }
func (*container) inParallel()           {}
func (*container) inWorkflow()           {}

// Sequential runs nodes one after the other.
func Sequential(nodes ...Node) Node {
	pos := here()
	return &container{pos, func(d *definition) template.Node {
		return &template.Sequential{Steps: d.nodes(nodes), Pos: pos}
	}}
}

// ParallelPart is a Node, or MaxConcurrency.
type ParallelPart interface{ inParallel() }

// Parallel runs nodes side by side.
func Parallel(parts ...ParallelPart) Node {
	pos := here()
	return &container{pos, func(d *definition) template.Node {
		p := &template.Parallel{Pos: pos}
		for _, part := range parts {
			switch part := part.(type) {
			case MaxConcurrency:
				p.MaxConcurrency = int(part)
			case Node:
				p.Steps = append(p.Steps, d.one(part))
			}
		}
		return p
	}}
}

// Branch is Then, Else or Named: a part of an If.
type Branch func(d *definition, c *template.Conditional)

// If runs its Then branch when the test is true and its Else branch when it is not. It is the boundary for failures of
// steps whose status the test reads: whatever happened to them, what follows the If sees it completed.
func If(test Arg[bool], branches ...Branch) Node {
	pos := here()
	return &container{pos, func(d *definition) template.Node {
		c := &template.Conditional{Pos: pos}
		arg := test.argument()
		if arg.tested != nil {
			d.field(arg.tested, "status", pos)
			c.Test = arg.tested.id
		} else if c.Func = arg.renderFunc(d); c.Func == nil {
			c.Test = testText(arg.render(d))
		}
		for _, branch := range branches {
			branch(d, c)
		}
		return c
	}}
}

// testText gives the expression for what a test has been rendered to: a literal boolean becomes one.
func testText(v value.Value) string {
	if text, ok := v.(string); ok {
		return text
	}
	return "{{ " + source(v) + " }}"
}

// Then is what an If runs, one after the other, when its test is true.
func Then(nodes ...Node) Branch {
	return func(d *definition, c *template.Conditional) { c.Then = append(c.Then, d.nodes(nodes)...) }
}

// Else is what an If runs, one after the other, when its test is false.
func Else(nodes ...Node) Branch {
	return func(d *definition, c *template.Conditional) { c.Else = append(c.Else, d.nodes(nodes)...) }
}

// Named gives an If an id, under which its decision can be looked up.
func Named(id string) Branch {
	return func(_ *definition, c *template.Conditional) { c.ID = id }
}
