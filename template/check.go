package template

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/fields"
	"github.com/sluiceflow/sluice/template/value"
)

// DepthMax is the maximum depth of nested containers.
const DepthMax = 64

// Known describes the operations that exist outside a document.
type Known struct {
	Operation  func(name string) bool // reports whether an operation is registered in Go or scripted; nil: no operation is
	Operations []string               // names to suggest for a misspelt one

	// Lenient accepts operations without a provider. For runs of earlier versions that continue, it also accepts literals with
	// which a step always fails, data about participants that has no effect, and automatic decision sources without an
	// operation.
	Lenient bool
}

// Checked is a valid workflow, resolved as completely as is possible before a run: names are items, texts are compiled. It is
// immutable and safe for concurrent use.
type Checked struct {
	Workflow *Workflow         // with its defaults filled in
	Items    []*Item           // steps, conditionals and maps in template order; Items[i].Index is i
	Of       map[Node]*Item    // by tree node
	ByID     map[string]*Item  // steps, maps and named conditionals
	Output   *expr.Template    // of the run; nil when there is none
	Bindings map[string]*Bound // by operation name; nil when the document binds none
	Warnings document.Errors   // valid, but probably mistakes; in the order of the document
}

// Item is a step, a conditional or a map in its place. Those inside a conditional or map follow it in template order.
type Item struct {
	Index  int            // in template order, from 0
	Node   Node           // *Step, *Conditional or *Map
	ID     string         // "" for an unnamed conditional
	Path   string         // of its element, such as steps[1].parallel.steps[0]
	Parent *Item          // the innermost conditional or map around it; nil at the root
	Branch int8           // 0: then, 1: else, when Parent is a conditional
	Map    *Item          // the innermost map around it; nil: none
	Input  *expr.Template // of a step: its input, or the arguments of its Func
	Test   *expr.Template // of a conditional: a boolean, or the arguments of its Func; nil when TestID is set
	TestID string         // of a conditional: the test holds if this item is completed
	Over   *expr.Template // of a map: a list, or the arguments of its Func
	Asks   *expr.Template // of a step: the input of its decision source; nil: none. It makes no edges
	Reads  []Read         // of Input, Test or Over: each field of each target once, in order of appearance
	Needs  []*Item        // of a step, in the order written
}

// Read is one field of another item that an item reads.
type Read struct {
	Target    *Item      // another item
	Field     expr.Field // output, status, error or another one
	Defaulted bool       // every mention of it has a default for a missing output
	Caught    bool       // of an output: a conditional before or around the item has caught a failure of the target
}

// Check validates a workflow, read or built, and resolves its names. It reports all faults as document.Errors, always with the
// path, and with file and line if they are known. It fills in the defaults of w, which must not change afterwards. Cycles are
// left to compilation, which has all edges.
//
// Cost is linear in the size of the workflow, times the nesting depth for references. In addition it is proportional to the
// number of steps for every misspelt name and every test that names an operation; to the number of conditionals that test the
// step, for every read of an output; and to the number of tested items, for every read in the output of the run. For each item
// it grows with the square of the number of its reads.
func Check(w *Workflow, known Known) (*Checked, error) {
	w.complete()
	c := &checker{w: w, known: known, checked: &Checked{
		Workflow: w,
		Of:       make(map[Node]*Item),
		ByID:     make(map[string]*Item),
	}}
	c.root()
	c.operations()
	c.requirements()
	c.elements(w.Steps, list{path: c.rootPath("steps"), ordered: true, names: rootNames})
	for _, s := range c.spots {
		c.item(s)
	}
	c.catch()
	if w.HasOutput {
		c.checked.Output = c.compile(c.rootPath("output"), w.Output, rootNames, func(r expr.Read, path string) {
			if target := c.read(r, nil, path); target != nil && !c.mayBeCaught(target) {
				c.warn(r, nil, target, path)
			}
		})
	}
	c.checked.Warnings, _ = c.warnings.Err().(document.Errors)
	if err := c.errs.Err(); err != nil {
		return nil, err
	}
	return c.checked, nil
}

// FansOut reports whether a step of the workflow asks participants. Such a workflow must not be the operation of a step that
// also asks participants: the resolver of child workflows refuses that as a nested fan-out.
func (c *Checked) FansOut() bool {
	return slices.ContainsFunc(c.Items, func(it *Item) bool {
		s, ok := it.Node.(*Step)
		return ok && s.Target != nil
	})
}

// checker is the state of one Check.
type checker struct {
	w       *Workflow
	known   Known
	checked *Checked
	spots   []*spot // of all items, parallel to checked.Items
	ids     []string
	errs    document.Errors
	speller expr.Speller

	testers  map[*Item][]*spot // by item: the conditionals that test its status
	defaults []mention
	warnings document.Errors
}

// rootNames are the names that expressions may read outside all maps.
var rootNames = []string{"input", "run"}

// objectKeys are the keys of objects that have no others, for expr.Scope.
var objectKeys = map[string][]string{"run": {"id", "name", "started_at"}, "steps.error": {"code", "message", "details"}}

// rootPath returns the path of a key of the workflow, which may be part of another document.
func (c *checker) rootPath(key string) string { return c.w.Pos.Key(key).Path }

// fault reports a fault at a path, unless the reader has reported that path. Its line and column are those of the value at the
// path or, if there is none, of the nearest value.
func (c *checker) fault(path string, near document.Pos, e *document.Error) {
	path = c.authorPath(path)
	if c.w.refused[path] {
		return
	}
	e.Pos = near.At(path)
	if c.w.source != nil {
		e.Pos = c.w.source.At(path).Pos.At(path)
	}
	c.errs.Add(e)
}

// authorPath returns the path in the author's document for a path in the tree.
func (c *checker) authorPath(path string) string {
	for end := len(path); end > 0; end = strings.LastIndexAny(path[:end], ".[") {
		if at, ok := c.w.moved[path[:end]]; ok {
			return at + path[end:]
		}
	}
	return path
}

// hasValueAt reports whether the document has a value at a path, whether valid or invalid.
func (c *checker) hasValueAt(path string) bool {
	path = c.authorPath(path)
	return c.w.refused[path] || c.w.source != nil && c.w.source.At(path).Pos.Path == path
}

func (c *checker) faultf(path string, near document.Pos, format string, args ...any) {
	c.fault(path, near, &document.Error{Msg: fmt.Sprintf(format, args...)})
}

// oneOf reports a text that is not one of the allowed texts.
func (c *checker) oneOf(path string, near document.Pos, text string, allowed ...string) {
	if slices.Contains(allowed, text) {
		return
	}
	suggestion, _ := expr.Nearest(text, allowed)
	c.fault(path, near, &document.Error{Text: text, Suggestion: suggestion, Msg: fields.NotAmong(fields.LastKey(path), text, allowed)})
}

// compile compiles a value with expressions at a path and reports its faults. It calls resolve for every read of the value.
func (c *checker) compile(path string, v value.Value, names []string, resolve func(r expr.Read, path string)) *expr.Template {
	scope := expr.Scope{Names: names}
	if !c.known.Lenient {
		scope.Keys = objectKeys
	}
	t, err := expr.CompileValue(v, scope)
	if err != nil {
		c.expressionFaults(path, v, err)
		return nil
	}
	for _, r := range t.Reads() {
		resolve(r, fields.PathTo(path, v, r.Pointer))
	}
	return t
}

// expressionFaults reports each of the errors that are joined in err, the error of the compilation of v.
func (c *checker) expressionFaults(path string, v value.Value, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			c.expressionFaults(path, v, err)
		}
		return
	}
	fault := &document.Error{Msg: err.Error(), Err: err}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		path = fields.PathTo(path, v, e.Pointer)
		fault.Text, fault.Msg, fault.Suggestion = e.Text, e.Msg, e.Suggestion
	}
	c.fault(path, c.near(path), fault)
}

// near returns the place of the innermost item at or around a path; if the tree has a document, the place of the workflow.
func (c *checker) near(path string) document.Pos {
	if c.w.source != nil {
		return c.w.Pos
	}
	pos := c.w.Pos
	for _, it := range c.checked.Items {
		if strings.HasPrefix(path, it.Path+".") {
			pos = it.Pos()
		}
	}
	return pos
}

// Pos returns the place where the item was written.
func (it *Item) Pos() document.Pos { return it.Node.pos() }

// knownOperations returns the names to which a misspelt operation is compared.
func (c *checker) knownOperations() iter.Seq[string] {
	own := maps.Keys(c.w.Operations)
	if c.w.Routing != nil {
		own = slices.Values(c.w.Routing.Tools()) // the operations of the workflow are made by the reader
	}
	return func(yield func(string) bool) {
		for _, names := range []iter.Seq[string]{own, slices.Values(c.known.Operations)} {
			for name := range names {
				if !yield(name) {
					return
				}
			}
		}
	}
}
