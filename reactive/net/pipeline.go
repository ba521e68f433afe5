package net

import (
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/ended"
	"github.com/sluiceflow/sluice/reactive/net/variables"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// noCall is the call of an iteration without a call.
const noCall = -1

// iteration is one passage through a step's pipeline.
//
//	pc ──▶ task ──▶ outcome ──▶ rule ──▶ sets ──▶ continue │ retry │ jump │ break │ fail
type iteration struct {
	run     *stepRun
	index   int32          // of its item
	vars    variables.Vars // its scope
	ctx     variables.Vars // of a parallel loop: the context at the start of the iteration, with its own writes
	pc      int            // index of the task
	entered bool           // the task has begun
	tries   int            // attempts of the task since control reached it
	judged  int32          // attempts of the call that were judged
	visits  []int32        // by task: number of visits
	input   value.Value    // of its step
	begun   bool           // its input is set
	call    int32          // node of its call; noCall: none
	began   int64          // instant of the attempt's request
	wake    int64          // instant of the retry of a task without a call; 0: none
	prev    value.Value
	results variables.Vars // by task
	out     *ended.Task
}

// apart reports whether the iteration has a separate context, because other iterations run in parallel.
func (it *iteration) apart() bool { return it.run.step.Loop != nil && it.run.step.Loop.Parallel }

// task returns the task that has control.
func (it *iteration) task() *playbook.Task { return it.run.step.Tasks[it.pc] }

// key returns the name of the call of the current task. Every visit of a task is a separate call.
func (it *iteration) key() string {
	k := it.run.key
	if it.run.step.Loop != nil {
		k += "[" + strconv.Itoa(int(it.index)) + "]"
	}
	k += "." + it.task().Label
	if v := it.visits[it.pc]; v > 1 {
		k += "~" + strconv.Itoa(int(v))
	}
	return k
}

// pipelines are the iterations in progress, and the work of the current event.
type pipelines struct {
	net      *Net
	byCall   map[int32]*iteration
	todo     []*iteration // to continue in this event, or in later ones if the work is too much
	begun    int          // work before this event
	attempts int          // number of attempts that ended in this event
	more     int64        // instant at which the rest of todo continues; 0: none
	jumps    int
}

// taskWork is the work of one task of an iteration besides its expressions.
const taskWork = 100

// attemptWork is the additional work of one attempt of a task, for its views, in runs that bound the work of an event.
const attemptWork = 300

// work continues every iteration that can proceed, until all wait or the event has caused enough work.
func (p *pipelines) work() {
	for {
		for len(p.todo) > 0 && !p.enough() { // a loop may add an entry for every removed one, so entries must not accumulate
			it := p.todo[0]
			p.todo[0], p.todo = nil, p.todo[1:]
			if p.net.runs.byKey[it.run.key] == it.run && it.run.iters[it.index] == it { // not stopped meanwhile
				p.advance(it)
			}
		}
		p.net.calls.Derive()
		for _, v := range p.net.calls.Touched() {
			if it := p.byCall[v]; it != nil && p.net.root.Final(v) {
				p.ended(it)
			}
		}
		if len(p.todo) == 0 || p.enough() {
			break
		}
	}
	p.more = 0
	if len(p.todo) > 0 {
		p.more = p.net.instant()
	}
}

// enough reports whether this event has reached the bound of work. The rest is left to another event, so a long loop without
// calls takes many short events.
func (p *pipelines) enough() bool {
	most := int(p.net.root.Start().EventWorkMax)
	return most > 0 && p.attempts > 0 && p.net.root.Meter().Spent()-p.begun+p.attempts*attemptWork >= most
}

// advance continues an iteration until it makes a call, sleeps or ends, or the event has caused enough work.
func (p *pipelines) advance(it *iteration) {
	p.net.root.Meter().Add(taskWork)
	tasks := it.run.step.Tasks
	if !it.begun {
		if f := p.setInput(it); f != nil {
			p.net.runs.endIteration(it, f)
			return
		}
	}
	for it.pc < len(tasks) {
		if !it.entered {
			p.enter(it)
		}
		if it.call != noCall || it.task().CallSite >= 0 {
			return
		}
		it.began = p.net.instant()
		p.net.emit(p.net.at(it, routed.View{Name: routed.AttemptStarted}))
		if !p.conclude(it, &ended.Task{}) {
			return
		}
		if p.enough() {
			p.todo = append(p.todo, it)
			return
		}
	}
	p.net.runs.endIteration(it, nil)
}

// setInput sets the input of an iteration: the input rendered when the run began, or the iteration's own.
func (p *pipelines) setInput(it *iteration) *journal.Failure {
	it.begun, it.input = true, it.run.input
	if !it.run.step.Renders {
		return nil
	}
	in, err := it.run.step.Input.Eval(&scope{net: p.net, run: it.run, it: it, args: it.run.args})
	if err != nil {
		return failure(KindExpression, "%v", err)
	}
	it.input = in
	return nil
}

// enter moves control to a task.
func (p *pipelines) enter(it *iteration) {
	it.entered, it.tries, it.judged = true, 0, 0
	if it.visits == nil {
		it.visits = make([]int32, len(it.run.step.Tasks))
	}
	it.visits[it.pc]++
	p.net.emit(p.net.at(it, routed.View{Name: routed.TaskStarted}))
	if site := it.task().CallSite; site >= 0 {
		it.call = p.net.calls.Open(int32(site), it.key())
		p.byCall[it.call] = it
	}
}

func (p *pipelines) closeCall(it *iteration) {
	if it.call != noCall {
		delete(p.byCall, it.call)
		p.net.calls.Close(it.call)
		it.call = noCall
	}
	it.wake = 0
}

// requested records the beginning of an attempt.
func (p *pipelines) requested(e *journal.Event) {
	v, ok := p.net.root.Node(e.Node)
	if it := p.byCall[v]; ok && it != nil {
		it.began = e.At
		p.net.emit(p.net.at(it, routed.View{Name: routed.AttemptStarted}))
	}
}

// Input returns the input of a call.
func (n *Net) Input(v int32) (any, *journal.Failure) {
	it := n.pipelines.byCall[v]
	if it == nil {
		return nil, nil
	}
	in, err := n.pipelines.render(it)
	if err == nil {
		err = value.Fits(in, 0)
	}
	if err != nil {
		return nil, failure(KindExpression, "%v", err)
	}
	return in, nil
}

// render renders the input of the current task's call: the input of its tool, which overrides the input of the step if the tool
// receives that.
func (p *pipelines) render(it *iteration) (value.Value, error) {
	task := it.task()
	if task.Input == nil {
		if task.Handed {
			return it.input, nil
		}
		return nil, nil
	}
	own, err := task.Input.Eval(&scope{net: p.net, run: it.run, it: it, args: it.run.args})
	if err != nil || !task.Handed {
		return own, err
	}
	over, ok := own.(map[string]any)
	under, isObject := it.input.(map[string]any)
	if !ok || !isObject {
		return own, nil
	}
	in := maps.Clone(under)
	maps.Copy(in, over)
	return in, nil
}

// ended handles the end of an iteration's call.
func (p *pipelines) ended(it *iteration) {
	v := it.call
	out := &ended.Task{Failure: p.net.root.Failure(v), About: p.metadata()}
	switch {
	case p.net.root.Status(v) == reactive.Skipped: // possibly during the wait for its next attempt
		out.Failure = nil
	case p.net.root.Attempts(v) == it.judged: // its input could not be rendered
		p.net.runs.endIteration(it, out.Failure)
		return
	case p.net.root.Status(v) == reactive.Completed:
		out.Result = ended.Answer(p.net.root.Output(v))
	}
	it.judged = p.net.root.Attempts(v)
	switch task := it.task(); {
	case task.Kind == "http":
		out.Unwrap()
	case task.Resolves():
		p.resolve(out)
	}
	if p.conclude(it, out) {
		p.todo = append(p.todo, it)
	}
}

// metadata returns the event's metadata of an output.
func (p *pipelines) metadata() map[string]any {
	if p.net.event.Detail == nil {
		return nil
	}
	about, _ := value.Of(p.net.event.Detail.About)
	object, _ := about.(map[string]any)
	return object
}

// conclude judges an attempt by the task's rules. It reports whether the iteration continues at once.
func (p *pipelines) conclude(it *iteration, out *ended.Task) bool {
	task := it.task()
	it.tries++
	p.attempts++
	out.Task, out.Attempt, out.At = task, it.tries, p.net.instant()
	out.Duration = time.Duration(max(0, out.At-it.began))
	it.out = out
	p.keep(out)
	name := routed.AttemptDone
	if out.Failure != nil {
		name = routed.AttemptFailed
	}
	p.net.emit(p.net.at(it, routed.View{Name: name, Failure: out.Failure}))
	s := &scope{net: p.net, run: it.run, it: it, args: it.run.args, out: out}
	var rule *playbook.Rule
	var do playbook.Do
	var err error
	if out.Failure == nil {
		err = p.net.ctx.set(task.Set, s)
	}
	if err == nil {
		rule, do, err = out.Rule(s)
	}
	if err != nil {
		p.endTask(it, true)
		p.net.runs.endIteration(it, failureOf(err))
		return false
	}
	if do == playbook.Retry && it.tries >= rule.Attempts {
		do = playbook.Fail
	}
	p.net.emit(p.net.at(it, routed.View{Name: routed.PolicyEvaluated, Status: string(do)}))
	if do != playbook.Retry {
		p.endTask(it, out.Failure != nil || do == playbook.Fail)
	}
	if rule != nil {
		if err := p.net.ctx.set(rule.Set, s); err != nil {
			if do == playbook.Retry {
				p.endTask(it, true) // no other attempt follows
			}
			p.net.runs.endIteration(it, failureOf(err))
			return false
		}
	}
	return p.act(it, out, rule, do, s)
}

func (p *pipelines) endTask(it *iteration, failed bool) {
	name := routed.TaskDone
	if failed {
		name = routed.TaskFailed
	}
	p.net.emit(p.net.at(it, routed.View{Name: name, Failure: it.out.Failure}))
}

// act applies the action of a rule.
func (p *pipelines) act(it *iteration, out *ended.Task, rule *playbook.Rule, do playbook.Do, s *scope) bool {
	if do == playbook.Retry {
		return p.again(it, rule, s)
	}
	if out.Failure == nil && do != playbook.Fail {
		it.prev = out.Result
		it.results.Put(it.task().Label, out.Result)
	}
	switch do {
	case playbook.Fail:
		f := out.Failure
		if f == nil {
			f = failure(KindPolicy, "a rule of task %q has failed the step", it.task().Label)
		}
		p.net.runs.endIteration(it, f)
		return false
	case playbook.Break:
		p.net.runs.endIteration(it, nil)
		return false
	case playbook.Jump:
		return p.jump(it, rule)
	}
	p.moveTo(it, it.pc+1)
	return true
}

// moveTo moves control to another task.
func (p *pipelines) moveTo(it *iteration, pc int) {
	p.closeCall(it)
	it.pc, it.entered = pc, false
}

func (p *pipelines) jump(it *iteration, rule *playbook.Rule) bool {
	to := rule.To
	if to == playbook.Previous {
		to = it.pc - 1
	}
	if to < 0 {
		p.net.runs.endIteration(it, failure(KindConfig, "task %q is the first: there is nothing before it to jump to", it.task().Label))
		return false
	}
	if p.jumps >= p.net.book.Executor.MaxJumps {
		f := failure(ReasonLimit, "%d jumps, the most that the run may make", p.jumps)
		p.net.halt(f)
		p.net.runs.endIteration(it, f)
		return false
	}
	p.jumps++
	p.moveTo(it, to)
	return true
}

// again retries a task after its delay.
func (p *pipelines) again(it *iteration, rule *playbook.Rule, s *scope) bool {
	pause, err := ended.Delay(rule, it.tries, s)
	if err != nil {
		p.endTask(it, true)
		p.net.runs.endIteration(it, failureOf(err))
		return false
	}
	due := call.After(p.net.instant(), pause)
	if it.call != noCall {
		p.net.calls.Again(it.call, due)
		return false
	}
	it.wake = due
	p.net.timers.add(&timer{due: due, run: it.run, it: it, key: it.key()})
	return false
}

// failureOf returns the failure of a step for an error in an expression or a write.
func failureOf(err error) *journal.Failure {
	var conflict variables.ConflictError
	if errors.As(err, &conflict) {
		return failure(KindConflict, "%v", err)
	}
	var room variables.RoomError
	if errors.As(err, &room) {
		return failure(ReasonLimit, "%v", err)
	}
	return failure(KindExpression, "%v", err)
}
