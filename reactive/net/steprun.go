package net

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/ended"
	"github.com/sluiceflow/sluice/reactive/net/variables"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// stepRun is one run of a step, from taking a token to following its arcs.
type stepRun struct {
	step    *playbook.Step
	key     string // its name in journals: <step>@<number>
	order   uint64 // id of its token
	args    map[string]value.Value
	event   value.Value
	group   *group
	arc     int
	began   int64
	input   value.Value
	noInput error                // error of rendering the input, for a step that renders it for each iteration
	vars    variables.Vars       // the step's own scope
	writes  *variables.Writes    // of the iterations of a parallel loop, or nil
	items   []any                // of its loop
	next    int                  // index of the next item to start
	width   int                  // maximum of concurrent iterations
	iters   map[int32]*iteration // in progress
	results []any                // of its loop, by index
	done    int                  // iterations that succeeded
	failed  int                  // iterations that failed
	failure *journal.Failure     // of the first failed iteration, if it ends the loop
	result  value.Value
	out     *ended.Task    // of the last task
	labeled variables.Vars // results of the last ended iteration, by task
}

// stepRuns are the step-runs in progress.
type stepRuns struct {
	net       *Net
	byKey     map[string]*stepRun
	scheduled int // so far
}

// live returns the step-runs in progress, in the order of scheduling.
func (r *stepRuns) live() []*stepRun {
	list := make([]*stepRun, 0, len(r.byKey))
	for _, run := range r.byKey {
		list = append(list, run)
	}
	slices.SortFunc(list, func(a, b *stepRun) int { return cmp.Compare(a.order, b.order) })
	return list
}

// schedule starts a run of a step with its oldest ready token.
func (r *stepRuns) schedule() {
	if r.net.ready.Len() == 0 {
		return
	}
	t := r.net.ready.pop()
	s := r.net.touch(t.step)
	s.ready--
	s.runs++
	s.live++
	s.status = reactive.Running
	if r.net.final == finalNone {
		r.scheduled++
	}
	step := r.net.book.Steps[t.step]
	run := &stepRun{
		step: step, key: key(step.Name, s.runs), order: t.id, args: t.args, event: t.event, group: t.group, arc: t.arc,
		began: r.net.event.At, iters: map[int32]*iteration{},
	}
	r.byKey[run.key] = run
	r.net.emit(routed.View{Name: routed.StepScheduled, Step: step.Name, Run: run.key, Token: t.id, Runs: t.origins})
	if len(step.Tasks) == 0 && step.Loop == nil {
		r.endRun(run, nil)
		return
	}
	r.net.emit(routed.View{Name: routed.StepStarted, Step: step.Name, Run: run.key})
	if step.Timeout > 0 {
		r.net.timers.add(&timer{due: call.After(run.began, step.Timeout), run: run})
	}
	r.start(run)
}

// start begins the iterations of a run: one, or the iterations of its loop.
func (r *stepRuns) start(run *stepRun) {
	if run.step.Input != nil {
		in, err := run.step.Input.Eval(&scope{net: r.net, run: run, args: run.args})
		if err != nil && !run.step.Renders {
			r.endRun(run, failure(KindExpression, "%v", err))
			return
		}
		run.input, run.noInput = in, err
	}
	if run.step.Loop == nil {
		it := &iteration{run: run, call: noCall}
		run.iters[0] = it
		r.net.pipelines.todo = append(r.net.pipelines.todo, it)
		return
	}
	if f := r.openLoop(run); f != nil {
		r.endRun(run, f)
		return
	}
	r.net.emit(routed.View{Name: routed.LoopStarted, Step: run.step.Name, Run: run.key, Count: len(run.items)})
	r.fill(run)
}

// openLoop evaluates the items of a loop and the number of its concurrent iterations.
func (r *stepRuns) openLoop(run *stepRun) *journal.Failure {
	loop := run.step.Loop
	s := &scope{net: r.net, run: run, args: run.args}
	list, err := loop.In.Eval(s)
	if err != nil {
		return failure(KindExpression, "%v", err)
	}
	items, ok := list.([]any)
	if !ok {
		return failure(KindNoList, "a loop needs a list, not %s", journal.KindOf(list))
	}
	if most := int(r.net.root.Start().MapItemsMax); most > 0 && len(items) > most {
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

// fill starts iterations of a loop up to its width, and ends the loop after the last.
func (r *stepRuns) fill(run *stepRun) {
	for run.failure == nil && run.next < len(run.items) && len(run.iters) < run.width {
		i := run.next
		run.next++
		it := &iteration{
			run: run, index: int32(i), call: noCall,
			vars: variables.Of(map[string]value.Value{run.step.Loop.Iterator: run.items[i], "index": int64(i)}),
		}
		if run.step.Loop.Parallel {
			it.ctx = r.net.ctx.Copied()
		}
		run.iters[it.index] = it
		r.net.emit(routed.View{Name: routed.IterationScheduled, Step: run.step.Name, Run: run.key, Iteration: i + 1})
		r.net.emit(routed.View{Name: routed.IterationStarted, Step: run.step.Name, Run: run.key, Iteration: i + 1})
		r.net.pipelines.todo = append(r.net.pipelines.todo, it)
	}
	if len(run.iters) == 0 {
		r.endRun(run, run.failure)
	}
}

// endIteration ends one iteration and continues its loop.
func (r *stepRuns) endIteration(it *iteration, f *journal.Failure) {
	run := it.run
	r.net.pipelines.closeCall(it)
	delete(run.iters, it.index)
	run.out, run.labeled = it.out, it.results.Copied()
	if run.step.Loop == nil {
		run.result = it.prev
		r.endRun(run, f)
		return
	}
	v := routed.View{Name: routed.IterationDone, Step: run.step.Name, Run: run.key, Iteration: int(it.index) + 1}
	if f == nil {
		run.done++
		run.results[it.index] = it.prev
	} else {
		run.failed++
		v.Name, v.Failure = routed.IterationFailed, f
		if !run.step.BestEffort && run.failure == nil {
			run.failure = f
		}
	}
	r.net.emit(v)
	r.fill(run)
}

// endRun ends a run of a step and routes its token.
func (r *stepRuns) endRun(run *stepRun, f *journal.Failure) {
	step := run.step
	if step.Loop != nil {
		run.result = run.results
	}
	if f == nil && len(step.Set) > 0 {
		s := &scope{net: r.net, run: run, args: run.args, out: run.out, ended: true}
		if err := r.net.ctx.set(step.Set, s); err != nil {
			f = failureOf(err)
		}
	}
	delete(r.byKey, run.key)
	s := r.net.touch(step.Index)
	s.live--
	event := map[string]any{
		"step": step.Name, "step_run_id": run.key, "name": string(routed.StepDone), "status": "done", "result": run.result,
		"error": nil, "loop": nil,
	}
	if step.Loop != nil {
		event["loop"] = map[string]any{
			"total": int64(len(run.items)), "done": int64(run.done), "failed": int64(run.failed),
		}
	}
	if f == nil {
		r.succeeded(run, s, event)
	} else {
		event["error"] = ended.Error(f) // guards, like rules, may read its code
		f = at(run.key, ended.Kinded(f))
		r.failedRun(run, s, event, f)
	}
	if r.net.final == finalToken {
		r.net.final, r.net.finalFailure = finalDone, f
		return
	}
	r.net.route(run, event, f)
}

func (r *stepRuns) succeeded(run *stepRun, s *stepState, event map[string]any) {
	s.status, s.result, s.from = reactive.Completed, run.result, run.key
	r.net.last = run.result
	if r.net.book.Jinja {
		r.net.gates.Touch(run.step.Name) // guards may read results by the names of steps
	}
	r.net.tally.succeeded++
	r.net.tally.partial = r.net.tally.partial || run.failed > 0
	if !s.hasResult && run.result != nil {
		s.hasResult = true
		r.net.tally.withResult = append(r.net.tally.withResult, run.step.Index)
	}
	if run.step.Loop != nil {
		event["name"] = string(routed.LoopDone)
		r.net.emit(routed.View{Name: routed.LoopDone, Step: run.step.Name, Run: run.key, Count: len(run.items)})
	}
	r.net.emit(routed.View{Name: routed.StepDone, Step: run.step.Name, Run: run.key})
}

func (r *stepRuns) failedRun(run *stepRun, s *stepState, event map[string]any, f *journal.Failure) {
	s.status, s.failure = reactive.Failed, f
	r.net.tally.failed++
	if len(r.net.tally.failures) < failuresMax {
		r.net.tally.failures = append(r.net.tally.failures, map[string]any{
			"step": run.step.Name, "step_run_id": run.key, "kind": f.Code, "message": f.Message,
		})
	}
	event["name"], event["status"] = string(routed.StepFailed), "failed"
	r.net.emit(routed.View{Name: routed.StepFailed, Step: run.step.Name, Run: run.key, Failure: f})
}

// timeout ends a run at its timeout.
func (r *stepRuns) timeout(run *stepRun) {
	r.cut(run, failure(KindTimeout, "the step has taken longer than %s", run.step.Timeout))
}

// abortion returns the failure of a step-run that a command has stopped.
func abortion(e *journal.Event) *journal.Failure {
	f := &journal.Failure{Code: reactive.CodeAborted}
	if e.Detail != nil {
		f.Message = e.Detail.Reason
	}
	return f
}

// Live reports whether a step-run is in progress, by its key.
func (n *Net) Live(key string) bool { return n.runs.byKey[key] != nil }

// cut ends a run from outside. It stops the calls of the run, and evaluates no rules of its tasks.
func (r *stepRuns) cut(run *stepRun, f *journal.Failure) {
	for _, i := range slices.Sorted(maps.Keys(run.iters)) {
		r.net.pipelines.closeCall(run.iters[i])
	}
	run.iters = nil
	r.endRun(run, f)
}
