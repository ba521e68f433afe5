package net

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// group is a fan-out that is under way: the branches that one inclusive router has opened. It counts those that may still
// arrive at a join, so a join needs to know nothing of the graph, and cycles inside a branch are no matter.
//
//	router ──▶ b ──▶ d (join)         live: tokens and step-runs of the group, and groups opened by one of them
//	       ──▶ c ──▶ d                joins: what has arrived at d
type group struct {
	parent *group // the fan-out that its router's run belongs to; nil: none
	arc    int    // by which that run's branch left the parent's router
	live   int
	failed int // branches that ended failed
	joins  []*tracker
}

// tracker is what has arrived of one group at one join.
type tracker struct {
	group  *group
	step   int
	tokens []*token
	fired  bool
}

func (g *group) join(step int) *tracker {
	for _, j := range g.joins {
		if j.step == step {
			return j
		}
	}
	j := &tracker{group: g, step: step}
	g.joins = append(g.joins, j)
	return j
}

// park takes a token that has arrived at a join.
func (n *Net) park(t *token) {
	join := n.book.Steps[t.step].Join
	if t.group == nil {
		n.arriveAlone(t, join)
		return
	}
	j := t.group.join(t.step)
	if !j.fired {
		j.tokens = append(j.tokens, t)
		n.joins[j] = true
		n.steps[t.step].parked++
		n.marking.parked++
		if join.Mode == playbook.JoinAny || join.Mode == playbook.JoinCount && len(j.tokens) == join.N {
			n.fire(t.group, j)
		}
	}
	n.leave(t.group)
}

// arriveAlone takes a token that belongs to no fan-out: nobody else can arrive.
func (n *Net) arriveAlone(t *token, join *playbook.Join) {
	if join.Mode == playbook.JoinCount && join.N > 1 {
		n.branchFailed(nil, unsatisfied(1, join.N))
		return
	}
	n.admit(n.merged([]*token{t}, nil, 0))
}

func unsatisfied(arrived, wanted int) *journal.Failure {
	return failure(ReasonJoin, "%d of %d branches have arrived, and no other can", arrived, wanted)
}

// fire merges what has arrived at a join into one token, which goes on in the fan-out around the group.
func (n *Net) fire(g *group, j *tracker) {
	j.fired = true
	n.unpark(j)
	t := n.merged(j.tokens, g.parent, g.arc)
	j.tokens = nil
	if g.parent != nil {
		g.parent.live++
	}
	n.admit(t)
}

func (n *Net) unpark(j *tracker) {
	n.steps[j.step].parked -= int32(len(j.tokens))
	n.marking.parked -= len(j.tokens)
	delete(n.joins, j)
}

// merged is the token that several make. Their args are laid over each other in the order of the arcs by which their
// branches left the router.
func (n *Net) merged(list []*token, in *group, arc int) *token {
	last := list[len(list)-1]
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *token) int { return cmp.Compare(a.arc, b.arc) })
	args := map[string]value.Value{}
	joined := make([]any, len(list))
	for i, t := range list {
		maps.Copy(args, t.args)
		joined[i] = map[string]any{"from": t.from, "args": t.args, "status": t.status, "ref": t.ref}
	}
	args["joined"] = joined
	n.token++
	return &token{
		id: n.token, since: n.event.Seq, step: last.step, args: args, event: last.event, group: in, arc: arc,
		from: last.from, status: last.status, ref: last.ref,
	}
}

// leave takes one live member out of a group. With the last of them the joins decide.
func (n *Net) leave(g *group) {
	if g == nil || n.halted != nil || n.stopped {
		return
	}
	g.live--
	if g.live > 0 {
		return
	}
	fired := false
	for _, j := range g.joins {
		if !j.fired {
			n.decide(g, j)
		}
		if n.halted != nil {
			return // nothing goes on any more
		}
		fired = fired || j.fired
	}
	if g.failed > 0 && !fired && g.parent != nil {
		g.parent.failed++
	}
	n.leave(g.parent)
}

// decide says what a join does to which nobody can come any more.
func (n *Net) decide(g *group, j *tracker) {
	join := n.book.Steps[j.step].Join
	switch {
	case join.Mode == playbook.JoinCount:
		n.unpark(j)
		if g.parent != nil {
			g.parent.live++ // the failed branch is one of the fan-out around
		}
		n.branchFailed(g.parent, unsatisfied(len(j.tokens), join.N))
	case g.failed == 0 || join.FireMiss:
		n.fire(g, j)
	default:
		n.unpark(j)
	}
}
