package cli

import (
	"context"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
)

// Load reads the file of a workflow, at most document.BytesMax bytes, and compiles it. All errors of the document are returned
// at once, as document.Errors. Known defines the names from outside the document.
func Load(file string, known template.Known) (*plan.Plan, error) {
	data, err := readfile.Regular(file, document.BytesMax)
	if err != nil {
		return nil, err
	}
	checked, err := kinds.Load(file, data, known)
	if err != nil {
		return nil, err
	}
	return plan.Compile(checked)
}

// LoadToRun reads the file of a workflow and the files that it names, and returns all faults that prevent this program from running it.
// The programs that the workflow runs receive the variables of passEnv, too.
func LoadToRun(file string, passEnv ...string) (*registry.Registry, *plan.Plan, error) {
	loaded, entry, err := loadEntry(file, passEnv...)
	if err != nil {
		return nil, nil, err
	}
	return loaded, entry.Plan, nil
}

// LoadToCheck is LoadToRun for a workflow that is only checked. The operations in elsewhere may be missing: other programs or workers
// have them.
func LoadToCheck(file string, elsewhere []string) (*plan.Plan, error) {
	loaded, entry, err := registry.LoadToCheck(file, elsewhere)
	if err != nil {
		return nil, withFileName(file, loaded, err)
	}
	return entry.Plan, nil
}

// LoadEntry is LoadToRun, except that it returns the compiled workflow with its child workflows.
func LoadEntry(file string) (*registry.Entry, error) {
	_, entry, err := loadEntry(file)
	return entry, err
}

func loadEntry(file string, passEnv ...string) (*registry.Registry, *registry.Entry, error) {
	loaded, entry, err := registry.Load(file, passEnv...)
	if err != nil {
		return nil, nil, withFileName(file, loaded, err)
	}
	return loaded, entry, nil
}

// withFileName adds the name of the file to an error, and removes the name of a package. It returns an error of a document, or of a file that was
// not read, unchanged.
func withFileName(file string, loaded *registry.Registry, err error) error {
	if loaded == nil || isDocumentError(err) {
		return err
	}
	msg := strings.ReplaceAll(err.Error(), "coordinator: ", "")
	return document.Errors{{Pos: document.Pos{File: file}, Msg: msg, Err: err}}
}

// LoadForHost is LoadParcel for a workflow to be run by the process that works on the folder dir. If operations are not bound and there is
// such a process, they are left to its workers, and unbound is the error of LoadParcel, which applies if it has no workers.
func LoadForHost(ctx context.Context, file, dir string) (p *registry.Parcel, w *template.Workflow, unbound, err error) {
	if p, w, unbound = LoadParcel(ctx, file); unbound == nil {
		return p, w, nil, nil
	}
	loaded, entry, err := registry.LoadForHost(file)
	if err != nil {
		return nil, nil, nil, unbound
	}
	host, err := folder.Dial(dir)
	if err == nil {
		err = host.Close()
	}
	if err == nil {
		p, err = loaded.Pack(ctx, entry)
	}
	if err != nil {
		return nil, nil, nil, unbound
	}
	return p, entry.Plan.Workflow, unbound, nil
}

// LoadParcel reads a workflow's file as LoadToRun does, to pass it to another process.
func LoadParcel(ctx context.Context, file string) (*registry.Parcel, *template.Workflow, error) {
	loaded, entry, err := loadEntry(file)
	if err != nil {
		return nil, nil, err
	}
	p, err := loaded.Pack(ctx, entry)
	return p, entry.Plan.Workflow, err
}
