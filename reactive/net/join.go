package net

import (
	"maps"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// tracker holds the tokens at one join that belong to one group or its nested groups.
type tracker struct {
	group  *group // group that the join belongs to
	step   int
	tokens []*token
	fired  bool
}

// hold holds a token that has arrived at a join.
func (f *fanOuts) hold(t *token) {
	join := f.net.book.Steps[t.step].Join
	j := f.tracker(t.group, t.step)
	if j == nil {
		f.arriveAlone(t, join)
		return
	}
	if !j.fired {
		j.tokens = append(j.tokens, t)
		f.joins[j] = true
		f.net.touch(t.step).held++
		if join.Mode == playbook.JoinAny || join.Mode == playbook.JoinCount && len(j.tokens) == join.N {
			f.fire(j)
		}
	}
	f.leave(t.group)
}

// arriveAlone handles a token that belongs to no fan-out of several tokens: no other can arrive.
func (f *fanOuts) arriveAlone(t *token, join *playbook.Join) {
	if join.Mode == playbook.JoinCount && join.N > 1 {
		f.net.branchFailed(t.group, f.unsatisfied(t.step, 1))
		return
	}
	out := f.merged([]*token{t}, nil)
	out.group, out.arc = t.group, t.arc
	f.net.admit(out)
}

func (f *fanOuts) unsatisfied(step, arrived int) *journal.Failure {
	s := f.net.book.Steps[step]
	return at(s.Name, failure(ReasonJoin, "%d of %d branches have arrived, and no other can", arrived, s.Join.N))
}

// fire merges the tokens at a join into one, which continues in the fan-out around the group.
func (f *fanOuts) fire(j *tracker) {
	j.fired = true
	f.release(j)
	t := f.merged(j.tokens, j.group)
	j.tokens = nil
	if t.group != nil {
		t.group.live++
	}
	f.net.admit(t)
}

func (f *fanOuts) release(j *tracker) {
	f.net.touch(j.step).held -= int32(len(j.tokens))
	delete(f.joins, j)
}

// merged returns the token that merges several tokens of a group and its nested groups; g is nil for a token outside all groups. Their
// args are merged in the order of the arcs.
func (f *fanOuts) merged(list []*token, g *group) *token {
	last := list[len(list)-1]
	f.net.token++
	out := &token{
		id: f.net.token, since: f.net.event.Seq, step: last.step, event: last.event, from: last.from, status: last.status, ref: last.ref,
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

// decide decides a join at which no more tokens can arrive.
func (f *fanOuts) decide(j *tracker) {
	join, g := f.net.book.Steps[j.step].Join, j.group
	switch {
	case join.Mode == playbook.JoinCount:
		f.release(j)
		if g.parent != nil {
			g.parent.live++ // the failed branch belongs to the surrounding fan-out
		}
		f.net.branchFailed(g.parent, f.unsatisfied(j.step, len(j.tokens)))
	case g.failed == 0 || join.FireMiss:
		f.fire(j)
	default:
		f.release(j)
	}
}
