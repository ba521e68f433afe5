package net

import (
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// CodeReference is the code of a task that was to resolve a reference to something that is not there.
const CodeReference = "REFERENCE_NOT_AVAILABLE"

// resultRef is the kind of the objects that stand for stored results.
const resultRef = "result_ref"

// resolve puts a result in the place of its reference. The journal holds the reference only: the result follows from it.
func (n *Net) resolve(out *outcome) {
	if out.failure != nil {
		return
	}
	ref := out.result
	if object, ok := ref.(map[string]any); ok {
		ref = object["ref"]
	}
	text, isText := ref.(string)
	v, ok := n.referred(text)
	switch {
	case !isText:
		out.failure = failure(CodeReference, "%s is no reference", kindOf(out.result))
	case !ok:
		out.failure = failure(CodeReference, "there is no result %s in this run", text)
	}
	out.result = v
}

// whole gives a result itself in the place of a reference to the result store, which only this run can resolve.
func (n *Net) whole(v value.Value) value.Value {
	if object, ok := v.(map[string]any); ok && object["kind"] == resultRef {
		if ref, ok := object["ref"].(string); ok {
			if stored, ok := n.store[ref]; ok {
				return stored
			}
		}
	}
	return v
}

// referred gives what a reference stands for: a value of the result store, or what the newest run of a step has given, as
// a final step and a join are told of it.
func (n *Net) referred(ref string) (value.Value, bool) {
	if v, ok := n.Stored(ref); ok {
		return v, true
	}
	prefix := reference(n.root.Start().Run, "")
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
