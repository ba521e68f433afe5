package scenario

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// Child runs. Whether a child has to be started, cancelled, or its end reported is read off the two journals each time,
// so that a crash of either run can lose none of it.

// codeChildFailed is the reason of a step whose child run did not complete.
const codeChildFailed = "child_failed"

// checkChildren looks at the workflows that a tree's steps run as children, as far down as they go: whether they are
// there and make sense, and whether one of them fans out below a step that does.
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

// childSource finds the workflow that a binding of parent names: one that parent has brought along, or a document.
func childSource(parent *template.Workflow, child *template.Child, folder string) (source, error) {
	if child.Path != "" {
		return openSource(folder, child.Path)
	}
	if built := parent.Child(child.Name); built != nil {
		return source{built: built, folder: folder}, nil
	}
	return source{}, errors.New("a scenario finds none by its name: give its path, or script the step")
}

// look reports whether a child workflow, or one below it, asks participants.
func look(parent *template.Workflow, child *template.Child, folder string, looked map[string]bool) (bool, error) {
	src, err := childSource(parent, child, folder)
	if err != nil {
		return false, child.Fault(err, nil)
	}
	if src.built == nil { // what was built in Go cannot start itself
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

// startChild begins the child run of a call. What hinders it fails the call.
func (g *stage) startChild(q question, child *template.Child) {
	err := g.tryChild(q, child)
	if err == nil {
		return
	}
	q.t.agenda.add(g.now, q.failed(childFailed(err.Error())))
}

func (g *stage) tryChild(q question, child *template.Child) error {
	path := q.t.path + q.node + "/"
	if err := g.mayBeget(path); err != nil {
		return err
	}
	src, err := childSource(q.t.program.plan.Workflow, child, q.t.program.folder)
	if err != nil {
		return err
	}
	p, err := g.cast.compile(src, path, nil)
	if err != nil {
		g.fail("workflow of "+q.t.path+q.node, "a workflow that can be run", err.Error())
		return nil
	}
	t := newTrack(g, q.id(), path, p)
	t.parent, t.call = q.t, q.call
	return g.begin(t, q.t.root.Requested(q.call.Node))
}

// mayBeget refuses a child run that would be one too many, or too deep below the scenario's own: a workflow may start itself.
func (g *stage) mayBeget(path string) error {
	if most := g.limits.DepthMax; strings.Count(path, "/") > most {
		return fmt.Errorf("child runs nest deeper than %d", most)
	}
	if most := g.limits.DescendantsMax; most >= 0 && len(g.tracks) > most {
		return fmt.Errorf("the run has started %d runs, with those that they have started; DescendantsMax is %d", most, most)
	}
	return nil
}

// cancellation ends a child run whose call has ended otherwise; false: there is nothing to end.
func (t *track) cancellation() (decide.Item, bool) {
	if t.parent == nil || t.finished() != nil || t.parent.root.Open(t.call) {
		return decide.Item{}, false
	}
	return decide.Item{Event: journal.Event{Type: journal.RunCancelled, Detail: &journal.Detail{
		Failure: &journal.Failure{Code: reactive.CodeCancelled, Message: "the call that started the run has ended"},
	}}}, true
}

// pause begins or ends the pause of a child run whose parent is paused, or is no longer; false: it stands as its parent does.
func (t *track) pause() (decide.Item, bool) {
	if t.parent == nil || !t.root.Started() || t.finished() != nil || t.parent.root.Paused() == t.root.PausedFromAbove() {
		return decide.Item{}, false
	}
	return decide.Item{Event: decide.PauseFromAbove(t.parent.id, t.parent.root.Paused())}, true
}

// outcome is the answer that a finished child run is to the call that started it; false: it has none to give any more.
func (t *track) outcome() (decide.Item, bool) {
	e := t.finished()
	if e == nil || t.parent == nil || !t.parent.root.Open(t.call) {
		return decide.Item{}, false
	}
	q := t.parent.question(t.call)
	if status := reactive.RunStatus(e.Detail.State); status != reactive.RunCompleted {
		failure := childFailed("the child run is " + string(status))
		details := map[string]any{"run": t.id, "status": string(status)}
		if f := e.Detail.Failure; f != nil {
			failure.Message += ": " + f.Error()
			details["code"], details["message"] = f.Code, f.Message
		}
		failure.Details = details
		return q.failed(failure), true
	}
	return q.answered(e.Value), true
}

func childFailed(message string) *journal.Failure {
	return &journal.Failure{Code: codeChildFailed, Message: message}
}
