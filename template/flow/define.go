package flow

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// Define builds a workflow: its nodes run one after the other. It returns the tree, or all faults as document.Errors whose
// places are lines of Go. Operations are not looked up, because the engine that runs the workflow has them. New does the
// same and keeps the types.
func Define(name string, parts ...Part) (*template.Workflow, error) {
	return define(newDefinition(name, here()), parts)
}

// MustDefine is Define for workflows that are part of a program: it panics where Define returns an error.
func MustDefine(name string, parts ...Part) *template.Workflow {
	return must(define(newDefinition(name, here()), parts))
}

// must panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic("flow: " + err.Error())
	}
	return v
}

func newDefinition(name string, pos document.Pos) *definition {
	return &definition{workflow: &template.Workflow{Name: name, Pos: pos}, at: pos, placed: make(map[*handle]bool)}
}

func define(d *definition, parts []Part) (*template.Workflow, error) {
	for _, part := range parts {
		switch part := part.(type) {
		case nil:
			d.refuseNil("a part")
		case Node:
			d.workflow.Steps = append(d.workflow.Steps, d.build(part)...)
		case interface{ set(*definition) }:
			part.set(d)
		}
	}
	if d.output != nil {
		d.workflow.Output, d.workflow.HasOutput = d.output.render(d), true
	}
	d.checkPlaced()
	if err := d.errs.Err(); err != nil {
		return nil, err
	}
	if _, err := template.Check(d.workflow, template.Known{Lenient: true}); err != nil {
		return nil, err
	}
	return d.workflow, nil
}

// definition is the state of one Define.
type definition struct {
	workflow *template.Workflow
	input    reflect.Type // of the run; nil: of any type
	output   *argument
	at       document.Pos // of the step that is being built
	maps     []openMap    // whose bodies are being built, outermost first
	placed   map[*handle]bool
	mentions []mention // in order
	errs     document.Errors
}

// openMap is a map whose body is being built, with the name of its item in expressions.
type openMap struct {
	handle *handle
	as     string
}

// mention is the place where a handle is read, needed or tested.
type mention struct {
	handle *handle
	at     document.Pos
}

func quoted(id string) string { return strconv.Quote(id) }

// fault records a fault at a place, or else at the step or container being built.
func (d *definition) fault(at document.Pos, text, msg string) {
	if at.IsZero() {
		at = d.at
	}
	d.errs.Add(&document.Error{Pos: at, Text: text, Msg: msg})
}

// bind sets the binding of an operation. Setting the same again changes nothing.
func (d *definition) bind(pos document.Pos, operation string, b template.Binding) {
	b.Pos = d.workflow.Pos
	if known, ok := d.workflow.Operations[operation]; ok && !reflect.DeepEqual(known, b) {
		d.fault(pos, operation, fmt.Sprintf("operation %q is bound in two ways", operation))
		return
	}
	if d.workflow.Operations == nil {
		d.workflow.Operations = make(map[string]template.Binding)
	}
	d.workflow.Operations[operation] = b
}

// nodes builds a sequence.
func (d *definition) nodes(nodes []Node) []template.Node {
	var list []template.Node
	for _, n := range nodes {
		list = append(list, d.build(n)...)
	}
	return list
}

// one builds a node where only one is allowed.
func (d *definition) one(n Node) template.Node {
	list := d.build(n)
	if len(list) == 1 {
		return list[0]
	}
	s := &template.Sequential{Steps: list, Pos: d.at}
	if len(list) > 0 {
		s.Pos = n.place()
	}
	return s
}

// place builds the node of a handle, which can be placed only once. It returns nil for a handle that cannot be placed.
func (d *definition) place(h *handle) template.Node {
	switch {
	case h == nil:
		d.refuseNil("a handle")
		return nil
	case h.make == nil:
		d.fault(h.pos, "", "an input or an item is read, not placed")
		return nil
	case d.placed[h]:
		d.fault(h.pos, h.id, fmt.Sprintf("step %q is placed twice", h.id))
		return nil
	}
	d.placed[h] = true
	at := d.at
	d.at = h.pos
	n := h.make(d)
	d.at = at
	return n
}

// mention records that a handle is read, needed or tested at a place.
func (d *definition) mention(h *handle, at document.Pos) {
	d.mentions = append(d.mentions, mention{h, at})
}

// read returns the expression for the result of a handle.
func (d *definition) read(h *handle, at document.Pos) string {
	switch h.kind {
	case inputKind:
		if d.input != nil && d.input != h.typ {
			d.fault(at, "", fmt.Sprintf("the input of workflow %q is a %s, not a %s", d.workflow.Name, d.input, h.typ))
		}
		return "input"
	case itemKind:
		return d.item(h, at)
	default:
		return d.field(h, "output", at)
	}
}

// field returns the expression for a field of a step or map.
func (d *definition) field(h *handle, field string, at document.Pos) string {
	if h == nil {
		d.refuseNil("a handle")
		return "nil"
	}
	if h.kind != stepKind && h.kind != mapKind {
		d.fault(at, "", "an input or an item has no "+field)
		return "nil"
	}
	d.mention(h, at)
	return "steps" + member(h.id) + "." + field
}

// item returns the name of a map's item, which is defined only in the map's body.
func (d *definition) item(h *handle, at document.Pos) string {
	for _, m := range d.maps {
		if m.handle == h.each {
			return m.as
		}
	}
	d.fault(at, h.each.id, fmt.Sprintf("the item of map %q is used outside its body", h.each.id))
	return "nil"
}

// itemName returns the default name for the item of the next map: different from those around it, which its body may read.
func (d *definition) itemName() string {
	if len(d.maps) == 0 {
		return "item"
	}
	return "item" + strconv.Itoa(len(d.maps)+1)
}

// checkPlaced reports handles that are read but not placed.
func (d *definition) checkPlaced() {
	for _, m := range d.mentions {
		if !d.placed[m.handle] {
			d.fault(m.at, m.handle.id, fmt.Sprintf("step %q is read but not placed", m.handle.id))
		}
	}
}
