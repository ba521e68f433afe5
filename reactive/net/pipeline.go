package net

import (
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/outcome"
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
	out     *outcome.Outcome
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
		if !n.conclude(it, &outcome.Outcome{}) {
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
	out := &outcome.Outcome{Failure: n.root.Failure(v), About: n.told()}
	switch {
	case n.root.Status(v) == reactive.Skipped: // maybe while it waited for its next attempt
		out.Failure = nil
	case n.root.Attempts(v) == it.judged: // there was nothing to call with
		n.endIteration(it, out.Failure)
		return
	case n.root.Status(v) == reactive.Completed:
		out.Result, _ = value.Of(n.root.Output(v))
	}
	it.judged = n.root.Attempts(v)
	switch task := it.task(); {
	case task.Kind == "http":
		out.Unwrap()
	case task.Resolves():
		n.resolve(out)
	}
	if n.conclude(it, out) {
		n.todo = append(n.todo, it)
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
func (n *Net) conclude(it *iteration, out *outcome.Outcome) bool {
	task := it.task()
	it.tries++
	n.attempts++
	out.Task, out.Attempt, out.At = task, it.tries, n.instant()
	out.Duration = time.Duration(max(0, out.At-it.began))
	it.out = out
	n.keep(out)
	name := AttemptDone
	if out.Failure != nil {
		name = AttemptFailed
	}
	n.tell(n.at(it, View{Name: name, Failure: out.Failure}))
	s := &scope{net: n, run: it.run, it: it, args: it.run.args, out: out}
	var rule *playbook.Rule
	var do playbook.Do
	var err error
	if out.Failure == nil {
		err = n.set(task.Set, s)
	}
	if err == nil {
		rule, do, err = out.Rule(s)
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
		n.endTask(it, out.Failure != nil || do == playbook.Fail)
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
	n.tell(n.at(it, View{Name: name, Failure: it.out.Failure}))
}

// act does what was decided.
func (n *Net) act(it *iteration, out *outcome.Outcome, rule *playbook.Rule, do playbook.Do, s *scope) bool {
	if do == playbook.Retry {
		return n.again(it, rule, s)
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
	pause, err := outcome.Delay(rule, it.tries, s)
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
