package program

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// checkChildren checks the child workflows of a tree at any depth. They must exist and be valid, and must not fan out below a step
// that fans out.
func (l *Library) checkChildren(w *template.Workflow, folder string) error {
	type result struct {
		fansOut bool
		err     error
	}
	results := map[*template.Child]result{}
	var errs []error
	eachStep(w.Steps, func(s *template.Step) {
		child := w.Operations[s.Operation].Workflow
		if child == nil {
			return
		}
		r, ok := results[child]
		if !ok {
			r.fansOut, r.err = l.check(w, child, folder, map[*Source]bool{})
			results[child] = r
		}
		err := r.err
		if err == nil && r.fansOut && s.Target != nil {
			err = &document.Error{Pos: s.Target.Pos, Text: s.Operation,
				Msg: fmt.Sprintf("nested fan-out: the workflow of operation %q asks participants itself", s.Operation)}
		}
		errs = append(errs, err)
	})
	return document.Join(errs...)
}

// check reports whether a child workflow, or a workflow below it, asks participants.
func (l *Library) check(parent *template.Workflow, child *template.Child, folder string, looked map[*Source]bool) (bool, error) {
	src, err := l.OfChild(parent, child, folder)
	if err != nil {
		return false, child.Fault(err, nil)
	}
	if looked[src] {
		return false, nil
	}
	looked[src] = true
	if src.check(); src.fault != nil {
		return false, src.fault
	}
	fansOut := src.fansOut
	eachStep(src.seen.Steps, func(s *template.Step) {
		if next := src.seen.Operations[s.Operation].Workflow; next != nil && err == nil {
			var below bool
			below, err = l.check(src.seen, next, src.folder, looked)
			fansOut = fansOut || below
		}
	})
	return fansOut, err
}
