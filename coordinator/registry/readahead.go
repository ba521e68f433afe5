package registry

import (
	"path/filepath"

	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
)

// documents holds the texts of child documents by path. They are read before the registry's lock is taken, because runs wait for
// the lock and reading a file may be slow.
type documents map[string]text

type text struct {
	data []byte
	err  error
}

// readChildren reads the documents that the bindings of a workflow name by path, and those that these name. Faults are
// reported when they are compiled.
func readChildren(of *template.Workflow, into documents) {
	for _, binding := range of.Operations {
		if binding.Workflow != nil && binding.Workflow.Path != "" {
			readFile(pathOf(of, binding.Workflow), into)
		}
	}
}

func readFile(file string, into documents) {
	if _, known := into[file]; known {
		return
	}
	data, err := readfile.Regular(file, document.BytesMax)
	into[file] = text{data, err}
	if err != nil {
		return
	}
	if checked, err := kinds.Load(file, data, template.Known{Lenient: true}); err == nil {
		readChildren(checked.Workflow, into)
	}
}

// pathOf returns the path of a child document, which is relative to the document that names it.
func pathOf(parent *template.Workflow, child *template.Child) string {
	if filepath.IsAbs(child.Path) {
		return child.Path
	}
	return filepath.Join(filepath.Dir(parent.Pos.File), child.Path)
}
