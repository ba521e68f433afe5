package playbook

import (
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

// Load reads and checks a file that contains one playbook, like template.Load for a Workflow. It reports all faults as
// document.Errors, with the keys and places of this document.
func Load(file string, data []byte, known template.Known) (*template.Checked, error) {
	return template.LoadWith(ParseNode, file, data, known)
}

// Of returns the playbook that a workflow was read from. It reports false if there is none.
func Of(w *template.Workflow) (*Playbook, bool) {
	p, ok := w.Routing.(*Playbook)
	return p, ok
}

// ParseNode reads a document of kind Playbook. The playbook is the Routing of the returned workflow, whose steps are the call
// sites of the playbook, side by side. ParseNode reports all faults as document.Errors. A workflow returned with an error
// contains the parts that could be read, so that template.Check can report further faults.
func ParseNode(n *document.Node) (*template.Workflow, error) {
	r := &reader{}
	r.Reader = template.NewReader(n, Kind)
	r.book = &Playbook{Pos: n.Pos, doc: canonical(n), steps: map[string]int{}}
	r.playbook(n)
	w, err := r.Workflow()
	if err == nil {
		r.book.Warnings = r.lint(r.book.findFanOuts())
		r.book.unread = r.book.findUnread()
	}
	return w, err
}

// reader reads one playbook. A value that it refuses stays zero, and reading continues, so all faults are reported at once.
type reader struct {
	secrets
	entries   map[string]entry        // of the workbook
	names     []string                // of all steps, in their order
	unmatched bool                    // on_unmatched of the playbook is fail
	defaults  layer                   // of the executor, for all tasks
	brought   map[int]map[string]bool // by step: keys of the args of the arcs that lead to it
}

// canonical returns the canonical form of a document, which does not depend on spelling or free keys.
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

// playbook reads the root. It reads the parts in the order of their dependencies, which may differ from their order in the
// document.
func (r *reader) playbook(n *document.Node) {
	var keychain, executor, workload, workbook, workflow *document.Node
	root := r.Root()
	r.Moved(n.Pos.Key("name").Path, n.Pos.Path)
	if n.Kind == document.Mapping {
		r.Moved(n.Pos.Key("name").Path, n.Pos.Key("metadata").Path) // the place for a missing name
	}
	r.mapping(n, template.Fields{
		"apiVersion": r.dialect,
		"kind":       root["kind"],
		"metadata":   r.metadata,
		"keychain":   func(v *document.Node) { keychain = v },
		"executor":   func(v *document.Node) { executor = v },
		"workload":   func(v *document.Node) { workload = v },
		"directory":  root["directory"],
		"workbook":   func(v *document.Node) { workbook = v },
		"workflow":   func(v *document.Node) { workflow = v },
	}, retiredRoot)
	r.Required(n, "apiVersion", "metadata", "workflow")
	if r.compile == nil {
		r.compile = compileExpr
	}
	r.book.Executor = defaultExecutor()
	if keychain != nil {
		r.keychain(keychain)
	}
	if workflow != nil {
		r.stepNames(workflow)
	}
	if workload != nil {
		r.workload(workload)
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
	r.book.marks = secret.Marks(r.book.Keychain)
	r.assemble()
}

// retiredRoot maps retired keys of playbooks to their replacements.
var retiredRoot = map[string]string{
	"vars":  "write the initial values of a run under workload",
	"steps": "write steps under workflow",
}

// dialects maps each apiVersion to the language of its expressions.
var dialects = map[string]compiler{"sluice/v1": compileExpr, "noetl.io/v2": compileJinja, "noetl.io/v10": compileJinja}

func (r *reader) dialect(n *document.Node) {
	version := r.choice(n, "sluice/v1", "noetl.io/v2", "noetl.io/v10")
	r.book.Jinja = strings.HasPrefix(version, "noetl.io/")
	if r.compile = dialects[version]; r.compile == nil {
		r.compile = compileUnknown
	}
}

// metadata reads the workflow's name. path, description and version must be texts; other keys may have any value.
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
