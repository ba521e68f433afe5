package playbook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Load reads and checks a file that holds one playbook, as template.Load does for a Workflow. It reports everything it
// finds wrong as document.Errors, in the words and at the places of this document.
func Load(file string, data []byte, known template.Known) (*template.Checked, error) {
	return template.LoadWith(ParseNode, file, data, known)
}

// Of gives the playbook that a workflow was read from, and whether there is one.
func Of(w *template.Workflow) (*Playbook, bool) {
	p, ok := w.Routing.(*Playbook)
	return p, ok
}

// ParseNode reads a document of kind Playbook. The playbook is the Routing of the workflow it returns, whose steps are the
// sites of its calls, side by side. It reports everything it finds wrong as document.Errors. A workflow that comes with an
// error holds what could be read, so that template.Check can report what else is wrong with it.
func ParseNode(n *document.Node) (*template.Workflow, error) {
	r := &reader{Reader: template.NewReader(n, Kind), book: &Playbook{Pos: n.Pos, doc: canonical(n), steps: map[string]int{}}}
	r.playbook(n)
	w, err := r.Workflow()
	if err == nil {
		r.book.Warnings = r.lint(r.book.findFanOuts())
	}
	return w, err
}

// reader reads one playbook. What it refuses stays zero and is read on, so that all faults are reported at once.
type reader struct {
	*template.Reader
	book      *Playbook
	compile   compiler
	entries   map[string]entry // of the workbook
	names     []string         // of all steps, in their order
	unmatched bool             // on_unmatched of the playbook is fail
	defaults  layer            // what the executor says for all tasks
	warnings  document.Errors
	here      *Step                   // that is read; nil: none
	bare      []bare                  // what expressions read without a prefix, in Jinja's dialect
	brought   map[int]map[string]bool // keys of args that arcs bring, by the step they lead to
}

// canonical is what a document says: how it was written, and keys that are free, leave no trace in it.
func canonical(n *document.Node) value.Value {
	v := n.Value()
	if m, ok := v.(map[string]any); ok {
		for key := range m {
			if strings.HasPrefix(key, "x-") {
				delete(m, key)
			}
		}
	}
	return v
}

// playbook reads the root. Its parts are read in the order in which they need each other, whatever that of the document.
func (r *reader) playbook(n *document.Node) {
	var keychain, executor, workbook, workflow *document.Node
	root := r.Root()
	r.Moved(n.Pos.Key("name").Path, n.Pos.Path)
	if n.Kind == document.Mapping {
		r.Moved(n.Pos.Key("name").Path, n.Pos.Key("metadata").Path) // where it is missed
	}
	r.mapping(n, template.Fields{
		"apiVersion": r.dialect,
		"kind":       root["kind"],
		"metadata":   r.metadata,
		"keychain":   func(v *document.Node) { keychain = v },
		"executor":   func(v *document.Node) { executor = v },
		"workload":   func(v *document.Node) { r.book.Workload = r.object(v) },
		"directory":  root["directory"],
		"workbook":   func(v *document.Node) { workbook = v },
		"workflow":   func(v *document.Node) { workflow = v },
	}, retiredRoot)
	r.Required(n, "apiVersion", "metadata", "workflow")
	if r.compile == nil {
		r.compile = ours
	}
	r.book.Executor = defaultExecutor()
	if keychain != nil {
		r.keychain(keychain)
	}
	if workflow != nil {
		r.stepNames(workflow)
	}
	if executor != nil {
		r.executor(executor)
	}
	if workbook != nil {
		r.workbook(workbook)
	}
	if workflow != nil {
		r.steps(workflow)
	}
	r.book.marks = marks(r.book.Keychain)
	r.assemble()
}

// retiredRoot says what has become of keys that playbooks had once.
var retiredRoot = map[string]string{
	"vars":  "values that a run starts with stand under workload",
	"steps": "steps stand under workflow",
}

// dialects are the languages of expressions, by what the document says it is written in.
var dialects = map[string]compiler{"sluice/v1": ours, "noetl.io/v2": theirs, "noetl.io/v10": theirs}

func (r *reader) dialect(n *document.Node) {
	version := r.choice(n, "sluice/v1", "noetl.io/v2", "noetl.io/v10")
	r.book.Jinja = strings.HasPrefix(version, "noetl.io/")
	if r.compile = dialects[version]; r.compile == nil {
		r.compile = unread
	}
}

// metadata is free but for the name, which is the workflow's.
func (r *reader) metadata(n *document.Node) {
	if r.book.Metadata = r.object(n); r.book.Metadata == nil {
		return
	}
	if name := n.Get("name"); name != nil {
		r.book.Name = r.Text(name)
		r.Tree().Name = r.book.Name
	}
	for _, key := range []string{"path", "description", "version"} {
		if v := n.Get(key); v != nil {
			r.Text(v)
		}
	}
	r.Moved(r.book.Pos.Key("name").Path, n.Pos.Key("name").Path)
}

// mapping reads a mapping key by key, in the order written. It refuses unknown keys; for one that was known once it says
// what to write instead.
func (r *reader) mapping(n *document.Node, known template.Fields, retired map[string]string) {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return
	}
	for e := range n.Entries() {
		if read, ok := known[e.Key]; ok {
			read(e.Value)
		} else if hint, ok := retired[e.Key]; ok {
			r.Fault(&document.Error{Pos: e.Pos, Text: e.Key, Msg: fmt.Sprintf("unknown key %q: %s", e.Key, hint)})
		} else if !strings.HasPrefix(e.Key, "x-") {
			r.UnknownKey(e, sortedKeys(known))
		}
	}
}

// object reads a mapping of any values.
func (r *reader) object(n *document.Node) map[string]value.Value {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return nil
	}
	return n.Value().(map[string]any)
}

// list gives the items of a list.
func (r *reader) list(n *document.Node) []*document.Node {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return nil
	}
	items := make([]*document.Node, 0, n.Len())
	for _, item := range n.Items() {
		items = append(items, item)
	}
	return items
}

// choice reads a text that is one of a few.
func (r *reader) choice(n *document.Node, allowed ...string) string {
	text := r.Text(n)
	if slices.Contains(allowed, text) {
		return text
	}
	if _, isText := n.Text(); isText {
		near := r.Nearest(text, slices.Values(allowed))
		r.Fault(&document.Error{Pos: n.Pos, Text: text, Suggestion: near,
			Msg: fmt.Sprintf("%s must be one of %s, not %s", lastKey(n.Pos), strings.Join(allowed, ", "), document.Quote(text))})
	}
	return ""
}

// once refuses a name that something else has already.
func (r *reader) once(n *document.Node, what, name string, seen map[string]document.Pos) bool {
	if first, taken := seen[name]; taken {
		r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("duplicate %s %q, first at %s", what, name, first.Path)})
		return false
	}
	seen[name] = n.Pos
	return true
}

// warn notes what is probably not meant, but makes sense.
func (r *reader) warn(pos document.Pos, format string, args ...any) {
	r.warnings.Add(&document.Error{Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// lastKey is the name that a message uses for the value at a place.
func lastKey(p document.Pos) string {
	return p.Path[strings.LastIndexByte(p.Path, '.')+1:]
}
