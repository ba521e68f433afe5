package net

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/results"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// router leads the token of an ended step-run to the next steps.
type router struct {
	net     *Net
	run     *stepRun
	event   map[string]any         // the event of the step's end
	failure *journal.Failure       // nil: the step succeeded
	scope   *scope                 // of the arcs
	reads   map[string]value.Value // values that the guards read, if the net is watched
}

func (n *Net) route(run *stepRun, event map[string]any, f *journal.Failure) {
	r := router{net: n, run: run, event: event, failure: f, scope: &scope{net: n, run: run, args: run.args, event: event, out: run.out}}
	r.route()
}

// route follows the arcs of an ended step whose guards hold. It evaluates all guards before any change, then applies the sets
// of the arcs in order, computes the args, and creates the tokens.
func (r *router) route() {
	n, run, f, next := r.net, r.run, r.failure, r.run.step.Next
	if n.halted != nil || next == nil || len(next.Arcs) == 0 {
		n.emit(routed.View{Name: routed.NextEvaluated, Step: run.step.Name, Run: run.key})
		r.endBranch()
		return
	}
	if n.watch != nil {
		r.reads = r.scope.readAtArcs(next)
	}
	arcs, err := next.Matching(r.scope)
	if err != nil {
		r.misroute(failure(ReasonGuard, "%v", err))
		return
	}
	n.emit(routed.View{Name: routed.NextEvaluated, Step: run.step.Name, Run: run.key, Count: len(arcs), Reads: r.reads})
	n.steps[run.step.Index].routed.Ended(run.key, n.event.Seq, arcs, nil)
	if len(arcs) == 0 {
		if f == nil && n.book.Executor.NoNextIsError {
			n.halt(at(run.key, failure(ReasonNoNext, "no arc of step %q holds", run.step.Name)))
			return
		}
		r.endBranch()
		return
	}
	for _, i := range arcs {
		if err := n.ctx.set(next.Arcs[i].Set, r.scope); err != nil {
			r.misroute(failure(ReasonGuard, "%v", err))
			return
		}
	}
	if f != nil && !slices.ContainsFunc(arcs, func(i int) bool { return next.Arcs[i].When != nil }) {
		n.blame(f) // an arc without a guard is taken, but does not handle the failure
	}
	r.emit(arcs)
}

// endBranch ends the branch of a step-run without a taken arc.
func (r *router) endBranch() {
	if r.failure != nil {
		r.net.branchFailed(r.run.group, r.failure)
		return
	}
	r.net.branchEnded(r.run.group, branchNormal)
}

// misroute ends a branch whose arcs could not be followed. An earlier failure takes precedence.
func (r *router) misroute(why *journal.Failure) {
	n, run := r.net, r.run
	why = at(run.key, why)
	n.emit(routed.View{Name: routed.NextEvaluated, Step: run.step.Name, Run: run.key, Status: "error", Failure: why, Reads: r.reads})
	n.steps[run.step.Index].routed.Ended(run.key, n.event.Seq, nil, why)
	n.branchFailed(run.group, cmp.Or(r.failure, why))
}

// emit creates a token at the end of each arc. Several tokens are a fan-out.
func (r *router) emit(arcs []int) {
	n, run := r.net, r.run
	in, arc := run.group, run.arc
	if n.fanOuts.joining && (len(arcs) > 1 || n.fanOuts.alone(run)) {
		in = n.fanOuts.openGroup(run, len(arcs))
	}
	made := make([]*token, len(arcs))
	var faults []*journal.Failure
	for k, i := range arcs {
		if in != run.group {
			arc = i
		}
		args, f := r.args(&run.step.Next.Arcs[i])
		if f != nil {
			faults = append(faults, at(run.key, f))
			continue
		}
		made[k] = &token{
			step: run.step.Next.Arcs[i].To, args: args, event: r.event, group: in, arc: arc,
			from: run.step.Name, status: r.event["status"].(string), ref: results.StepReference(n.root.Start().Run, run.key),
			origins: []string{run.key},
		}
	}
	for k, t := range made {
		if t != nil && n.halted == nil {
			n.steps[run.step.Index].routed.Put(arcs[k])
			n.put(t)
		}
	}
	for _, f := range faults {
		n.branchFailed(in, f)
	}
}

// args computes the args of a token. If they exceed the playbook's limit and results are stored, the largest values become
// references.
func (r *router) args(arc *playbook.Arc) (map[string]value.Value, *journal.Failure) {
	n := r.net
	args := map[string]value.Value{}
	if arc.Inherit {
		maps.Copy(args, r.run.args)
	}
	if arc.Args != nil {
		v, err := arc.Args.Eval(r.scope)
		if err != nil {
			return nil, failure(ReasonGuard, "%v", err)
		}
		own, ok := v.(map[string]any)
		if !ok {
			return nil, failure(ReasonGuard, "args must be an object, not %s", journal.KindOf(v))
		}
		maps.Copy(args, own)
	}
	size, most := results.Size(args), n.book.Executor.MaxArgsBytes
	if size <= most {
		return args, nil
	}
	if size > value.MaxSizeBytes {
		return nil, failure(ReasonArgs, "args to step %q cannot be written: %v", n.book.Steps[arc.To].Name, value.Fits(args, 0))
	}
	if !n.book.Executor.Store {
		return nil, failure(ReasonArgs, "args to step %q have %d bytes; %d are allowed", n.book.Steps[arc.To].Name, size, most)
	}
	fit, err := n.results.Shrink(n.root.Start().Run, args, size, most)
	n.defect(err)
	if fit {
		return args, nil
	}
	return nil, failure(ReasonArgs, "args to step %q have more than %d bytes even as references", n.book.Steps[arc.To].Name, most)
}
