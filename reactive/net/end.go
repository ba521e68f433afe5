package net

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/results"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// Codes of the failure of a playbook's run, besides the kinds of steps' errors.
const (
	ReasonGuard    = "guard_error"
	ReasonArgs     = "args_too_large"
	ReasonJoin     = "join_unsatisfied"
	ReasonNoNext   = "no_next"
	ReasonLimit    = "limit_exceeded"
	KindExpression = "expression"
	KindNoList     = "not_a_list"
	KindConflict   = "ctx_conflict"
	KindPolicy     = "policy"
	KindConfig     = "config"
	KindTimeout    = reactive.CodeTimeout
)

func failure(code, format string, args ...any) *journal.Failure {
	return &journal.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// at adds the step-run or step in which a failure began, unless the failure already names it.
func at(step string, f *journal.Failure) *journal.Failure {
	if f.Step != "" {
		return f
	}
	named := *f
	named.Step = step
	return &named
}

// tally counts the ends of step-runs and branches.
type tally struct {
	succeeded, failed int // step-runs
	normal, bad       int // branches
	discarded         int // tokens
	partial           bool
	first             *journal.Failure // the first failure that was not handled
	failures          []value.Value    // of step-runs, oldest first; at most failuresMax
	withResult        []int            // steps with a result, in the order of their first results
}

// failuresMax bounds the failures in the input of the final step.
const failuresMax = 1000

type finalState uint8

const (
	finalNone  finalState = iota // not yet
	finalToken                   // its token exists
	finalDone                    // it has ended, or there is no final step
)

// marking holds the places of tokens as signals: a run is quiet when no token can move and no step-run is in progress.
type marking struct {
	ready, live *signals.Signal[int]
	quiet       *signals.Computed[bool]
}

func (m *marking) init(g *signals.Graph) {
	m.ready, m.live = signals.NewSignal(g, 0), signals.NewSignal(g, 0)
	m.quiet = signals.NewComputed(g, func(r signals.Reader) (bool, error) {
		return m.ready.Get(r) == 0 && m.live.Get(r) == 0, nil
	})
}

// branchEnd is the way in which a branch ended.
type branchEnd uint8

const (
	branchNormal branchEnd = iota
	branchDiscarded
)

// branchEnded ends a branch that did not fail.
func (n *Net) branchEnded(g *group, how branchEnd) {
	if how == branchNormal {
		n.tally.normal++
	}
	n.fanOuts.leave(g)
}

// branchFailed ends a branch.
func (n *Net) branchFailed(g *group, f *journal.Failure) {
	if g != nil {
		g.failed++
	}
	n.blame(f)
	n.fanOuts.leave(g)
}

// blame counts a branch as failed. With the policy fail-fast, it halts the run.
func (n *Net) blame(f *journal.Failure) {
	n.tally.bad++
	if n.tally.first == nil {
		n.tally.first = f
	}
	if n.book.Executor.Completion == playbook.FailFast {
		n.halt(f)
	}
}

// halt prevents new starts, because the whole run has failed. Calls in progress end by themselves.
func (n *Net) halt(f *journal.Failure) {
	if n.halted != nil {
		return
	}
	n.halted = f
	if n.tally.first == nil {
		n.tally.first = f
	}
	n.dropTokens()
}

// tokensMax bounds the tokens that are ready to begin step-runs: if all steps lead to all, tokens multiply with each run. It
// equals the default bound of step-runs of a run.
const tokensMax = playbook.StepRunsMax

// settle checks, at the end of an event, whether the net is quiet, and if so applies the policies of the playbook or ends the
// run.
func (n *Net) settle() {
	for n.root.Started() && !n.stopped && n.root.Finished() == nil {
		if n.ready.Len() > 0 && n.final == finalNone && n.runs.scheduled >= n.book.Executor.MaxStepRuns {
			n.halt(failure(ReasonLimit, "%d step-runs, the most that the run may have", n.runs.scheduled))
		}
		if n.ready.Len() > tokensMax {
			n.halt(failure(ReasonLimit, "more than %d step-runs are to begin", tokensMax))
		}
		if !n.quiet() {
			n.waiting = false
			return
		}
		if n.gates.Len() > 0 {
			if !n.blocked() {
				return
			}
			continue // a join may have brought a token to another gate
		}
		if n.ready.Len() == 0 && !n.finalize() {
			return
		}
	}
}

// quiet reports whether no token can move and no step-run is in progress.
func (n *Net) quiet() bool {
	m := &n.marking
	n.defect(m.ready.Set(n.ready.Len()))
	n.defect(m.live.Set(len(n.runs.byKey)))
	quiet, err := m.quiet.Peek()
	n.defect(err)
	return quiet
}

// blocked applies the playbook's policy if only denied tokens are left. It reports false if the run waits for them.
func (n *Net) blocked() bool {
	switch n.onBlocked() {
	case template.BlockedFails:
		n.halt(failure(routed.CodeBlocked, "nothing opens the gates that tokens wait at: %d", n.gates.Len()))
		return true
	case template.BlockedDiscards:
		for _, t := range n.gates.All() {
			n.removePending(t)
			n.discard(t)
			if n.halted != nil { // a join that lacks the token has failed the run and dropped the rest
				break
			}
		}
		return true
	}
	if !n.waiting {
		n.waiting = true
		n.emit(routed.View{Name: routed.ExecutionWaiting, Count: n.gates.Len()})
	}
	return false
}

func (n *Net) onBlocked() playbook.OnBlocked {
	if policy := n.root.Start().OnBlocked; policy != "" {
		return playbook.OnBlocked(policy)
	}
	return n.book.Executor.OnBlocked
}

// finalize creates the final step's token, once. It reports whether it did.
func (n *Net) finalize() bool {
	i := n.book.Executor.Final
	if n.final != finalNone {
		return false
	}
	if i < 0 || n.steps[i].runs > 0 {
		n.final = finalDone
		return false
	}
	n.final = finalToken
	n.token++
	t := &token{id: n.token, step: i, args: n.summary()}
	n.emit(routed.View{Name: routed.TokenEnqueued, Step: n.book.Steps[i].Name, Token: t.id})
	t.verdict = admission{n}.Judge(t)
	n.emitVerdict(t)
	if !t.verdict.Allow {
		n.final = finalDone // it can never be admitted
		return false
	}
	n.enable(t)
	return true
}

// Done reports whether the run has ended.
func (n *Net) Done() bool {
	return n.final == finalDone && n.ready.Len() == 0 && len(n.runs.byKey) == 0 && n.gates.Len() == 0
}

// status returns the run's status from the ends of its branches, without the final step.
func (n *Net) status() reactive.RunStatus {
	c := n.book.Executor.Completion
	switch {
	case n.halted != nil:
		return reactive.RunFailed
	case c == playbook.AllowPartial && n.tally.bad > 0 && n.tally.normal == 0:
		return reactive.RunFailed
	case c == playbook.AllowPartial && (n.tally.bad > 0 || n.tally.partial):
		return reactive.RunPartial
	case n.tally.bad > 0:
		return reactive.RunFailed
	}
	return reactive.RunCompleted
}

// Verdict returns the end of the run.
func (n *Net) Verdict() reactive.Verdict {
	out := reactive.Verdict{Status: n.status(), Failure: n.tally.first, Node: -1}
	if n.finalFailure != nil && out.Status != reactive.RunFailed {
		out.Status = reactive.RunFailed
		if n.book.Executor.FinalFailure == playbook.FinalPartial {
			out.Status = reactive.RunPartial
		}
		if out.Failure == nil {
			out.Failure = n.finalFailure
		}
	}
	if n.err != nil {
		return reactive.Verdict{Status: reactive.RunFailed, Failure: failure("internal", "%v", n.err), Node: -1}
	}
	if out.Status != reactive.RunFailed {
		out.Output = n.results.Whole(n.last)
		if err := value.Fits(out.Output, 0); err != nil { // such as the list of a loop whose results nest as deep as possible
			return reactive.Verdict{Status: reactive.RunFailed, Failure: failure(reactive.CodeOutputResolution, "%v", err), Node: -1}
		}
	}
	if out.Status == reactive.RunCompleted {
		out.Failure = nil
	}
	return out
}

// summary returns the input of the final step: counts, and references to results in place of the results.
func (n *Net) summary() map[string]value.Value {
	id := n.root.Start().Run
	list := make([]any, len(n.tally.withResult))
	for i, step := range n.tally.withResult {
		name := n.book.Steps[step].Name
		list[i] = map[string]any{"step": name, "ref": results.StepReference(id, n.steps[step].from)}
	}
	return map[string]value.Value{
		"execution_id": id,
		"status":       string(n.status()),
		"counts": map[string]any{
			"steps_run": int64(n.runs.scheduled), "succeeded": int64(n.tally.succeeded), "failed": int64(n.tally.failed),
			"branches": map[string]any{
				"normal": int64(n.tally.normal), "failed": int64(n.tally.bad), "discarded": int64(n.tally.discarded),
			},
			"tokens_pending": int64(n.gates.Len()),
		},
		"results":  list,
		"failures": append([]any{}, n.tally.failures...),
	}
}
