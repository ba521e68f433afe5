package net

import (
	"maps"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/outcome"
	"github.com/sluiceflow/sluice/reactive/net/variables"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// stepRun is one run of a step, from the token that it takes to the arcs it leaves by.
type stepRun struct {
	step    *playbook.Step
	key     string // its name in journals: <step>@<number>
	order   uint64 // the id of its token: in the order of scheduling
	args    map[string]value.Value
	event   value.Value
	group   *group
	arc     int
	began   int64
	input   value.Value
	noInput error                // why it could not be rendered, of a step whose input is rendered for each iteration
	vars    variables.Vars       // the step's own scope
	writes  *variables.Writes    // of a parallel loop's iterations; else nil
	items   []any                // of its loop
	next    int                  // item to be started next
	width   int                  // iterations at once
	iters   map[int32]*iteration // under way
	results []any                // of its loop, by index
	done    int                  // iterations that succeeded
	failed  int                  // iterations that failed
	failure *journal.Failure     // of the first failed iteration, where that ends the loop
	result  value.Value
	out     *outcome.Outcome // of the task that ran last
	labeled variables.Vars   // results of the iteration that ended last, by task
}

// schedule has the oldest admitted token taken by a run of its step.
func (n *Net) schedule() {
	if n.ready.Len() == 0 {
		return
	}
	t := n.ready.pop()
	s := &n.steps[t.step]
	s.runs++
	s.live++
	s.status = reactive.Running
	if n.final == finalNone {
		n.stepRuns++
	}
	step := n.book.Steps[t.step]
	run := &stepRun{
		step: step, key: key(step.Name, s.runs), order: t.id, args: t.args, event: t.event, group: t.group, arc: t.arc,
		began: n.event.At, iters: map[int32]*iteration{},
	}
	n.runs[run.key] = run
	n.tell(View{Name: StepScheduled, Step: step.Name, Run: run.key, Token: t.id, Runs: t.origins})
	if len(step.Tasks) == 0 && step.Loop == nil {
		n.endRun(run, nil)
		return
	}
	n.tell(View{Name: StepStarted, Step: step.Name, Run: run.key})
	if step.Timeout > 0 {
		n.addTimer(&timer{due: call.After(run.began, step.Timeout), run: run})
	}
	n.start(run)
}

// start begins a run's iterations: one, or those of its loop.
func (n *Net) start(run *stepRun) {
	if run.step.Input != nil {
		in, err := run.step.Input.Eval(&scope{net: n, run: run, args: run.args})
		if err != nil && !run.step.Renders {
			n.endRun(run, failure(KindExpression, "%v", err))
			return
		}
		run.input, run.noInput = in, err
	}
	if run.step.Loop == nil {
		it := &iteration{run: run, cell: noCell}
		run.iters[0] = it
		n.todo = append(n.todo, it)
		return
	}
	if f := n.openLoop(run); f != nil {
		n.endRun(run, f)
		return
	}
	n.tell(View{Name: LoopStarted, Step: run.step.Name, Run: run.key, Count: len(run.items)})
	n.fill(run)
}

// openLoop evaluates what a loop goes over, and how many iterations of it at once.
func (n *Net) openLoop(run *stepRun) *journal.Failure {
	loop := run.step.Loop
	s := &scope{net: n, run: run, args: run.args}
	list, err := loop.In.Eval(s)
	if err != nil {
		return failure(KindExpression, "%v", err)
	}
	items, ok := list.([]any)
	if !ok {
		return failure(KindNoList, "a loop needs a list, not %s", outcome.KindOf(list))
	}
	if most := int(n.root.Start().MapItemsMax); most > 0 && len(items) > most {
		return failure(ReasonLimit, "a list of %d items; a loop may have %d", len(items), most)
	}
	run.items, run.results = items, make([]any, len(items))
	run.width = 1
	if !loop.Parallel {
		return nil
	}
	run.writes, run.width = &variables.Writes{}, len(items)
	if loop.MaxInFlight == nil {
		return nil
	}
	width, err := loop.MaxInFlight.Eval(s)
	if err != nil {
		return failure(KindExpression, "%v", err)
	}
	count, ok := integer(width)
	if !ok || count < 1 {
		return failure(KindConfig, "max_in_flight must be a whole number of at least 1, not %s", value.Text(width))
	}
	run.width = int(min(count, int64(len(items))))
	return nil
}

func integer(v value.Value) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case string:
		i, err := strconv.ParseInt(v, 10, 64)
		return i, err == nil
	}
	return 0, false
}

// fill starts iterations of a loop as far as its width goes, and ends the loop after the last.
func (n *Net) fill(run *stepRun) {
	for run.failure == nil && run.next < len(run.items) && len(run.iters) < run.width {
		i := run.next
		run.next++
		it := &iteration{
			run: run, index: int32(i), cell: noCell,
			vars: variables.Of(map[string]value.Value{run.step.Loop.Iterator: run.items[i], "index": int64(i)}),
		}
		if run.step.Loop.Parallel {
			it.ctx = n.ctx.Copied()
		}
		run.iters[it.index] = it
		n.tell(View{Name: IterationScheduled, Step: run.step.Name, Run: run.key, Iteration: i + 1})
		n.tell(View{Name: IterationStarted, Step: run.step.Name, Run: run.key, Iteration: i + 1})
		n.todo = append(n.todo, it)
	}
	if len(run.iters) == 0 {
		n.endRun(run, run.failure)
	}
}

// endIteration ends one iteration, and goes on with its loop.
func (n *Net) endIteration(it *iteration, f *journal.Failure) {
	run := it.run
	n.closeCell(it)
	delete(run.iters, it.index)
	run.out, run.labeled = it.out, it.results.Copied()
	if run.step.Loop == nil {
		run.result = it.prev
		n.endRun(run, f)
		return
	}
	v := View{Name: IterationDone, Step: run.step.Name, Run: run.key, Iteration: int(it.index) + 1}
	if f == nil {
		run.done++
		run.results[it.index] = it.prev
	} else {
		run.failed++
		v.Name, v.Failure = IterationFailed, f
		if !run.step.BestEffort && run.failure == nil {
			run.failure = f
		}
	}
	n.tell(v)
	n.fill(run)
}

// endRun ends a run of a step, and routes what comes after it.
func (n *Net) endRun(run *stepRun, f *journal.Failure) {
	step := run.step
	if step.Loop != nil {
		run.result = run.results
	}
	if f == nil && len(step.Set) > 0 {
		s := &scope{net: n, run: run, args: run.args, out: run.out, ended: true}
		if err := n.set(step.Set, s); err != nil {
			f = failureOf(err)
		}
	}
	delete(n.runs, run.key)
	s := &n.steps[step.Index]
	s.live--
	event := map[string]any{
		"step": step.Name, "step_run_id": run.key, "name": string(StepDone), "status": "done", "result": run.result,
		"error": nil, "loop": nil,
	}
	if step.Loop != nil {
		event["loop"] = map[string]any{
			"total": int64(len(run.items)), "done": int64(run.done), "failed": int64(run.failed),
		}
	}
	if f == nil {
		n.succeeded(run, s, event)
	} else {
		event["error"] = outcome.Error(f) // guards may ask for its code too, as rules may
		f = at(run.key, outcome.Kinded(f))
		n.failedRun(run, s, event, f)
	}
	if n.final == finalToken {
		n.final, n.finalFailure = finalDone, f
		return
	}
	n.route(run, event, f)
}

func (n *Net) succeeded(run *stepRun, s *stepState, event map[string]any) {
	s.status, s.result, s.from = reactive.Completed, run.result, run.key
	n.last = run.result
	if n.book.Jinja {
		n.gates.Touch(run.step.Name) // where guards read results by their names
	}
	n.tally.succeeded++
	n.tally.partial = n.tally.partial || run.failed > 0
	if !s.gave && run.result != nil {
		s.gave = true
		n.tally.given = append(n.tally.given, run.step.Index)
	}
	if run.step.Loop != nil {
		event["name"] = string(LoopDone)
		n.tell(View{Name: LoopDone, Step: run.step.Name, Run: run.key, Count: len(run.items)})
	}
	n.tell(View{Name: StepDone, Step: run.step.Name, Run: run.key})
}

func (n *Net) failedRun(run *stepRun, s *stepState, event map[string]any, f *journal.Failure) {
	s.status, s.failure = reactive.Failed, f
	n.tally.failed++
	if len(n.tally.failures) < failuresMax {
		n.tally.failures = append(n.tally.failures, map[string]any{
			"step": run.step.Name, "step_run_id": run.key, "kind": f.Code, "message": f.Message,
		})
	}
	event["name"], event["status"] = string(StepFailed), "failed"
	n.tell(View{Name: StepFailed, Step: run.step.Name, Run: run.key, Failure: f})
}

// timeout ends a run whose time is over.
func (n *Net) timeout(run *stepRun) {
	n.cut(run, failure(KindTimeout, "the step has taken longer than %s", run.step.Timeout))
}

// abortion is what a step-run that somebody has stopped fails with.
func abortion(e *journal.Event) *journal.Failure {
	f := &journal.Failure{Code: reactive.CodeAborted}
	if e.Detail != nil {
		f.Message = e.Detail.Reason
	}
	return f
}

// Live reports whether a step-run is under way, by its key.
func (n *Net) Live(key string) bool { return n.runs[key] != nil }

// cut ends a run from outside. Its calls are stopped, and no task's rules are asked.
func (n *Net) cut(run *stepRun, f *journal.Failure) {
	for _, i := range slices.Sorted(maps.Keys(run.iters)) {
		n.closeCell(run.iters[i])
	}
	run.iters = nil
	n.endRun(run, f)
}
