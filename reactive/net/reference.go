package net

import (
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/ended"
	"github.com/sluiceflow/sluice/reactive/net/results"
	"github.com/sluiceflow/sluice/template/value"
)

// CodeReference is the code of a task that could not resolve a reference.
const CodeReference = "REFERENCE_NOT_AVAILABLE"

// resolve replaces a reference by the result. The journal contains only the reference, which determines the result.
func (p *pipelines) resolve(out *ended.Task) {
	if out.Failure != nil {
		return
	}
	ref := out.Result
	if object, ok := ref.(map[string]any); ok {
		ref = object["ref"]
	}
	text, isText := ref.(string)
	v, ok := p.referred(text)
	switch {
	case !isText:
		out.Failure = failure(CodeReference, "%s is no reference", journal.KindOf(out.Result))
	case !ok:
		out.Failure = failure(CodeReference, "there is no result %s in this run", text)
	}
	out.Result = v
}

// referred returns the value of a reference: a value of the result store, or the result of the newest run of a step, to which
// the final step and joins refer.
func (p *pipelines) referred(ref string) (value.Value, bool) {
	if v, ok := p.net.results.Get(ref); ok {
		return v, true
	}
	prefix := results.StepReference(p.net.root.Start().Run, "")
	run, ok := strings.CutPrefix(p.net.results.Own(ref), prefix)
	if !ok {
		return nil, false
	}
	name, _, _ := strings.Cut(run, "@")
	i, ok := p.net.book.StepIndex(name)
	if !ok {
		return nil, false
	}
	s := &p.net.steps[i]
	return s.result, s.hasResult && s.from == run
}

// keep moves a result that exceeds its task's limit into the store, unless it was just read from the store.
func (p *pipelines) keep(out *ended.Task) {
	r := out.Task.Result
	if r == nil || out.Task.Resolves() || out.Failure != nil || results.Size(out.Result) <= r.InlineMax {
		return
	}
	var err error
	out.Result, err = p.net.results.Put(p.net.root.Start().Run, out.Result, r.Select)
	p.net.defect(err)
}
