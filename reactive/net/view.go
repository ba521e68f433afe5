package net

import (
	"github.com/sluiceflow/sluice/reactive/routed"
)

func (n *Net) emit(v routed.View) {
	if n.watch != nil {
		v.Seq, v.At = n.event.Seq, n.event.At
		n.watch(v)
	}
}

// at sets the place of a view from an iteration's task.
func (n *Net) at(it *iteration, v routed.View) routed.View {
	v.Step, v.Run = it.run.step.Name, it.run.key
	if it.run.step.Loop != nil {
		v.Iteration = int(it.index) + 1
	}
	if it.pc < len(it.run.step.Tasks) {
		v.Task, v.Attempt = it.task().Label, max(1, it.tries)
	}
	return v
}

// about sets the place of a view from an expression's scope.
func (n *Net) about(s *scope, v routed.View) routed.View {
	switch {
	case s.it != nil:
		return n.at(s.it, v)
	case s.run != nil:
		v.Step, v.Run = s.run.step.Name, s.run.key
	}
	return v
}

func (n *Net) emitVerdict(t *token) {
	v := routed.View{Name: routed.AdmitEvaluated, Step: n.book.Steps[t.step].Name, Token: t.id, Status: "deny", Count: t.verdict.Rule}
	switch {
	case t.verdict.Allow:
		v.Status = "allow"
	case t.verdict.Err != "":
		v.Status, v.Failure = "error", failure(KindExpression, "%s", t.verdict.Err)
	}
	if n.watch != nil && !t.verdict.Allow {
		v.Reads = n.readAtGate(t)
	}
	n.emit(v)
}
