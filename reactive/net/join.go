package net

import (
	"maps"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// tracker is what has arrived at one join of one group and of those within it.
type tracker struct {
	group  *group // that the join answers to
	step   int
	tokens []*token
	fired  bool
}

// park takes a token that has arrived at a join.
func (n *Net) park(t *token) {
	join := n.book.Steps[t.step].Join
	if t.group == nil {
		n.arriveAlone(t, join)
		return
	}
	j := n.tracker(t.group, t.step)
	if !j.fired {
		j.tokens = append(j.tokens, t)
		n.joins[j] = true
		n.steps[t.step].parked++
		if join.Mode == playbook.JoinAny || join.Mode == playbook.JoinCount && len(j.tokens) == join.N {
			n.fire(j)
		}
	}
	n.leave(t.group)
}

// arriveAlone takes a token that belongs to no fan-out: no other can arrive.
func (n *Net) arriveAlone(t *token, join *playbook.Join) {
	if join.Mode == playbook.JoinCount && join.N > 1 {
		n.branchFailed(nil, n.unsatisfied(t.step, 1))
		return
	}
	n.admit(n.merged([]*token{t}, nil))
}

func (n *Net) unsatisfied(step, arrived int) *journal.Failure {
	s := n.book.Steps[step]
	return at(s.Name, failure(ReasonJoin, "%d of %d branches have arrived, and no other can", arrived, s.Join.N))
}

// fire merges what has arrived at a join into one token, which goes on in the fan-out around the group.
func (n *Net) fire(j *tracker) {
	j.fired = true
	n.unpark(j)
	t := n.merged(j.tokens, j.group)
	j.tokens = nil
	if t.group != nil {
		t.group.live++
	}
	n.admit(t)
}

func (n *Net) unpark(j *tracker) {
	n.steps[j.step].parked -= int32(len(j.tokens))
	delete(n.joins, j)
}

// merged is the token that several make, of a group and of those within it; nil: one alone. Their args are laid over each
// other in the order of the arcs.
func (n *Net) merged(list []*token, g *group) *token {
	last := list[len(list)-1]
	n.token++
	out := &token{
		id: n.token, since: n.event.Seq, step: last.step, event: last.event, from: last.from, status: last.status, ref: last.ref,
	}
	if g != nil {
		list = g.ordered(list)
		out.group, out.arc = g.parent, g.arc
	}
	args := map[string]value.Value{}
	joined := make([]any, len(list))
	for i, t := range list {
		maps.Copy(args, t.args)
		out.origins = append(out.origins, t.origins...)
		joined[i] = map[string]any{"from": t.from, "args": t.args, "status": t.status, "ref": t.ref}
	}
	args["joined"] = joined
	out.args = args
	return out
}

// decide says what a join does to which nothing can come any more.
func (n *Net) decide(j *tracker) {
	join, g := n.book.Steps[j.step].Join, j.group
	switch {
	case join.Mode == playbook.JoinCount:
		n.unpark(j)
		if g.parent != nil {
			g.parent.live++ // the failed branch is one of the fan-out around
		}
		n.branchFailed(g.parent, n.unsatisfied(j.step, len(j.tokens)))
	case g.failed == 0 || join.FireMiss:
		n.fire(j)
	default:
		n.unpark(j)
	}
}
