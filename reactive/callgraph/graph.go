package callgraph

import (
	"slices"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// Graph records the calls of a run. It has a node for every request: for each attempt, each participant asked and each call to
// a decision source, including attempts without effect and requests of unknown steps. It takes the events of a journal one by
// one, like a root, and belongs to one goroutine. The first end of a request counts.
//
// Two kinds of edges lead to a call: triggered, from the call that made it, and depends_on, from the calls that it had to
// wait for. The latter are for people; no decision depends on them. Both lead from earlier to later requests, so there are no
// cycles.
type Graph struct {
	root  *reactive.Root // nil: the run cannot be followed
	order Order
	start journal.Start
	calls []Node
	meets []meeting
	index map[string]int32   // of calls, by Node.Request
	named map[string]int     // number of meetings by place
	asked map[string][]int32 // in a routed run, by step: calls to participants and decision sources
}

// Node is one request. Its values are shared, and must not be changed.
type Node struct {
	ID          string            // `<run>/<Request>`: the id of a child run that it starts
	Request     string            // `<step>#<attempt>`, then `:<participant>` or `?<number of the decision>`
	Run         string            // id of the run
	Step        string            // key of the step; in a playbook, key of the call within the step-run
	Attempt     int32             // from 1
	Participant string            // participant asked; "": none
	Decision    int32             // number of a call to the step's decision source; 0: a call of the step itself
	Operation   string            // "": not known
	Status      Status            // according to the journal
	Parent      string            // ID of the call that made it; "": the run made it and has no parent
	Identity    *journal.Identity // identity for which it was made; nil: none
	Input       any               // a value of package value; nil also if not known
	Output      any               // of a call that completed: a value of package value
	Failure     *journal.Failure  // of a call that failed
	Started     time.Time         // instant of the request; zero if only its end is known
	Ended       time.Time         // zero if it has not ended

	parent int32   // in the same run: index of the call that made it; -1: none
	before []int32 // calls that it waited for, and meetings as ^index
}

// Status is the status of one request.
type Status string

// The statuses of a request. Pending is the status of a request whose step is not in the plan, so that its state is unknown.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Aborted   Status = "aborted"
)

// Order determines the calls that each call had to wait for.
type Order interface {
	// Before returns the calls that the next call of a step waits for, each once: numbers passed to Called or returned by
	// Graph.Meet.
	Before(step string) []int32

	// Called records a call of a step. It is called after each of them is made.
	Called(step string, call int32)
}

// Ordered is a Body that determines the order of its calls. Calls of any other Body wait for no calls.
type Ordered interface {
	// CallOrder returns the Order of all later calls. The graph must follow the body's root.
	CallOrder(g *Graph) Order
}

// MeetMax bounds the direct predecessors of a call. A call that waits for more calls at once waits for a node in which they
// meet: people can still read the edges from fifty calls to fifty others, but the edges between thousands of calls could not
// even be stored.
const MeetMax = 64

// meeting is a node that represents many calls, to the calls that wait for all of them.
type meeting struct {
	place  string
	before []int32
}

// New returns the empty call graph of a run. The root must have no events yet and then belongs to the graph. It may be nil if
// the run cannot be followed: then operations and depends_on edges are unknown, and only the ends of calls in the journal are
// known.
func New(root *reactive.Root) *Graph {
	g := &Graph{root: root, index: map[string]int32{}, named: map[string]int{}, asked: map[string][]int32{}}
	if root == nil {
		return g
	}
	root.Watch()
	switch body, ordered := root.Body().(Ordered); {
	case ordered:
		g.order = body.CallOrder(g)
	case root.Body() != nil:
		g.order = apart{}
	default:
		g.order = newTreeOrder(g, root.Plan())
	}
	return g
}

// apart is the Order of calls that wait for no calls, such as the calls of cells.
type apart struct{}

func (apart) Before(string) []int32 { return nil }
func (apart) Called(string, int32)  {}

// Apply takes the next event of the journal.
func (g *Graph) Apply(e *journal.Event) {
	outcome := reactive.Unbound
	if g.root != nil {
		outcome = g.root.Apply(e)
	}
	switch e.Type {
	case journal.RunStarted:
		if e.Detail != nil && e.Detail.Start != nil && g.start.Run == "" {
			g.start = *e.Detail.Start
		}
	case journal.CallRequested:
		g.requested(e)
	case journal.CallResponded, journal.CallCompleted, journal.CallError, journal.CallAborted, journal.CallSkipped, journal.DispatchSettled:
		g.answered(e, outcome)
	case journal.DecisionReceived:
		if e.Detail != nil && e.Detail.State == "" {
			g.decided(e)
		}
	}
	if g.root != nil {
		g.follow(e)
	}
}

// Trimmed takes an event of a world with unknown state: operations and the consequences of the event are unknown.
func (g *Graph) Trimmed(e *journal.Event) {
	root := g.root
	g.root = nil
	g.Apply(e)
	g.root = root
}

// requested records the beginning of an attempt.
func (g *Graph) requested(e *journal.Event) {
	if e.Attempt == 0 {
		return
	}
	i := g.call(e.Node, reactive.Request{Attempt: e.Attempt})
	c := &g.calls[i]
	if !c.Started.IsZero() {
		return
	}
	c.Started, c.Input = e.Time(), e.Value
	if c.Operation != "" {
		before := g.order.Before(e.Node)
		g.calls[i].before = before
		g.order.Called(e.Node, i)
	}
}

// answered records the end of a call by an event. A participant's request has been recorded at its beginning, if the run can
// be followed.
func (g *Graph) answered(e *journal.Event, outcome reactive.Effect) {
	if e.Attempt == 0 {
		return
	}
	req := reactive.Request{Attempt: e.Attempt}
	if e.Detail != nil {
		req.Participant = e.Detail.Participant
	}
	i, known := g.find(e.Node, req)
	if !known {
		if req.Participant != "" && outcome != reactive.Unbound {
			return
		}
		i = g.call(e.Node, req)
	}
	status, failure := endOf(e)
	g.end(i, e, status, e.Value, failure)
}

// endOf returns the status of a call after an event that ends it, and its failure.
func endOf(e *journal.Event) (Status, *journal.Failure) {
	switch e.Type {
	case journal.CallResponded, journal.CallCompleted:
		return Completed, nil
	case journal.CallAborted:
		return Aborted, e.FailureOr(reactive.CodeAborted)
	case journal.CallSkipped:
		return Failed, e.FailureOr(reactive.CodeTimeout)
	case journal.DispatchSettled:
		return Failed, e.FailureOr(e.Detail.State)
	}
	return Failed, e.FailureOr("error")
}

// decided records the end of a call to a decision source. It ignores a call that could not be made.
func (g *Graph) decided(e *journal.Event) {
	i, ok := g.find(e.Node, reactive.Request{Attempt: e.Attempt, Decision: e.Detail.Count})
	switch {
	case !ok:
	case e.Detail.Failure != nil:
		g.end(i, e, Failed, nil, e.Detail.Failure)
	default:
		g.end(i, e, Completed, e.Value, nil)
	}
}

// follow records the consequences of an event: calls to participants, and calls that ended without an event of their own.
func (g *Graph) follow(e *journal.Event) {
	for _, req := range g.root.TakeCalls() {
		if key, ok := g.keyOf(req); ok {
			i := g.call(key, req)
			c := &g.calls[i]
			if c.Started, c.Input = e.Time(), e.Value; req.Participant != "" {
				c.Input = g.calls[c.parent].Input
			}
			if g.root.Body() != nil {
				g.asked[key] = append(g.asked[key], i)
			}
		}
	}
	for _, c := range g.root.Changes() {
		g.changed(&c, e)
	}
	if v, ok := g.root.Node(e.Node); ok && e.Type == journal.CallRequested && g.root.Body() == nil {
		g.changed(&reactive.Change{Node: v, To: g.root.Status(v)}, e) // the step may have ended at once, if its failure is caught
	}
	for _, req := range g.root.TakeCancels() {
		if key, ok := g.keyOf(req); ok && (req.Participant != "" || req.Decision != 0) {
			if i, ok := g.find(key, req); ok {
				g.cut(i, e)
			}
		}
	}
}

// changed records the end of an attempt that ended with its step: its participants have answered, its run was closed, or a
// command has aborted it.
func (g *Graph) changed(c *reactive.Change, e *journal.Event) {
	was := c.Call
	if was == nil {
		was = &reactive.CallChange{Key: g.root.Key(c.Node), Attempt: g.root.Attempt(c.Node)}
	} else if c.To == reactive.Absent {
		for _, i := range g.asked[was.Key] {
			g.cut(i, e)
		}
		delete(g.asked, was.Key)
	}
	i, ok := g.find(was.Key, reactive.Request{Attempt: was.Attempt})
	if !ok || !g.calls[i].Ended.IsZero() {
		return
	}
	if c.Call == nil {
		was.Output, was.Failure = g.root.Output(c.Node), g.root.Failure(c.Node)
	}
	switch c.To {
	case reactive.Completed:
		g.end(i, e, Completed, was.Output, nil)
	case reactive.Failed, reactive.Skipped:
		g.end(i, e, Failed, nil, was.Failure)
	case reactive.Aborted:
		g.end(i, e, Aborted, nil, was.Failure)
	case reactive.Absent:
		g.cut(i, e)
	}
}

// cut ends a call that no step waits for any more.
func (g *Graph) cut(i int32, e *journal.Event) {
	if e.ByTimer() {
		g.end(i, e, Failed, nil, e.FailureOr(reactive.CodeTimeout))
		return
	}
	g.end(i, e, Aborted, nil, &journal.Failure{Code: reactive.CodeAborted, Message: "no step waits for it any more"})
}

func (g *Graph) end(i int32, e *journal.Event, status Status, output any, failure *journal.Failure) {
	c := &g.calls[i]
	if !c.Ended.IsZero() {
		return
	}
	c.Ended, c.Status, c.Failure = e.Time(), status, failure
	if status == Completed {
		c.Output = output
	}
}

// keyOf returns the key of a request's step. It reports false if the call has ended and another call has its node.
func (g *Graph) keyOf(req reactive.Request) (string, bool) {
	return g.root.Key(req.Node), g.root.Request(req.Node, req.Attempt).Use == req.Use
}

func (g *Graph) find(step string, req reactive.Request) (int32, bool) {
	i, ok := g.index[reactive.CallName(step, req.Attempt, req.Participant, req.Decision)]
	return i, ok
}

// call returns the node of a request, creating it if necessary.
func (g *Graph) call(step string, req reactive.Request) int32 {
	if i, ok := g.find(step, req); ok {
		return i
	}
	c := Node{
		Request: reactive.CallName(step, req.Attempt, req.Participant, req.Decision), Run: g.start.Run, Step: step, Attempt: req.Attempt,
		Participant: req.Participant, Decision: req.Decision, Status: Pending, Identity: g.start.Identity,
		Parent: g.start.Parent, parent: -1,
	}
	c.ID = g.full(c.Request)
	if op := g.operation(step, req.Decision != 0); op != "" {
		c.Operation, c.Status = op, Running
	}
	if req.Participant != "" || req.Decision != 0 {
		c.parent = g.call(step, reactive.Request{Attempt: req.Attempt})
		c.Parent = g.calls[c.parent].ID
	}
	i := int32(len(g.calls))
	g.index[c.Request] = i
	g.calls = append(g.calls, c)
	return i
}

// operation returns the operation of a step, or of its decision source.
func (g *Graph) operation(step string, decision bool) string {
	if g.root == nil {
		return ""
	}
	v, ok := g.root.Node(step)
	if !ok {
		return ""
	}
	place := g.root.Place(v)
	switch {
	case place.Kind != plan.Step || decision && place.Decision < 0:
		return ""
	case decision:
		return g.root.Plan().Operations[place.Decision].Name
	}
	return g.root.Plan().Operations[place.Op].Name
}

// full returns the name of a request with the id of its run.
func (g *Graph) full(name string) string {
	if g.start.Run == "" {
		return name
	}
	return g.start.Run + "/" + name
}

// Meet replaces more than MeetMax calls by one node in which they meet. The place names that node.
func (g *Graph) Meet(place string, before []int32) []int32 {
	if len(before) <= MeetMax {
		return before
	}
	g.named[place]++
	if n := g.named[place]; n > 1 {
		place += "~" + strconv.Itoa(n)
	}
	g.meets = append(g.meets, meeting{place, before})
	return []int32{^int32(len(g.meets) - 1)}
}

// Calls returns the requests in the order in which they first appeared. The slice is valid until the next Apply.
func (g *Graph) Calls() []Node { return g.calls }

// Start returns the parameters of the run. They are zero before its first event.
func (g *Graph) Start() journal.Start { return g.start }

// Leading returns the part of a graph that leads to the call with an ID: the call and the chain of calls that made it, without
// depends_on edges.
func (g *Graph) Leading(id string) *Graph {
	out := &Graph{start: g.start}
	i := slices.IndexFunc(g.calls, func(c Node) bool { return c.ID == id })
	for n := int32(i); n >= 0; n = g.calls[n].parent {
		c := g.calls[n]
		c.before = nil
		out.calls = append(out.calls, c)
	}
	slices.Reverse(out.calls)
	for n := range out.calls {
		out.calls[n].parent = int32(n) - 1
	}
	return out
}

// Merge returns one graph of the calls of several runs, the calls of a parent before those of its children, and the call of
// each node by id: nil for a node in which many calls meet, and for a call of a run that is not among the parts. The keys of
// nodes are the IDs of calls.
func Merge(parts ...*Graph) (*dag.Graph, []*Node, error) {
	m := merger{builder: dag.NewBuilder(dag.CallGraph)}
	for _, g := range parts {
		m.nodes(g)
	}
	for k, g := range parts {
		m.edges(g, m.first[k])
	}
	graph, err := m.builder.Build()
	return graph, m.calls, err
}

// merger collects the nodes of a merged graph: the calls of each part, then its meetings.
type merger struct {
	builder *dag.Builder
	calls   []*Node
	first   []int32 // by part: its first call
}

func (m *merger) add(key string, c *Node) {
	m.builder.AddNode(key)
	m.calls = append(m.calls, c)
}

func (m *merger) nodes(g *Graph) {
	if from := g.start.Parent; from != "" {
		if _, ok := m.builder.Node(from); !ok {
			m.add(from, nil)
		}
	}
	m.first = append(m.first, int32(len(m.calls)))
	for i := range g.calls {
		m.add(g.calls[i].ID, &g.calls[i])
	}
	for i := range g.meets {
		m.add(g.full(g.meets[i].place), nil)
	}
}

func (m *merger) edges(g *Graph, first int32) {
	meets := first + int32(len(g.calls))
	wait := func(to int32, before []int32) {
		for _, from := range before {
			if from < 0 {
				from = meets + ^from
			} else {
				from += first
			}
			m.builder.AddEdge(from, to, dag.Attributes{Type: dag.DependsOn})
		}
	}
	for i := range g.calls {
		c := &g.calls[i]
		if parent, ok := m.builder.Node(c.Parent); ok {
			m.builder.AddEdge(parent, first+int32(i), dag.Attributes{Type: dag.Triggered})
		}
		wait(first+int32(i), c.before)
	}
	for i := range g.meets {
		wait(meets+int32(i), g.meets[i].before)
	}
}
