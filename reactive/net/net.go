package net

import (
	"strconv"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/gate"
	"github.com/sluiceflow/sluice/reactive/net/marks"
	"github.com/sluiceflow/sluice/reactive/net/results"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// Net is the state of a playbook's run: its tokens, its step-runs and its context. It is attached to the root of the run, and
// belongs to the goroutine that owns the root.
//
// Invariants, checked by check:
//  1. Every token is in exactly one place: ready, pending, or held at a join.
//  2. A group's live count is the number of its tokens and step-runs, and of the groups opened within it.
//  3. Every open call belongs to one iteration of one live step-run.
//  4. A held token is at the tracker of its group for that join, and the tracker's group has live members.
type Net struct {
	book  *playbook.Playbook
	root  *reactive.Root
	calls *reactive.Calls
	watch func(routed.View)

	workload     map[string]value.Value
	ctx          runContext
	steps        []stepState         // by step
	ready        tokens              // admitted, oldest first
	gates        *gate.Gates[*token] // pending tokens
	fanOuts      fanOuts
	runs         stepRuns
	pipelines    pipelines
	timers       timers
	results      results.Store // stored out of line
	marking      marking
	marks        marks.Marks
	tally        tally
	token        uint64           // id of the newest token
	halted       *journal.Failure // reason to start no step-runs; nil: they may start
	stopped      bool             // the run was cancelled or closed
	waiting      bool
	final        finalState
	finalFailure *journal.Failure // of the final step
	last         value.Value      // result of the step-run that succeeded last
	event        *journal.Event
	err          error // a defect of the engine
}

// stepState is the state of one step over all of its runs.
type stepState struct {
	runs      int32 // scheduled so far
	live      int32
	ready     int32 // admitted tokens
	pending   int32 // tokens at its gate
	held      int32 // tokens at its join
	status    reactive.Status
	failure   *journal.Failure // of its newest failed run
	result    value.Value      // newest
	from      string           // key of the run that returned result
	hasResult bool
	routed    routed.Arcs
}

// New returns the root of a playbook's run without events.
func New(p *plan.Plan) *reactive.Root {
	book := p.Workflow.Routing.(*playbook.Playbook)
	return reactive.NewRouted(p, func(c *reactive.Calls) reactive.Body {
		n := &Net{book: book, root: c.Root(), calls: c, steps: make([]stepState, len(book.Steps))}
		n.ctx.net, n.timers.net = n, n
		n.fanOuts = fanOuts{net: n, joins: map[*tracker]bool{}}
		n.runs = stepRuns{net: n, byKey: map[string]*stepRun{}}
		n.pipelines = pipelines{net: n, byCall: map[int32]*iteration{}}
		for i := range n.steps {
			n.fanOuts.joining = n.fanOuts.joining || book.Steps[i].Join != nil
			n.steps[i].status = reactive.Idle
		}
		graph := signals.New()
		n.gates = gate.New(graph, admission{n})
		n.marking.init(graph)
		return n
	})
}

// Of returns the net of a playbook's run, or nil for a run of any other workflow.
func Of(r *reactive.Root) *Net {
	n, _ := r.Body().(*Net)
	return n
}

// Playbook returns the playbook of the run.
func (n *Net) Playbook() *playbook.Playbook { return n.book }

// Workload returns the run's input, completed by the playbook's defaults. It must not be changed.
func (n *Net) Workload() map[string]value.Value { return n.workload }

// Watch makes the net call f, within Apply and in order, for each later change of the net.
func (n *Net) Watch(f func(routed.View)) { n.watch = f }

// Apply takes an event after the root, and processes it completely: outcomes, patches, step ends, routing, new tokens; then
// pending tokens are judged again; then it checks whether the net is quiet. Work that exceeds the bound of one event is left to
// the next, the event of a timer that is due at once.
func (n *Net) Apply(e *journal.Event) {
	n.event, n.pipelines.begun, n.pipelines.attempts = e, n.root.Meter().Spent(), 0
	if n.root.Closed() {
		n.close(e)
		return
	}
	switch e.Type {
	case journal.RunStarted:
		n.begin(e)
	case journal.StepScheduled:
		n.runs.schedule()
	case journal.ContextPatched:
		n.ctx.patch(e)
	case journal.TimerFired:
		n.timers.fired(e)
	case journal.NodeAborted:
		if run := n.runs.byKey[e.Node]; run != nil {
			n.runs.cut(run, abortion(e))
		}
	case journal.CallRequested:
		n.pipelines.requested(e)
	case journal.RunFinished:
		n.emit(routed.View{Name: routed.WorkflowFinished, Status: e.Detail.State})
		n.emit(routed.View{Name: routed.PlaybookProcessed, Status: e.Detail.State})
	}
	n.pipelines.work()
	n.defect(n.gates.Look(n.moved))
	n.settle()
	if n.root.Started() && n.root.Start().EventWorkMax > 0 { // runs that were started before the limit existed do not count work
		n.root.Meter().Add(n.pipelines.attempts * attemptWork)
	}
}

// begin creates the first token.
func (n *Net) begin(e *journal.Event) {
	n.emit(routed.View{Name: routed.ExecutionRequested})
	n.emit(routed.View{Name: routed.RequestEvaluated, Status: "ok"})
	n.emit(routed.View{Name: routed.WorkflowStarted})
	input, _ := value.Of(e.Value)
	if start := n.root.Start(); start.From != nil {
		n.results.Rename(start.From.Run, start.Run)
	}
	n.workload = n.book.WorkloadOf(input)
	n.put(&token{step: n.book.Executor.Entry, args: map[string]value.Value{}})
}

// close stops all step-runs and drops all tokens: the run was cancelled, closed, or exceeded its deadline.
func (n *Net) close(e *journal.Event) {
	if n.stopped {
		if e.Type == journal.RunFinished {
			n.emit(routed.View{Name: routed.WorkflowFinished, Status: e.Detail.State})
			n.emit(routed.View{Name: routed.PlaybookProcessed, Status: e.Detail.State})
		}
		return
	}
	n.stopped = true
	n.dropTokens()
	var cut []string
	for _, run := range n.runs.live() {
		s := n.touch(run.step.Index)
		s.status = reactive.Aborted
		s.live--
		cut = append(cut, run.key)
	}
	n.runs.byKey, n.pipelines.byCall, n.pipelines.todo, n.pipelines.more = map[string]*stepRun{}, map[int32]*iteration{}, nil, 0
	n.emit(routed.View{Name: routed.ExecutionCancelled, Runs: cut})
}

// dropTokens removes every token.
func (n *Net) dropTokens() {
	for n.ready.Len() > 0 {
		n.ready.pop()
	}
	n.defect(n.gates.Clear())
	for i := range n.steps {
		if s := &n.steps[i]; s.ready+s.pending+s.held > 0 {
			s = n.touch(i)
			s.ready, s.pending, s.held = 0, 0, 0
		}
	}
	clear(n.fanOuts.joins)
}

// key returns the name of a step-run in journals.
func key(step string, number int32) string { return step + "@" + strconv.Itoa(int(number)) }

// instant returns the instant of the current event; for a timer, the instant at which it was due.
func (n *Net) instant() int64 {
	if d := n.event.Detail; d != nil && d.Due > 0 && n.event.Type != journal.CallRequested {
		return d.Due
	}
	return n.event.At
}
