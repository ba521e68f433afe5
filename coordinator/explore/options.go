package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Options bound an exploration and add conditions to look for.
type Options struct {
	StatesMax int                      // Default: 20,000
	DepthMax  int                      // moves from the start. Default: 500
	Never     []string                 // conditions {{ … }} that must hold in no state
	Outputs   map[string][]value.Value // answers of a step, or of a playbook's step.task, in place of guesses
	Input     value.Value              // of the run
	AllOrders bool                     // also explore orders that make no difference
	WorkMax   int                      // of all states, in units of expr.Meter, also for visiting nodes and events. Default: WorkMax
	BytesMax  int                      // of the values in the events of all states, and of the events of one move in memory. Default: BytesMax
	Limits    coordinator.Limits       // of the run. Default: coordinator.DefaultLimits
	Progress  func(states int)         // is called for each visited state, with the number of known states. Default: no call

	batchMax, eventsMax int // the constants, unless a test sets them
}

// The default limits of an exploration.
const (
	WorkMax  = 2_000_000_000
	BytesMax = 64 << 20

	statesMax = 20_000
	depthMax  = 500
)

// The kinds of findings.
const (
	NeverEnds  = "never_ends"  // from some state no end can be reached
	NeverRuns  = "never_runs"  // a step runs in no state
	FinalTwice = "final_twice" // the final step runs more than once
	NeverHolds = "never_holds" // a condition that must never hold holds in some state
)

// Finding is a fault of the workflow.
type Finding struct {
	Kind  string   `json:"kind"`            // one of the kinds of findings
	Step  string   `json:"step,omitempty"`  // the step that it is about; "": the run
	Text  string   `json:"text"`            // a sentence for people
	Trace []string `json:"trace,omitempty"` // a shortest sequence of moves that leads to it
}

// Report is the result of an exploration.
type Report struct {
	Name     string    `json:"name"`     // of the workflow
	States   int       `json:"states"`   // number of different states
	Moves    int       `json:"moves"`    // number of moves made
	Complete bool      `json:"complete"` // no bound was reached: all states were visited
	Ends     []string  `json:"ends"`     // the statuses that runs end with, sorted
	Findings []Finding `json:"findings"` // empty: nothing wrong was found
}

// Run explores the runs of p. It returns an error if they cannot be explored.
func Run(p *plan.Plan, o Options) (*Report, error) {
	if err := explorable(p); err != nil {
		return nil, err
	}
	if o.StatesMax <= 0 {
		o.StatesMax = statesMax
	}
	if o.WorkMax <= 0 {
		o.WorkMax = WorkMax
	}
	if o.BytesMax <= 0 {
		o.BytesMax = BytesMax
	}
	if o.DepthMax <= 0 {
		o.DepthMax = depthMax
	}
	if o.batchMax == 0 {
		o.batchMax, o.eventsMax = batchMax, eventsMax
	}
	e := &explorer{plan: p, kind: kindOf(p), options: o, known: map[[32]byte]int{}, ran: map[string]bool{}, ends: map[string]bool{}}
	for _, text := range o.Never {
		c, err := newCondition(p, text)
		if err != nil {
			return nil, err
		}
		e.never = append(e.never, c)
	}
	if err := answering(p, e.kind, o.Outputs); err != nil {
		return nil, err
	}
	e.guesses = guess(p, e.kind, o.Outputs, o.Never)
	e.reduced = !o.AllOrders && len(o.Never) == 0 && e.independent()
	if err := e.explore(); err != nil {
		return nil, err
	}
	for _, c := range e.never {
		if !c.judged && !e.bounded {
			return nil, fmt.Errorf("never: it can be evaluated in no state: %w", c.err)
		}
	}
	return e.report(), nil
}

// answering refuses outputs of unknown steps.
func answering(p *plan.Plan, k kind, outputs map[string][]value.Value) error {
	names := append(p.StepNames(), k.tasks()...)
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, "[")
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if err := known(name, slices.Contains(names, name), names); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	return nil
}

// independent reports whether the order in which calls end makes no difference to the outcome of the run. It makes one if a call can fail
// with a timeout: the status of the run depends on the first failure.
func (e *explorer) independent() bool {
	w := e.plan.Workflow
	if w.Routing != nil || w.FailurePolicy == template.AbortAll || w.FailurePolicy == template.AbortDependents || len(e.plan.Groups) > 0 {
		return false
	}
	for _, list := range e.guesses.failing {
		if slices.ContainsFunc(list, func(f *operation.Error) bool { return f.Code == reactive.CodeTimeout }) {
			return false
		}
	}
	timed := func(n plan.Node) bool {
		return n.Step != nil && n.Step.Timing != nil && (n.Step.Timing.Timeout > 0 || n.Step.Timing.TotalTimeout > 0)
	}
	return !slices.ContainsFunc(e.plan.Nodes, timed) && !slices.ContainsFunc(e.plan.Rows, func(r plan.Row) bool { return r.Asks })
}

// report returns the result of the exploration, with the findings by kind and in the order of the document.
func (e *explorer) report() *Report {
	r := &Report{Name: e.plan.Workflow.Name, States: len(e.states), Moves: e.moves, Complete: !e.bounded, Findings: e.findings}
	for s := range e.ends {
		r.Ends = append(r.Ends, s)
	}
	slices.Sort(r.Ends)
	if f, ok := e.stuck(); ok {
		r.Findings = append([]Finding{f}, r.Findings...)
	}
	if e.bounded {
		return r
	}
	for _, s := range e.plan.StepNames() {
		if !e.ran[s] {
			r.Findings = append(r.Findings, Finding{Kind: NeverRuns, Step: s, Text: fmt.Sprintf("step %s never runs", s)})
		}
	}
	return r
}

// stuck returns the finding of the first state from which no end can be reached. A state that was not expanded may lead to an end.
func (e *explorer) stuck() (Finding, bool) {
	can := make([]bool, len(e.states))
	var queue []int
	for i := range e.states {
		if e.states[i].ended || e.states[i].cut {
			can[i] = true
			queue = append(queue, i)
		}
	}
	back := make([][]int, len(e.states))
	for i := range e.states {
		for _, to := range e.states[i].next {
			back[to] = append(back[to], i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, from := range back[i] {
			if !can[from] {
				can[from] = true
				queue = append(queue, from)
			}
		}
	}
	for i := range e.states { // in the order of distance
		if !can[i] {
			s := e.states[e.nearestIdle(i)]
			return Finding{Kind: NeverEnds, Step: s.waits, Text: "the run can never end: " + s.why, Trace: e.trace(i)}, true
		}
	}
	return Finding{}, false
}

// nearestIdle returns the state nearest to i in which no call is under way: it shows the run's waits. If there is none, the run loops for
// ever, and nearestIdle returns i.
func (e *explorer) nearestIdle(i int) int {
	seen := map[int]bool{i: true}
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		if e.states[queue[0]].idle {
			return queue[0]
		}
		for _, to := range e.states[queue[0]].next {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return i
}

// running reports whether a step with this status has been called.
func running(s reactive.Status) bool {
	return s == reactive.Running || s == reactive.Completed || s == reactive.Failed
}
