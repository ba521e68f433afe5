package net

import (
	"strings"

	"github.com/sluiceflow/sluice/reactive/net/outcome"
	"github.com/sluiceflow/sluice/reactive/net/results"
	"github.com/sluiceflow/sluice/template/value"
)

// CodeReference is the code of a task that was to resolve a reference to something that is not there.
const CodeReference = "REFERENCE_NOT_AVAILABLE"

// resolve puts a result in the place of its reference. The journal holds the reference only: the result follows from it.
func (n *Net) resolve(out *outcome.Outcome) {
	if out.Failure != nil {
		return
	}
	ref := out.Result
	if object, ok := ref.(map[string]any); ok {
		ref = object["ref"]
	}
	text, isText := ref.(string)
	v, ok := n.referred(text)
	switch {
	case !isText:
		out.Failure = failure(CodeReference, "%s is no reference", outcome.KindOf(out.Result))
	case !ok:
		out.Failure = failure(CodeReference, "there is no result %s in this run", text)
	}
	out.Result = v
}

// referred gives what a reference stands for: a value of the result store, or what the newest run of a step has given, as
// a final step and a join are told of it.
func (n *Net) referred(ref string) (value.Value, bool) {
	if v, ok := n.results.Get(ref); ok {
		return v, true
	}
	prefix := results.StepReference(n.root.Start().Run, "")
	run, ok := strings.CutPrefix(ref, prefix)
	if !ok {
		return nil, false
	}
	name, _, _ := strings.Cut(run, "@")
	i, ok := n.book.StepIndex(name)
	if !ok {
		return nil, false
	}
	s := &n.steps[i]
	return s.result, s.gave && s.from == run
}

// keep puts a result that is larger than its task allows into the store; one that was just taken from there stays.
func (n *Net) keep(out *outcome.Outcome) {
	r := out.Task.Result
	if r == nil || out.Task.Resolves() || out.Failure != nil || results.Size(out.Result) <= r.InlineMax {
		return
	}
	var err error
	out.Result, err = n.results.Put(n.root.Start().Run, out.Result, r.Select)
	n.defect(err)
}
