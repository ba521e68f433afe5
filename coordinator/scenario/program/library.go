package program

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/machine"
)

// Library reads each workflow of a scenario once, and compiles each program of it once: a workflow may run as a child ten thousand
// times. A Library belongs to one goroutine.
type Library struct {
	files    map[string]*Source // by path
	built    map[*template.Workflow]*Source
	programs map[programKey]*Program
	code     []*machine.Code // machines in Go, for worlds that name them
}

// programKey identifies a program.
type programKey struct {
	src       *Source
	directory *template.Directory
	answered  string // the steps that the script answers: see answered
}

// NewLibrary returns an empty library. code holds the machines in Go that its worlds may name.
func NewLibrary(code ...*machine.Code) *Library {
	return &Library{files: map[string]*Source{}, built: map[*template.Workflow]*Source{}, programs: map[programKey]*Program{}, code: code}
}

// Find finds the workflow of a scenario whose file is in folder. The workflow is inline, has the name of one built in Go, or is in
// a file.
func (l *Library) Find(workflow *document.Node, built map[string]*template.Workflow, folder string) (*Source, error) {
	name, isText := workflow.Text()
	if w := built[name]; isText && w != nil {
		return l.ofGo(w, folder), nil
	}
	if isText {
		return l.open(folder, name)
	}
	return &Source{node: workflow, folder: folder}, nil
}

// OfChild finds the child workflow that a binding of parent names: a workflow built in Go that parent includes, or a document.
func (l *Library) OfChild(parent *template.Workflow, child *template.Child, folder string) (*Source, error) {
	if child.Path != "" {
		return l.open(folder, child.Path)
	}
	if built := parent.Child(child.Name); built != nil {
		return l.ofGo(built, folder), nil
	}
	return nil, errors.New("a scenario cannot find a workflow by its name: give its path, or script the step")
}

func (l *Library) ofGo(w *template.Workflow, folder string) *Source {
	src := l.built[w]
	if src == nil {
		src = &Source{built: w, folder: folder}
		l.built[w] = src
	}
	return src
}

// open reads the document at a path relative to folder.
func (l *Library) open(folder, path string) (*Source, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	path = filepath.Clean(path)
	if src := l.files[path]; src != nil {
		return src, nil
	}
	data, err := readfile.Regular(path, document.BytesMax)
	if err != nil {
		return nil, fmt.Errorf("workflow: %w", err)
	}
	nodes, err := document.Parse(path, data, document.Limits{})
	if err != nil {
		return nil, err
	}
	if len(nodes) > 1 {
		return nil, &document.Error{Pos: nodes[1].Pos, Msg: "a second document in the file of a workflow"}
	}
	l.files[path] = &Source{node: nodes[0], folder: filepath.Dir(path), bytes: len(data)}
	return l.files[path], nil
}

// Compile returns the program of a source for a run at path. The script answers the calls that have parts. A directory, unless nil,
// replaces the directory of the document. Runs at several paths share a program if the script answers the same steps at each.
// Compile returns all faults together.
func (l *Library) Compile(src *Source, operations, decisions script.Parts, path string, directory *template.Directory) (*Program, error) {
	b := &binder{operations: operations, decisions: decisions, path: script.Stem(path), known: map[string]bool{}}
	if src.compiled { // most sources are compiled once, and need no look
		if src.check(); src.fault == nil {
			if p := l.programs[programKey{src, directory, b.answeredSteps(src.seen)}]; p != nil {
				return p, nil
			}
		}
	}
	w, err := src.tree()
	if w == nil || err != nil && w.Routing != nil { // a faulty playbook has steps without tasks
		return nil, err
	}
	key := programKey{src, directory, b.answeredSteps(w)}
	p, err := l.compile(src, w, err, b, directory)
	if err == nil {
		src.compiled, l.programs[key] = true, p
	}
	return p, err
}
