package template

import (
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/fields"
)

// Fields maps each key of a mapping to the function that reads its value.
type Fields = fields.Map

// reader turns nodes of a document into the tree. It reports values that the tree cannot contain; Check checks all others, in
// documents and in built trees.
type reader struct{ fields.Reader }

// Reader reads one document into a Workflow. The readers of other kinds of documents are built on it, so that common keys have
// the same meaning in each. Their faults have the same messages, and the places where the author wrote them.
//
//	r := template.NewReader(n, "Recipe")
//	known := r.Root()
//	known["recipe"] = func(v *document.Node) { r.SetSteps(steps(r, v)) }
//	r.Object(n, known)
//	r.Required(n, "recipe")
//	return r.Workflow()
//
// Reading continues after a fault: each fault is recorded, the value that cannot be read stays zero, and Workflow returns all
// faults. A Reader reads one document and must not be used concurrently.
type Reader struct {
	reader
	n    *document.Node
	w    *Workflow
	kind string

	foreign *document.Error // the document has another kind, so its other faults would be misleading
}

// NewReader returns a Reader of the document n, whose kind must be kind.
func NewReader(n *document.Node, kind string) *Reader {
	return &Reader{n: n, kind: kind, w: &Workflow{Pos: n.Pos, source: n}}
}

// Workflow returns the tree with its defaults filled in, and all faults as document.Errors. A tree returned with an error
// contains the parts that could be read, for Check. For another kind of document it returns only that fault, and no tree.
func (r *Reader) Workflow() (*Workflow, error) {
	if r.foreign != nil {
		return nil, document.Errors{r.foreign}
	}
	r.Required(r.n, "kind")
	r.w.refused = r.Refused()
	r.w.complete()
	return r.w, r.Err()
}

// Tree returns the workflow under construction, for keys of one kind only. It is incomplete until Workflow has returned it.
func (r *Reader) Tree() *Workflow { return r.w }

// SetSteps sets the steps of the workflow. If the Pos of a step has a path, Check reports the step under that path.
func (r *Reader) SetSteps(steps []Node) { r.w.Steps = steps }

// Root returns the functions that read the keys of every kind, except the steps. The caller adds the keys of its own kind.
func (r *Reader) Root() Fields {
	w := r.w
	return Fields{
		"kind":            r.checkKind,
		"name":            func(v *document.Node) { w.Name = r.Word(v) },
		"version":         func(v *document.Node) { w.Version = r.Text(v) },
		"input":           func(v *document.Node) { w.Input, w.input = r.schema(v), v },
		"deadline":        func(v *document.Node) { w.Deadline = r.Duration(v) },
		"failure_policy":  func(v *document.Node) { w.FailurePolicy = FailurePolicy(r.Word(v)) },
		"max_concurrency": func(v *document.Node) { w.MaxConcurrency = r.Count(v) },
		"operations":      func(v *document.Node) { w.Operations = r.operations(v) },
		"directory":       func(v *document.Node) { w.Directory = r.directory(v) },
		"output":          func(v *document.Node) { w.Output, w.HasOutput = v.Value(), true },
	}
}

func (r *Reader) checkKind(v *document.Node) {
	if kind := r.Text(v); kind != "" && kind != r.kind {
		r.foreign = &document.Error{Pos: v.Pos, Text: kind, Msg: "kind must be " + r.kind + ", not " + document.Quote(kind)}
	}
}

// Step returns the functions that read the call of a step into s: input, target, fan_in, timing, fulfillment and idempotent.
// The caller adds its own keys for the name, the operation and the place of the step.
func (r *Reader) Step(s *Step) Fields { return r.callFields(s) }

// Binding returns the functions that read a binding into b, by kind. The caller adds its own keys, and b to the Operations.
func (r *Reader) Binding(b *Binding) Fields { return r.bindingFields(b) }

// Moved records that a path in the tree, with all paths below it, has another path in the document, of whose kind its keys are.
// Paths begin at the root of the file, like the Path of a document.Pos. The longest match applies.
func (r *Reader) Moved(path, written string) {
	if r.w.moved == nil {
		r.w.moved = make(map[string]string)
	}
	r.w.moved[path] = written
}

// InputNode returns the node of the document's input schema, for the places of its faults. It returns nil if the document has
// no schema or the workflow was built in Go.
func (w *Workflow) InputNode() *document.Node {
	if w.Input == nil {
		return nil
	}
	return w.input
}
