package net

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// route looks at the arcs of a step that has ended, and puts tokens at the ends of those that hold. All guards are read
// before anything changes; then the arcs' sets are done in their order, then the args are made, then the tokens.
func (n *Net) route(run *stepRun, event map[string]any, f *journal.Failure) {
	next := run.step.Next
	if n.halted != nil || next == nil || len(next.Arcs) == 0 {
		n.tell(View{Name: NextEvaluated, Step: run.step.Name, Run: run.key})
		n.endBranch(run, f)
		return
	}
	s := &scope{net: n, run: run, args: run.args, event: event, out: run.out}
	reads := n.readAtArcs(next, s)
	arcs, err := matching(next, s)
	if err != nil {
		n.misroute(run, f, failure(ReasonGuard, "%v", err), reads)
		return
	}
	n.tell(View{Name: NextEvaluated, Step: run.step.Name, Run: run.key, Count: len(arcs), Reads: reads})
	n.steps[run.step.Index].routed = Routed{Run: run.key, Seq: n.event.Seq, Arcs: arcs}
	if len(arcs) == 0 {
		if f == nil && n.book.Executor.NoNextIsError {
			n.halt(at(run.key, failure(ReasonNoNext, "no arc of step %q holds", run.step.Name)))
			return
		}
		n.endBranch(run, f)
		return
	}
	for _, i := range arcs {
		if err := n.set(next.Arcs[i].Set, s); err != nil {
			n.misroute(run, f, failure(ReasonGuard, "%v", err), reads)
			return
		}
	}
	if f != nil && !slices.ContainsFunc(arcs, func(i int) bool { return next.Arcs[i].When != nil }) {
		n.blame(f) // an arc without a guard goes on, but does not mend the failure
	}
	n.emit(run, arcs, event, s)
}

// endBranch ends the branch of a run whose step leads nowhere.
func (n *Net) endBranch(run *stepRun, f *journal.Failure) {
	if f != nil {
		n.branchFailed(run.group, f)
		return
	}
	n.branchEnded(run.group, branchNormal)
}

// misroute ends a branch whose arcs could not be followed. A failure that was there before goes first.
func (n *Net) misroute(run *stepRun, f, why *journal.Failure, reads map[string]value.Value) {
	why = at(run.key, why)
	n.tell(View{Name: NextEvaluated, Step: run.step.Name, Run: run.key, Status: "error", Failure: why, Reads: reads})
	n.steps[run.step.Index].routed = Routed{Run: run.key, Seq: n.event.Seq, Failure: why}
	n.branchFailed(run.group, cmp.Or(f, why))
}

// matching gives the arcs that tokens leave by: the first that holds, or, where the router is inclusive, all that do.
func matching(next *playbook.Next, s *scope) ([]int, error) {
	var list []int
	for i := range next.Arcs {
		yes := next.Arcs[i].When == nil
		if !yes {
			var err error
			if yes, err = next.Arcs[i].When.EvalBool(s); err != nil {
				return nil, err
			}
		}
		if yes {
			list = append(list, i)
			if !next.Inclusive {
				break
			}
		}
	}
	return list, nil
}

// emit puts a token at the end of each arc. Several are a fan-out.
func (n *Net) emit(run *stepRun, arcs []int, event map[string]any, s *scope) {
	in, arc := run.group, run.arc
	if len(arcs) > 1 && n.joining {
		in = n.openGroup(run, len(arcs))
	}
	made := make([]*token, len(arcs))
	var faults []*journal.Failure
	for k, i := range arcs {
		if len(arcs) > 1 {
			arc = i
		}
		args, f := n.args(&run.step.Next.Arcs[i], run, s)
		if f != nil {
			faults = append(faults, at(run.key, f))
			continue
		}
		made[k] = &token{
			step: run.step.Next.Arcs[i].To, args: args, event: event, group: in, arc: arc,
			from: run.step.Name, status: event["status"].(string), ref: reference(n.root.Start().Run, run.key),
			origins: []string{run.key},
		}
	}
	for _, t := range made {
		if t != nil && n.halted == nil {
			n.put(t)
		}
	}
	for _, f := range faults {
		n.branchFailed(in, f)
	}
}

// args makes what a token carries. Where that is more than the playbook allows, the largest values become references, if
// results are stored at all.
func (n *Net) args(arc *playbook.Arc, run *stepRun, s *scope) (map[string]value.Value, *journal.Failure) {
	args := map[string]value.Value{}
	if arc.Inherit {
		maps.Copy(args, run.args)
	}
	if arc.Args != nil {
		v, err := arc.Args.Eval(s)
		if err != nil {
			return nil, failure(ReasonGuard, "%v", err)
		}
		own, ok := v.(map[string]any)
		if !ok {
			return nil, failure(ReasonGuard, "args must be an object, not %s", kindOf(v))
		}
		maps.Copy(args, own)
	}
	size, most := sizeOf(args), n.book.Executor.MaxArgsBytes
	if size <= most {
		return args, nil
	}
	if size > value.MaxSizeBytes {
		return nil, failure(ReasonArgs, "args to step %q cannot be written: %v", n.book.Steps[arc.To].Name, value.Fits(args, 0))
	}
	if !n.book.Executor.Store {
		return nil, failure(ReasonArgs, "args to step %q have %d bytes; %d are allowed", n.book.Steps[arc.To].Name, size, most)
	}
	sizes := make(map[string]int, len(args))
	for k, v := range args {
		sizes[k] = sizeOf(v)
	}
	keys := slices.Sorted(maps.Keys(args))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	for _, k := range keys {
		args[k] = n.stored(args[k], nil)
		if size += sizeOf(args[k]) - sizes[k]; size <= most {
			return args, nil
		}
	}
	return nil, failure(ReasonArgs, "args to step %q have more than %d bytes even as references", n.book.Steps[arc.To].Name, most)
}

// sizeOf is the length of a value as canonical JSON; more than any has, where it nests too deep to be written.
func sizeOf(v value.Value) int {
	size, err := value.JSONSize(v)
	if err != nil {
		return value.MaxSizeBytes + 1
	}
	return size
}

// reference names a result of a step-run.
func reference(run, key string) string { return "sluice://run/" + run + "/step/" + key }

// stored puts a value into the run's result store, and gives the reference that stands for it. The store follows from the
// journal, as everything here does, and equal values share an entry.
func (n *Net) stored(v value.Value, fields []playbook.Select) value.Value {
	text, err := value.JSON(v)
	n.defect(err)
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	ref := fmt.Sprintf("sluice://run/%s/result/%s", n.root.Start().Run, digest)
	n.store[ref] = v
	extracted := map[string]any{}
	for _, f := range fields {
		extracted[f.As], _ = value.Pointer(f.Path).Lookup(v) // null where there is none
	}
	return map[string]any{
		"kind": resultRef, "ref": ref, "store": "journal", "scope": "execution",
		"meta":      map[string]any{"bytes": int64(len(text)), "sha256": digest, "content_type": "application/json"},
		"extracted": extracted,
	}
}

// Stored gives a value of the run's result store by its reference.
func (n *Net) Stored(ref string) (value.Value, bool) {
	v, ok := n.store[ref]
	return v, ok
}

// keep puts a result that is larger than its task allows into the store; one that was just taken from there stays.
func (n *Net) keep(out *outcome) {
	if r := out.task.Result; r != nil && !out.task.Resolves() && out.failure == nil && sizeOf(out.result) > r.InlineMax {
		out.result = n.stored(out.result, r.Select)
	}
}
