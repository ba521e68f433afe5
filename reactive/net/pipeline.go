package net

import (
	"errors"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/variables"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// noCell is what an iteration has that makes no call.
const noCell = -1

// iteration is one passage through a step's pipeline.
//
//	pc ──▶ task ──▶ outcome ──▶ rule ──▶ sets ──▶ continue │ retry │ jump │ break │ fail
type iteration struct {
	run     *stepRun
	index   int32          // of its item
	vars    variables.Vars // its scope
	ctx     variables.Vars // of a parallel loop: the context as it was at its start, with its own writes
	pc      int            // index of the task
	entered bool           // the task has begun
	tries   int            // of the task since control came to it
	judged  int32          // attempts of the cell that were judged
	visits  []int32        // by task: how often control came to it
	input   value.Value    // of its step
	begun   bool           // it has its input
	cell    int32          // of its call; noCell: it makes none now
	began   int64          // when the attempt was requested
	wake    int64          // when a task without a call is tried again; 0: it is not
	prev    value.Value
	results variables.Vars // by task
	out     *outcome
}

// outcome is how a task has ended.
type outcome struct {
	task     *playbook.Task
	result   value.Value
	failure  *journal.Failure // nil: it went well
	about    map[string]any
	attempt  int
	at       int64
	duration time.Duration
}

// apart reports whether it has a context of its own: other iterations run beside it.
func (it *iteration) apart() bool { return it.run.step.Loop != nil && it.run.step.Loop.Parallel }

// task is where control is.
func (it *iteration) task() *playbook.Task { return it.run.step.Tasks[it.pc] }

// key is the name of the call of the task where control is. Every visit of a task is a call of its own.
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

// taskWork is what one task of an iteration counts as beside its expressions.
const taskWork = 100

// attemptWork is what one attempt of a task counts as beside that, for what is told of it: of runs that bound the work of an event.
const attemptWork = 300

// advance goes on with an iteration until it makes a call, sleeps, or ends, or there is enough for one event.
func (n *Net) advance(it *iteration) {
	n.root.Meter().Add(taskWork)
	tasks := it.run.step.Tasks
	if !it.begun {
		if f := n.give(it); f != nil {
			n.endIteration(it, f)
			return
		}
	}
	for it.pc < len(tasks) {
		if !it.entered {
			n.enter(it)
		}
		if it.cell != noCell || it.task().Site >= 0 {
			return
		}
		it.began = n.instant()
		n.tell(n.at(it, View{Name: AttemptStarted}))
		if !n.conclude(it, &outcome{}) {
			return
		}
		if n.enough() {
			n.todo = append(n.todo, it)
			return
		}
	}
	n.endIteration(it, nil)
}

// give gives an iteration the input of its step: what was rendered when the run began, or its own.
func (n *Net) give(it *iteration) *journal.Failure {
	it.begun, it.input = true, it.run.input
	if !it.run.step.Renders {
		return nil
	}
	in, err := it.run.step.Input.Eval(&scope{net: n, run: it.run, it: it, args: it.run.args})
	if err != nil {
		return failure(KindExpression, "%v", err)
	}
	it.input = in
	return nil
}

// enter brings control to a task.
func (n *Net) enter(it *iteration) {
	it.entered, it.tries, it.judged = true, 0, 0
	if it.visits == nil {
		it.visits = make([]int32, len(it.run.step.Tasks))
	}
	it.visits[it.pc]++
	n.tell(n.at(it, View{Name: TaskStarted}))
	if site := it.task().Site; site >= 0 {
		it.cell = n.cells.Open(int32(site), it.key())
		n.byCell[it.cell] = it
	}
}

func (n *Net) closeCell(it *iteration) {
	if it.cell != noCell {
		delete(n.byCell, it.cell)
		n.cells.Close(it.cell)
		it.cell = noCell
	}
	it.wake = 0
}

// requested notes the beginning of an attempt.
func (n *Net) requested(e *journal.Event) {
	v, ok := n.root.Node(e.Node)
	if it := n.byCell[v]; ok && it != nil {
		it.began = e.At
		n.tell(n.at(it, View{Name: AttemptStarted}))
	}
}

// Input is what the call of a cell is made with.
func (n *Net) Input(v int32) (any, *journal.Failure) {
	it := n.byCell[v]
	if it == nil {
		return nil, nil
	}
	in, err := n.render(it)
	if err == nil {
		err = value.Fits(in, 0)
	}
	if err != nil {
		return nil, failure(KindExpression, "%v", err)
	}
	return in, nil
}

// render makes what the task where control is is called with: what its tool says, over the input of its step where it is
// handed that.
func (n *Net) render(it *iteration) (value.Value, error) {
	task := it.task()
	if task.Input == nil {
		if task.Handed {
			return it.input, nil
		}
		return nil, nil
	}
	own, err := task.Input.Eval(&scope{net: n, run: it.run, it: it, args: it.run.args})
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

// ended takes what the call of an iteration has come to.
func (n *Net) ended(it *iteration) {
	v := it.cell
	out := &outcome{failure: n.root.Failure(v), about: n.told()}
	switch {
	case n.root.Status(v) == reactive.Skipped: // maybe while it waited for its next attempt
		out.failure = nil
	case n.root.Attempts(v) == it.judged: // there was nothing to call with
		n.endIteration(it, out.failure)
		return
	case n.root.Status(v) == reactive.Completed:
		out.result, _ = value.Of(n.root.Output(v))
	}
	it.judged = n.root.Attempts(v)
	switch task := it.task(); {
	case task.Kind == "http":
		out.unwrap()
	case task.Resolves():
		n.resolve(out)
	}
	if n.conclude(it, out) {
		n.todo = append(n.todo, it)
	}
}

// unwrap takes an HTTP answer apart: rules see its body as the result, and the rest as `outcome.http`.
func (o *outcome) unwrap() {
	if _, ok := o.about["http"]; ok {
		return
	}
	answer, _ := o.result.(map[string]any)
	if o.failure != nil {
		details, _ := value.Of(o.failure.Details)
		answer, _ = details.(map[string]any)
	}
	if _, ok := answer["headers"]; !ok || answer["status"] == nil {
		return
	}
	o.about = map[string]any{"http": map[string]any{"status": answer["status"], "headers": answer["headers"]}}
	if o.failure == nil {
		o.result = answer["body"]
	}
}

// told is what the event tells beside an output.
func (n *Net) told() map[string]any {
	if n.event.Detail == nil {
		return nil
	}
	about, _ := value.Of(n.event.Detail.About)
	object, _ := about.(map[string]any)
	return object
}

// conclude judges an attempt by the task's rules. It reports whether the iteration goes on at once.
func (n *Net) conclude(it *iteration, out *outcome) bool {
	task := it.task()
	it.tries++
	n.attempts++
	out.task, out.attempt, out.at = task, it.tries, n.instant()
	out.duration = time.Duration(max(0, out.at-it.began))
	it.out = out
	n.keep(out)
	name := AttemptDone
	if out.failure != nil {
		name = AttemptFailed
	}
	n.tell(n.at(it, View{Name: name, Failure: out.failure}))
	s := &scope{net: n, run: it.run, it: it, args: it.run.args, out: out}
	var rule *playbook.Rule
	var do playbook.Do
	var err error
	if out.failure == nil {
		err = n.set(task.Set, s)
	}
	if err == nil {
		rule, do, err = pick(task, s)
	}
	if err != nil {
		n.endTask(it, true)
		n.endIteration(it, failureOf(err))
		return false
	}
	if do == playbook.Retry && it.tries >= rule.Attempts {
		do = playbook.Fail
	}
	n.tell(n.at(it, View{Name: PolicyEvaluated, Status: string(do)}))
	if do != playbook.Retry {
		n.endTask(it, out.failure != nil || do == playbook.Fail)
	}
	if rule != nil {
		if err := n.set(rule.Set, s); err != nil {
			if do == playbook.Retry {
				n.endTask(it, true) // there is no other attempt
			}
			n.endIteration(it, failureOf(err))
			return false
		}
	}
	return n.act(it, out, rule, do, s)
}

func (n *Net) endTask(it *iteration, failed bool) {
	name := TaskDone
	if failed {
		name = TaskFailed
	}
	n.tell(n.at(it, View{Name: name, Failure: it.out.failure}))
}

// pick finds what a task's rules say of an outcome. The rule is nil when none of them holds.
func pick(task *playbook.Task, s *scope) (*playbook.Rule, playbook.Do, error) {
	for i := range task.Rules {
		r := &task.Rules[i]
		if r.When == nil {
			return r, r.Do, nil
		}
		yes, err := r.When.EvalBool(s)
		if err != nil {
			return nil, "", err
		}
		if yes {
			return r, r.Do, nil
		}
	}
	if s.out.failure != nil && (!task.HasPolicy || task.Unmatched) {
		return nil, playbook.Fail, nil
	}
	return nil, playbook.Continue, nil
}

// act does what was decided.
func (n *Net) act(it *iteration, out *outcome, rule *playbook.Rule, do playbook.Do, s *scope) bool {
	if do == playbook.Retry {
		return n.again(it, rule, s)
	}
	if out.failure == nil && do != playbook.Fail {
		it.prev = out.result
		it.results.Put(it.task().Label, out.result)
	}
	switch do {
	case playbook.Fail:
		f := out.failure
		if f == nil {
			f = failure(KindPolicy, "a rule of task %q has failed the step", it.task().Label)
		}
		n.endIteration(it, f)
		return false
	case playbook.Break:
		n.endIteration(it, nil)
		return false
	case playbook.Jump:
		return n.jump(it, rule)
	}
	n.moveTo(it, it.pc+1)
	return true
}

// moveTo takes control to another task.
func (n *Net) moveTo(it *iteration, pc int) {
	n.closeCell(it)
	it.pc, it.entered = pc, false
}

func (n *Net) jump(it *iteration, rule *playbook.Rule) bool {
	to := rule.To
	if to == playbook.Previous {
		to = it.pc - 1
	}
	if to < 0 {
		n.endIteration(it, failure(KindConfig, "task %q is the first: there is nothing before it to jump to", it.task().Label))
		return false
	}
	if n.jumps >= n.book.Executor.MaxJumps {
		f := failure(ReasonLimit, "%d jumps, as many as the run may make", n.jumps)
		n.halt(f)
		n.endIteration(it, f)
		return false
	}
	n.jumps++
	n.moveTo(it, to)
	return true
}

// again has a task tried once more after its delay.
func (n *Net) again(it *iteration, rule *playbook.Rule, s *scope) bool {
	pause, err := delay(rule, it.tries, s)
	if err != nil {
		n.endTask(it, true)
		n.endIteration(it, failureOf(err))
		return false
	}
	due := call.After(n.instant(), pause)
	if it.cell != noCell {
		n.cells.Again(it.cell, due)
		return false
	}
	it.wake = due
	n.addTimer(&timer{due: due, run: it.run, it: it, key: it.key()})
	return false
}

// delayMax bounds a delay between two attempts.
const delayMax = 100 * 365 * 24 * time.Hour

// delay is the pause after the n-th attempt.
func delay(rule *playbook.Rule, n int, s *scope) (time.Duration, error) {
	seconds := 1.0
	if rule.Delay != nil {
		v, err := rule.Delay.Eval(s)
		if err != nil {
			return 0, err
		}
		switch v := v.(type) {
		case int64:
			seconds = float64(v)
		case float64:
			seconds = v
		case string:
			if seconds, err = strconv.ParseFloat(v, 64); err != nil {
				return 0, errors.New("delay must be a number of seconds, not " + strconv.Quote(v))
			}
		default:
			return 0, errors.New("delay must be a number of seconds, not " + kindOf(v))
		}
	}
	switch rule.Backoff {
	case playbook.BackoffLinear:
		seconds *= float64(n)
	case playbook.BackoffExponential:
		seconds *= math.Pow(2, float64(n-1))
	}
	if !(seconds >= 0) {
		return 0, errors.New("delay must not be negative")
	}
	return time.Duration(min(seconds*float64(time.Second), float64(delayMax))), nil
}

// failureOf is what an error in an expression or a write makes of a step.
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

// kinded names a failure after its kind, where that is not its code.
func kinded(f *journal.Failure) *journal.Failure {
	k := kindOfFailure(f)
	if k == f.Code {
		return f
	}
	named := *f
	named.Code = k
	return &named
}

// kindOfFailure is what rules call the kind of an error.
func kindOfFailure(f *journal.Failure) string {
	details, _ := value.Of(f.Details)
	if object, ok := details.(map[string]any); ok {
		if kind, ok := object["kind"].(string); ok && kind != "" {
			return kind
		}
	}
	return f.Code
}
