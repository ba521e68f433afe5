package machine

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/fields"
	"github.com/sluiceflow/sluice/template/value"
)

// The variables that expressions may use, by place.
var (
	seenByPayload = []string{"output"}
	seenByRule    = []string{"state", "event", "key", "cell", "now"}        // the state before
	seenByOutput  = []string{"state", "was", "event", "key", "cell", "now"} // the new state, and the one before
	seenByIndex   = []string{"state", "key"}
	seenByMigrate = []string{"state"}
)

// expression compiles the value at a node. It returns nil, after reporting the faults, if the value cannot be compiled.
func (r *reader) expression(n *document.Node, names []string) *expr.Template {
	return r.compile(n, n.Value(), names)
}

// compile compiles a value of a node. Faults have places within the node.
func (r *reader) compile(n *document.Node, v value.Value, names []string) *expr.Template {
	t, err := expr.CompileValue(v, expr.Scope{Names: names})
	if err != nil {
		r.expressionFaults(n, err)
		return nil
	}
	for _, read := range t.Reads() {
		r.Fault(&document.Error{Pos: follow(n, read.Pointer).Pos, Text: read.Text,
			Msg: fmt.Sprintf("a world has no %s: a cell's data is in its state", read.Text)})
	}
	return t
}

// text compiles a value that must be a text, possibly with expressions.
func (r *reader) text(n *document.Node, names []string) *expr.Template {
	if r.Text(n) == "" {
		if !r.IsRefused(n) {
			r.Refuse(n, lastKey(n)+" must not be empty")
		}
		return nil
	}
	return r.expression(n, names)
}

// condition compiles a guard: one expression, or true or false.
func (r *reader) condition(n *document.Node, names []string) *expr.Template {
	if _, isText := n.Text(); !isText && n.Kind != document.Bool {
		r.Refuse(n, lastKey(n)+" must be an expression, not "+n.Kind.String())
		return nil
	}
	t := r.compile(n, expr.Trim(n.Value()), names)
	if t == nil {
		return nil
	}
	fixed, isFixed := t.Constant()
	_, isBool := fixed.(bool)
	if t.Text() || isFixed && !isBool {
		r.Refuse(n, lastKey(n)+" must be an expression {{ … }} that returns true or false")
		return nil
	}
	return t
}

// expressionFaults reports, at its place, each error that the compilation of a value has joined.
func (r *reader) expressionFaults(n *document.Node, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			r.expressionFaults(n, err)
		}
		return
	}
	fault := &document.Error{Pos: n.Pos, Msg: err.Error(), Err: err}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		fault.Pos, fault.Text, fault.Msg, fault.Suggestion = follow(n, e.Pointer).Pos, e.Text, e.Msg, e.Suggestion
	}
	r.Fault(fault)
}

// follow returns the node at a JSON pointer into a node's value, or the last node on the way.
func follow(n *document.Node, pointer string) *document.Node {
	segments, err := value.ParsePointer(pointer)
	if err != nil {
		return n
	}
	for _, segment := range segments {
		next := n.Get(segment)
		if i, err := strconv.Atoi(segment); err == nil && n.Kind == document.Sequence {
			next = item(n, i)
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// item returns an item of a sequence, or nil.
func item(n *document.Node, at int) *document.Node {
	for i, v := range n.Items() {
		if i == at {
			return v
		}
	}
	return nil
}

func lastKey(n *document.Node) string { return fields.LastKey(n.Pos.Path) }
