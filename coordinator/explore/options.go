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
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// Options bound an exploration and add conditions to look for.
type Options struct {
	StatesMax int                      // Default: 20,000
	DepthMax  int                      // moves from the start. Default: 500
	Never     []string                 // conditions {{ … }} that must hold in no state
	Outputs   map[string][]value.Value // what a step, or a playbook's step.task, may answer with, in place of guesses
	Input     value.Value              // of the run
	AllOrders bool                     // also those that make no difference
	WorkMax   int                      // of all states together, as expr.Meter counts it; nodes and events count, too. Default: WorkMax
	BytesMax  int                      // of the values in the events of all states. Default: BytesMax
	Limits    coordinator.Limits       // of the run. Default: coordinator.DefaultLimits

	batchMax, eventsMax int // the constants, but for tests
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
	NeverEnds  = "never_ends"  // from a state that can be reached, no end can be
	NeverRuns  = "never_runs"  // a step
	FinalTwice = "final_twice" // the final step runs more than once
	NeverHolds = "never_holds" // a condition that must never hold does
)

// Finding is something that is wrong.
type Finding struct {
	Kind  string   `json:"kind"`            // one of the kinds of findings
	Step  string   `json:"step,omitempty"`  // the step that it is about; "": the run
	Text  string   `json:"text"`            // a sentence for people
	Trace []string `json:"trace,omitempty"` // what has to happen, one move after the other; a shortest
}

// Report is the result of an exploration.
type Report struct {
	Name     string    `json:"name"`     // of the workflow
	States   int       `json:"states"`   // different ones
	Moves    int       `json:"moves"`    // that were made
	Complete bool      `json:"complete"` // no bound was met: all states were visited
	Ends     []string  `json:"ends"`     // the statuses that runs end with, sorted
	Findings []Finding `json:"findings"` // empty: nothing wrong was found
}

// Run explores all possible courses of a run of p. It returns an error if the run cannot be explored.
func Run(p *plan.Plan, o Options) (*Report, error) {
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
	e := &explorer{plan: p, options: o, known: map[[32]byte]int{}, ran: map[string]bool{}, ends: map[string]bool{}}
	for _, text := range o.Never {
		c, err := newCondition(p, text)
		if err != nil {
			return nil, err
		}
		e.never = append(e.never, c)
	}
	if err := answering(p, o.Outputs); err != nil {
		return nil, err
	}
	e.guesses = guess(p, o.Outputs, o.Never)
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

// answering refuses outputs of steps that there are not.
func answering(p *plan.Plan, outputs map[string][]value.Value) error {
	names := stepsOf(p)
	if book, ok := playbook.Of(p.Workflow); ok {
		for _, s := range book.Steps {
			for _, t := range s.Tasks {
				names = append(names, s.Name+"."+t.Label)
			}
		}
	}
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

// independent reports whether the order in which calls end makes no difference to what becomes of the run. A failure that
// is a timeout names the run, if it is the first.
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

// report puts together what was found, by kind and in the order of the document.
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
	for _, s := range stepsOf(e.plan) {
		if !e.ran[s] {
			r.Findings = append(r.Findings, Finding{Kind: NeverRuns, Step: s, Text: fmt.Sprintf("step %s never runs", s)})
		}
	}
	return r
}

// stepsOf returns the names of the steps.
func stepsOf(p *plan.Plan) (names []string) {
	if p.Workflow.Routing != nil {
		return p.Workflow.Routing.StepNames()
	}
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Kind == plan.Step {
			names = append(names, n.Key)
		}
	}
	return names
}

// stuck finds the first state from which no end can be reached. If not all states were visited, there may be an end beyond.
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
			s := e.states[e.comesToRest(i)]
			return Finding{Kind: NeverEnds, Step: s.waits, Text: "the run can never end: " + s.why, Trace: e.trace(i)}, true
		}
	}
	return Finding{}, false
}

// comesToRest finds the nearest state beyond one without a way out in which nothing is under way: what that waits for is why.
// If there is none, the run loops for ever.
func (e *explorer) comesToRest(i int) int {
	seen := map[int]bool{i: true}
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		if e.states[queue[0]].rests {
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

// running reports whether a status means that a step has been called.
func running(s reactive.Status) bool {
	return s == reactive.Running || s == reactive.Completed || s == reactive.Failed
}
