package reactive

import (
	"time"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// CallGraph is what was called in a run: one node per request, attempts that came to nothing and requests of unknown steps
// included. It takes the events of a journal one by one, like Root does, and is owned by one goroutine.
type CallGraph struct {
	plan  *plan.Plan
	calls []CallNode
	index map[string]int // by request name
	last  map[string]int // by step key: the newest call
	run   string
	from  string // the call that started the run; "" when it is nobody's child
}

// CallNode is one request.
type CallNode struct {
	Request   string // `<step>#<attempt>`
	Step      string // key of the step
	Operation string // "" when the plan does not have the step
	Status    CallStatus
	Input     any
	Output    any
	Failure   *journal.Failure
	Started   time.Time // when it was requested; zero while only its end is known
	Ended     time.Time
}

// CallStatus is where one request stands.
type CallStatus string

// The statuses of a request. Pending is one whose step the plan does not have: nobody can say whether it runs.
const (
	CallPending   CallStatus = "pending"
	CallRunning   CallStatus = "running"
	CallCompleted CallStatus = "completed"
	CallFailed    CallStatus = "failed"
	CallAborted   CallStatus = "aborted"
)

// NewCallGraph makes the empty call graph of a run of p.
func NewCallGraph(p *plan.Plan) *CallGraph {
	return &CallGraph{plan: p, index: map[string]int{}, last: map[string]int{}}
}

// Apply takes the next event of the journal. The first end of a request counts.
func (g *CallGraph) Apply(e *journal.Event) {
	if e.Type == journal.RunStarted && e.Detail != nil && e.Detail.Start != nil {
		g.run, g.from = e.Detail.Start.Run, e.Detail.Start.Parent
	}
	if e.Attempt == 0 || e.Type < journal.CallRequested || e.Type > journal.CallSkipped {
		return
	}
	c := g.call(e)
	if e.Type == journal.CallRequested {
		if c.Started.IsZero() {
			c.Started, c.Input = e.Time(), e.Value
			g.last[e.Node] = g.index[c.Request]
		}
		return
	}
	if !c.Ended.IsZero() {
		return
	}
	c.Ended = e.Time()
	switch e.Type {
	case journal.CallResponded, journal.CallCompleted:
		c.Status, c.Output = CallCompleted, e.Value
	case journal.CallError, journal.CallSkipped:
		c.Status, c.Failure = CallFailed, failureOf(e, CodeTimeout)
	case journal.CallAborted:
		c.Status, c.Failure = CallAborted, failureOf(e, CodeAborted)
	}
}

func (g *CallGraph) call(e *journal.Event) *CallNode {
	name := RequestName(e.Node, e.Attempt)
	i, ok := g.index[name]
	if !ok {
		i = len(g.calls)
		g.index[name] = i
		c := CallNode{Request: name, Step: e.Node, Status: CallPending}
		if op := g.operation(e.Node); op != "" {
			c.Operation, c.Status = op, CallRunning
		}
		g.calls = append(g.calls, c)
	}
	return &g.calls[i]
}

func (g *CallGraph) operation(key string) string {
	id, _, _ := parseKey(key)
	row, ok := g.plan.Row(id)
	if !ok || g.plan.Nodes[row].Kind != plan.Step {
		return ""
	}
	return g.plan.Operations[g.plan.Nodes[row].Op].Name
}

// Calls are the requests in the order in which they were first heard of. The slice is valid until the next Apply.
func (g *CallGraph) Calls() []CallNode { return g.calls }

// Graph gives the requests with their edges: triggered, from the call that started a child run to each of its calls, and
// depends_on, from the newest call of each step that a call's step waited for. The latter are for people to look at;
// nothing is decided by them. Node ids are the indexes of Calls, behind the parent call if there is one.
func (g *CallGraph) Graph() (*dag.Graph, error) {
	b := dag.NewBuilder(dag.CallGraph)
	b.Grow(len(g.calls)+1, len(g.calls))
	parent := int32(-1)
	if g.from != "" {
		parent = b.AddNode(g.from)
	}
	ids := make([]int32, len(g.calls))
	for i := range g.calls {
		ids[i] = b.AddNode(g.calls[i].Request)
	}
	for i := range g.calls {
		if parent >= 0 {
			b.AddEdge(parent, ids[i], dag.Attributes{Type: dag.Triggered})
		}
		for _, before := range g.dependencies(&g.calls[i]) {
			b.AddEdge(ids[before], ids[i], dag.Attributes{Type: dag.DependsOn})
		}
	}
	return b.Build()
}

// dependencies are the newest calls of the steps that a call's step waited for, within the same item of a map.
func (g *CallGraph) dependencies(c *CallNode) []int {
	id, _, _ := parseKey(c.Step)
	row, ok := g.plan.Row(id)
	if !ok {
		return nil
	}
	suffix := c.Step[len(id):]
	var calls []int
	seen := map[int32]bool{}
	for stack := []int32{row}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, p := range g.plan.Predecessors(v) {
			if seen[p] {
				continue
			}
			seen[p] = true
			if g.plan.Nodes[p].Kind != plan.Step {
				stack = append(stack, p)
				continue
			}
			if i, ok := g.last[g.plan.Nodes[p].Key+suffix]; ok {
				calls = append(calls, i)
			}
		}
	}
	return calls
}
