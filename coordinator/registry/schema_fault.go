package registry

import (
	"errors"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// schemaBase is the address of a schema, which the library requires. It must not appear in errors.
const (
	schemaRoot = "input:///"
	schemaBase = schemaRoot + "schema"
)

// schemaFaults returns the faults of a workflow's schema, each at its place in the document.
func schemaFaults(w *template.Workflow, err error) error {
	f := &schemaFault{root: w.InputNode()}
	if refused, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if invalid, ok := errors.AsType[*jsonschema.ValidationError](refused.Err); ok {
			f.collect(invalid)
			return f.list.Err()
		}
	}
	// Otherwise a reference has no target; the library's error names the reference.
	text := err.Error()
	at := refIn(f.root, text)
	text = strings.ReplaceAll(strings.ReplaceAll(text, schemaBase, ""), schemaRoot, "")
	f.add(at, text)
	return f.list.Err()
}

type schemaFault struct {
	root *document.Node // nil: the workflow was built in Go
	list document.Errors
}

func (f *schemaFault) add(at *document.Node, msg string) {
	e := &document.Error{Msg: "input schema: " + msg}
	if at == nil {
		at = f.root
	}
	if at != nil {
		e.Pos = at.Pos
		e.Text, _ = at.Text()
	}
	f.list.Add(e)
}

// refIn finds the reference that an error is about: the error quotes it, or an address that ends with it.
func refIn(n *document.Node, text string) *document.Node {
	if n == nil {
		return nil
	}
	for e := range n.Entries() {
		if ref, ok := e.Value.Text(); ok && e.Key == "$ref" && strings.Contains(text, ref+`"`) {
			return e.Value
		}
		if at := refIn(e.Value, text); at != nil {
			return at
		}
	}
	for _, item := range n.Items() {
		if at := refIn(item, text); at != nil {
			return at
		}
	}
	return nil
}

// collect adds the innermost causes, as InputError.collect does.
func (f *schemaFault) collect(v *jsonschema.ValidationError) {
	if len(v.Causes) > 0 {
		for _, c := range v.Causes {
			f.collect(c)
		}
		return
	}
	at, path := f.root, v.InstanceLocation
	for len(path) > 0 && at != nil {
		next := at.Get(path[0])
		for i, item := range at.Items() {
			if strconv.Itoa(i) == path[0] {
				next = item
			}
		}
		if next == nil {
			break
		}
		at, path = next, path[1:]
	}
	msg := describe(v)
	if f.root == nil {
		msg = placeOf(v) + ": " + msg
	}
	f.add(at, msg)
}
