package playbook

import (
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// withoutEffect warns of the keys of a step that have no effect beside its other keys. Defaults that are written out are harmless.
func (r *reader) withoutEffect(s *Step, n *document.Node) {
	warn := func(why string, usual value.Value, path ...string) {
		at := n
		for _, key := range path {
			if at = at.Get(key); at == nil {
				return
			}
		}
		if usual != nil && value.Equal(at.Value(), usual) {
			return
		}
		r.warn(at.Pos, "%s has no effect: %s", lastKey(at.Pos), why)
	}
	if s.Loop == nil {
		warn("only a loop has iterations that fail", "fail_fast", "spec", "policy", "failure", "mode")
	} else if !s.Loop.Parallel {
		warn("the iterations of a sequential loop cannot conflict", string(ConflictRejected), "loop", "spec", "policy", "on_conflict")
	}
	if n.Get("tool") == nil {
		const why = "a step without a tool ends at once"
		warn(why, nil, "spec", "timeout")
		warn(why, nil, "spec", "policy", "lifecycle", "timeout_s")
		warn(why, nil, "spec", "policy", "lifecycle", "deadline_s")
	}
	switch {
	case s.Admit == nil:
		const why = "a gate without rules lets all tokens in"
		warn(why, "pending", "spec", "policy", "admit", "on_deny")
		warn(why, false, "spec", "policy", "admit", "coalesce")
	case s.Admit.Discard:
		warn("no token waits at a gate that drops the denied ones", false, "spec", "policy", "admit", "coalesce")
	}
	if s.Join != nil && s.Join.Mode != JoinAll {
		warn("only a join of all waits for every branch", "skip", "spec", "join", "on_missing")
	}
}
