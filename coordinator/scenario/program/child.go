package program

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// checkChildren checks the workflows that a tree's steps run as children, at any depth: that they exist and are valid, and
// that none of them fans out below a step that does.
func checkChildren(w *template.Workflow, folder string) error {
	var errs []error
	eachStep(w.Steps, func(s *template.Step) {
		child := w.Operations[s.Operation].Workflow
		if child == nil {
			return
		}
		fansOut, err := look(w, child, folder, map[string]bool{})
		if err == nil && fansOut && s.Target != nil {
			err = &document.Error{Pos: s.Target.Pos, Text: s.Operation,
				Msg: fmt.Sprintf("nested fan-out: the workflow of operation %q asks participants itself", s.Operation)}
		}
		errs = append(errs, err)
	})
	return document.Join(errs...)
}

// OfChild finds the workflow that a binding of parent names: one that parent carries, or a document.
func OfChild(parent *template.Workflow, child *template.Child, folder string) (Source, error) {
	if child.Path != "" {
		return openSource(folder, child.Path)
	}
	if built := parent.Child(child.Name); built != nil {
		return Source{built: built, folder: folder}, nil
	}
	return Source{}, errors.New("a scenario finds none by its name: give its path, or script the step")
}

// look reports whether a child workflow, or one below it, asks participants.
func look(parent *template.Workflow, child *template.Child, folder string, looked map[string]bool) (bool, error) {
	src, err := OfChild(parent, child, folder)
	if err != nil {
		return false, child.Fault(err, nil)
	}
	if src.built == nil { // a workflow built in Go cannot start itself
		file := filepath.Clean(src.node.Pos.File)
		if looked[file] {
			return false, nil
		}
		looked[file] = true
	}
	w, err := src.tree()
	if err != nil {
		return false, err
	}
	checked, err := template.Check(w, template.Known{Lenient: true})
	if err != nil {
		return false, err
	}
	fansOut := checked.FansOut()
	eachStep(w.Steps, func(s *template.Step) {
		if next := w.Operations[s.Operation].Workflow; next != nil && err == nil {
			var below bool
			below, err = look(w, next, src.folder, looked)
			fansOut = fansOut || below
		}
	})
	return fansOut, err
}
