package template

import (
	"iter"

	"github.com/sluiceflow/sluice/template/document"
)

// Reader reads one document into a Workflow. Readers of other kinds of documents are made of it: what all kinds have in
// common means the same in each and is refused in the same words, at the place where its author wrote it.
//
//	r := template.NewReader(n, "Recipe")
//	known := r.Root()
//	known["recipe"] = func(v *document.Node) { r.SetSteps(steps(r, v)) }
//	r.Object(n, known)
//	r.Required(n, "recipe")
//	return r.Workflow()
//
// Nothing stops at a fault: each is noted, the value that cannot be read stays zero, and Workflow gives all faults. A Reader
// serves one document and one goroutine.
type Reader struct {
	reader
	n    *document.Node
	w    *Workflow
	kind string

	foreign *document.Error // the document is of another kind: what else is wrong with it would be said of the wrong words
}

// NewReader begins to read the document n, whose kind must be the one given.
func NewReader(n *document.Node, kind string) *Reader {
	return &Reader{n: n, kind: kind, w: &Workflow{Pos: n.Pos, source: n}}
}

// Workflow gives the tree with its defaults filled in, and all faults as document.Errors. A tree beside an error holds what
// could be read, for Check to look at. Of a document of another kind nothing else is said.
func (r *Reader) Workflow() (*Workflow, error) {
	if r.foreign != nil {
		return nil, document.Errors{r.foreign}
	}
	r.required(r.n, "kind")
	r.w.refused = r.refused
	r.w.complete()
	return r.w, r.errs.Err()
}

// Tree is the workflow that is being read, for what a kind has no shared words for. It is whole when Workflow has given it.
func (r *Reader) Tree() *Workflow { return r.w }

// SetSteps gives the workflow its steps. Those that have a Pos with a path are known to Check by that path.
func (r *Reader) SetSteps(steps []Node) { r.w.Steps = steps }

// Root reads what stands beside the steps in documents of every kind. The caller adds the keys of its own.
func (r *Reader) Root() Fields {
	w := r.w
	return Fields{
		"kind":            r.checkKind,
		"name":            func(v *document.Node) { w.Name = r.text(v) },
		"version":         func(v *document.Node) { w.Version = r.text(v) },
		"input":           func(v *document.Node) { w.Input, w.input = r.schema(v), v },
		"deadline":        func(v *document.Node) { w.Deadline = r.duration(v) },
		"failure_policy":  func(v *document.Node) { w.FailurePolicy = FailurePolicy(r.text(v)) },
		"max_concurrency": func(v *document.Node) { w.MaxConcurrency = r.count(v) },
		"operations":      func(v *document.Node) { w.Operations = r.operations(v) },
		"directory":       func(v *document.Node) { w.Directory = r.directory(v) },
		"output":          func(v *document.Node) { w.Output, w.HasOutput = v.Value(), true },
	}
}

func (r *Reader) checkKind(v *document.Node) {
	if kind := r.text(v); kind != "" && kind != r.kind {
		r.foreign = &document.Error{Pos: v.Pos, Text: kind, Msg: "kind must be " + r.kind + ", not " + document.Quote(kind)}
	}
}

// Step reads what a step says about its call into s: input, target, fan_in, timing, fulfillment and idempotent. The caller
// adds the keys that its kind has for the step's name, its operation and its place.
func (r *Reader) Step(s *Step) Fields { return r.callFields(s) }

// Object reads a mapping key by key, in the order written. It refuses a key that is not in known, with the one that was
// probably meant, unless it begins with x-; and a value that is no mapping.
func (r *Reader) Object(n *document.Node, known Fields) { r.object(n, known) }

// Required refuses a mapping that lacks one of the keys, unless a misspelt one has been refused in its place. Call it after
// Object.
func (r *Reader) Required(n *document.Node, keys ...string) { r.required(n, keys...) }

// Text reads a string.
func (r *Reader) Text(n *document.Node) string { return r.text(n) }

// Texts reads a list of strings.
func (r *Reader) Texts(n *document.Node) []string { return r.texts(n, r.text) }

// Boolean reads true or false.
func (r *Reader) Boolean(n *document.Node) bool { return r.boolean(n) }

// Count reads an integer of at least one.
func (r *Reader) Count(n *document.Node) int { return r.count(n) }

// WrongKind refuses a value of another kind than its key wants, such as "a list".
func (r *Reader) WrongKind(n *document.Node, want string) { r.wrongKind(n, want) }

// UnknownKey refuses a key of a mapping, with that of the known ones which was probably meant.
func (r *Reader) UnknownKey(e document.Entry, known []string) { r.unknownKey(e, known) }

// Nearest gives the known name that was probably meant by a word, or "": of many words of a document only the first are worth
// the search.
func (r *Reader) Nearest(word string, known iter.Seq[string]) string {
	return r.speller.Nearest(word, known)
}

// Fault notes a fault that says more than Refuse can. Check does not report the same place again.
func (r *Reader) Fault(e *document.Error) {
	r.errs.Add(e)
	r.markRefused(e.Path)
}

// Refuse notes that what stands at n makes no sense there. Check does not report the same place again.
func (r *Reader) Refuse(n *document.Node, msg string) { r.refuse(n, msg) }

// Moved says that what Check looks for at a path, and below it, was written at another: the kinds of documents have several
// words for one thing. Paths begin at the root of the file, as those of document.Pos; the longest one counts.
func (r *Reader) Moved(path, written string) {
	if r.w.moved == nil {
		r.w.moved = make(map[string]string)
	}
	r.w.moved[path] = written
}
