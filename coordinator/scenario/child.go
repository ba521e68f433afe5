package scenario

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// Child runs. Starts, cancellations and results of children always follow from the two journals, so a crash of either run loses none.

// codeChildFailed is the reason of a step whose child run did not complete.
const codeChildFailed = "child_failed"

// startChild begins the child run of a call. The call fails if the child run cannot begin.
func (g *execution) startChild(q question, child *template.Child) {
	err := g.newChild(q, child)
	if err == nil {
		return
	}
	q.t.schedule.Add(g.now, q.failed(childFailed(err.Error())))
}

func (g *execution) newChild(q question, child *template.Child) error {
	path := q.t.path + q.node + "/"
	if err := g.checkDescendants(path); err != nil {
		return err
	}
	src, err := g.library.OfChild(q.t.program.Plan.Workflow, child, q.t.program.Folder)
	if err != nil {
		return err
	}
	p, err := g.compile(src, path, nil)
	if err != nil {
		g.fail("workflow of "+q.t.path+q.node, "a workflow that can be run", err.Error())
		return nil
	}
	t := newTrack(g, q.id(), path, p)
	t.parent, t.call = q.t, q.call
	return g.begin(t, q.t.root.Requested(q.call.Node))
}

// checkDescendants refuses a child run beyond DescendantsMax or DepthMax, because a workflow may start itself.
func (g *execution) checkDescendants(path string) error {
	if most := g.limits.DepthMax; strings.Count(path, "/") > most {
		return fmt.Errorf("child runs nest deeper than %d", most)
	}
	if most := g.limits.DescendantsMax; most >= 0 && len(g.tracks) > most {
		return fmt.Errorf("the run has started %d runs, with those that they have started; DescendantsMax is %d", most, most)
	}
	return nil
}

// cancellation returns the command that cancels a child run whose call has ended first, or false if none is needed.
func (t *track) cancellation() (decide.Item, bool) {
	if t.parent == nil || t.finished() != nil || t.parent.root.Open(t.call) {
		return decide.Item{}, false
	}
	return decide.Item{Event: journal.Event{Type: journal.RunCancelled, Detail: &journal.Detail{
		Failure: &journal.Failure{Code: reactive.CodeCancelled, Message: "the call that started the run has ended"},
	}}}, true
}

// pause returns the command that pauses or resumes a child run like its parent, or false if none is needed.
func (t *track) pause() (decide.Item, bool) {
	if t.parent == nil || !t.root.Started() || t.finished() != nil || t.parent.root.Paused() == t.root.PausedFromAbove() {
		return decide.Item{}, false
	}
	return decide.Item{Event: decide.PauseFromAbove(t.parent.id, t.parent.root.Paused())}, true
}

// outcome returns the answer of a finished child run to its call. It returns false if the child run has not finished or its call
// has ended.
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
