package callorder

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive/callgraph"
)

// Order is the order of the calls of a playbook's run. Within a lane each call waits for the task before it. The first call
// of a lane waits for the step-runs that its token comes from: for the last call of each of their lanes or, if a step-run
// made no calls, for the calls that the step-run itself waited for. A step-run has one lane, or one for each iteration of a
// parallel loop. The final step waits for all calls that no other call has waited for.
type Order struct {
	laneOf Lane
	graph  *callgraph.Graph
	runs   map[string]*passage
	order  []string        // keys of the step-runs, in the order of scheduling
	passed map[string]bool // step-runs that precede another
}

// passage records the calls of a step-run.
type passage struct {
	before []int32
	apart  bool // its iterations run in parallel
	lanes  map[int32]*lane
	order  []*lane
	ends   []int32 // calls that represent the ended step-run; nil: not computed
}

// lane is a sequence of calls.
type lane struct {
	task   string // key of the newest call
	call   int32
	before []int32 // calls that its attempts wait for
}

// Lane returns the step-run and the iteration of the call with a key.
type Lane func(key string) (run string, iteration int32)

// New returns the order of the calls of a run without events. The call graph merges many calls for which other calls wait
// together.
func New(g *callgraph.Graph, lane Lane) *Order {
	return &Order{graph: g, laneOf: lane, runs: map[string]*passage{}, passed: map[string]bool{}}
}

// Scheduled records a step-run and the step-runs that its token comes from, or none if the token comes from outside or is for
// the final step. apart is true if its iterations run in parallel.
func (o *Order) Scheduled(run string, from []string, apart bool) {
	if len(from) == 0 {
		from = o.loose()
	}
	p := &passage{apart: apart, lanes: map[int32]*lane{}}
	for _, key := range from {
		o.passed[key] = true
		p.before = append(p.before, o.ends(key)...)
	}
	slices.Sort(p.before) // several branches may lead to the same call
	p.before = o.graph.Meet(run, slices.Compact(p.before))
	o.runs[run] = p
	o.order = append(o.order, run)
}

// loose returns the step-runs that precede no other.
func (o *Order) loose() (list []string) {
	for _, key := range o.order {
		if !o.passed[key] {
			list = append(list, key)
		}
	}
	return list
}

// ends returns the calls that represent an ended step-run.
func (o *Order) ends(key string) []int32 {
	p := o.passageOf(key)
	if p.ends != nil {
		return p.ends
	}
	if len(p.order) == 0 {
		return p.before
	}
	for _, l := range p.order {
		p.ends = append(p.ends, l.call)
	}
	p.ends = o.graph.Meet(key, p.ends)
	return p.ends
}

// passageOf returns the calls of a step-run. A journal that was written elsewhere may have calls of one that it has not scheduled: they
// wait for what a token from outside would.
func (o *Order) passageOf(key string) *passage {
	if o.runs[key] == nil {
		o.Scheduled(key, nil, false)
	}
	return o.runs[key]
}

// lane returns the lane of an open call.
func (o *Order) lane(key string) (*passage, int32) {
	run, iteration := o.laneOf(key)
	p := o.passageOf(run)
	if !p.apart {
		return p, 0
	}
	return p, iteration
}

// Before returns the calls that the next call of a task waits for.
func (o *Order) Before(key string) []int32 {
	p, i := o.lane(key)
	l := p.lanes[i]
	switch {
	case l == nil:
		return p.before
	case l.task == key:
		return l.before
	}
	return []int32{l.call}
}

// Called records a call.
func (o *Order) Called(key string, call int32) {
	p, i := o.lane(key)
	l := p.lanes[i]
	switch {
	case l == nil:
		l = &lane{before: p.before}
		p.lanes[i] = l
		p.order = append(p.order, l)
	case l.task != key:
		l.before = []int32{l.call}
	}
	l.task, l.call = key, call
}
