package net

import (
	"cmp"

	"github.com/sluiceflow/sluice/reactive/net/gate"
)

// admission judges tokens by the rules of their steps.
type admission struct{ net *Net }

// Judge evaluates a step's admission: the first rule that holds decides; if no rule holds, the token is denied.
func (a admission) Judge(t *token) gate.Verdict {
	n := a.net
	admit := n.book.Steps[t.step].Admit
	if admit == nil {
		return gate.Verdict{Allow: true, Rule: -1}
	}
	s := &scope{net: n, args: t.args, event: t.event}
	for i := range admit.Rules {
		yes := admit.Rules[i].When == nil
		if !yes {
			var err error
			if yes, err = admit.Rules[i].When.EvalBool(s); err != nil {
				return gate.Verdict{Rule: i, Err: err.Error()}
			}
		}
		if yes {
			return gate.Verdict{Allow: admit.Rules[i].Allow, Rule: i}
		}
	}
	return gate.Verdict{Rule: -1}
}

// Changed records a new verdict about a pending token.
func (a admission) Changed(t *token, v gate.Verdict) { t.verdict, t.since = v, a.net.event.Seq }

// Compare compares tokens by age.
func (a admission) Compare(x, y *token) int { return cmp.Compare(x.id, y.id) }

// moved handles a new verdict about a pending token.
func (n *Net) moved(t *token) {
	n.emitVerdict(t)
	switch {
	case t.verdict.Allow:
		n.removePending(t)
		n.enable(t)
	case n.refused(t): // its rules can now be evaluated
		n.removePending(t)
		n.discard(t)
	}
}

// addPending puts a token at its gate.
func (n *Net) addPending(t *token) {
	admit := n.book.Steps[t.step].Admit
	n.touch(t.step).pending++
	n.defect(n.gates.Add(t, t.verdict, admit.Keys, admit.AllKeys))
}

// removePending removes a token from its gate.
func (n *Net) removePending(t *token) {
	n.defect(n.gates.Remove(t))
	n.touch(t.step).pending--
}

// defect records the first error of a kind that only a defect of the engine can cause.
func (n *Net) defect(err error) {
	if err != nil && n.err == nil {
		n.err = err
	}
}
