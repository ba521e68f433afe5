package reactive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/callgraph"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// graphOf makes the call graph of a journal.
func graphOf(p *plan.Plan, events []journal.Event) *callgraph.Graph {
	g := callgraph.New(reactive.New(p))
	for i := range events {
		e := events[i]
		e.Hint = 0
		g.Apply(&e)
	}
	return g
}

// waits describes the calls that each call of a run waited for, without the run's name: "b#1 after a#1", "b#1 by a#1".
func waits(t require.TestingT, parts ...*callgraph.Graph) []string {
	graph, calls, err := callgraph.Merge(parts...)
	require.NoError(t, err)
	require.NoError(t, graph.CheckAcyclic())
	require.Len(t, calls, graph.NodeCount())
	run := parts[len(parts)-1].Start().Run + "/"
	var list []string
	for e := range graph.Edges() {
		word := " after "
		if e.Attrs.Type == dag.Triggered {
			word = " by "
		}
		list = append(list, strings.TrimPrefix(graph.Key(e.To), run)+word+strings.TrimPrefix(graph.Key(e.From), run))
	}
	slices.Sort(list)
	return list
}

func callStatuses(g *callgraph.Graph) []string {
	var list []string
	for _, c := range g.Calls() {
		text := c.Request + " " + string(c.Status)
		if c.Failure != nil {
			text += " " + c.Failure.Code
		}
		list = append(list, text)
	}
	return list
}

// The predecessors of a call are known when it is requested: a later attempt is not among them.
func TestACallHasWaitedForWhatWasThere(t *testing.T) {
	r := play(t, load(t, `
kind: Workflow
name: w
steps: [{operation: a}, {operation: b}, {operation: c}]`), "a+", "a!", "b+", "b!", "c+", "cx")
	r.append(journal.Event{Type: journal.NodeRetried, Node: "a"})
	for _, in := range []string{"a#2+", "a#2!", "c#2+"} {
		r.input(in)
	}
	require.Equal(t, []string{"b#1 after a#1", "c#1 after b#1", "c#2 after b#1"}, waits(t, graphOf(r.plan, r.journal)))
}

func TestMapsAreWaitedForByItem(t *testing.T) {
	p := load(t, `
kind: Workflow
name: w
steps:
  - {operation: a}
  - map:
      id: outer
      over: [1, 2]
      as: x
      steps:
        - {operation: b}
        - map: {id: inner, over: "{{ [x, x] }}", as: y, steps: [{operation: c}, {operation: d}]}
  - {operation: e}
  - map: {id: none, over: [], as: z, steps: [{operation: never}]}
  - {operation: f}`)
	r := play(t, p, "a+", "a!", "b[0]+", "b[1]+", "b[0]!", "c[0][0]+", "c[0][1]+", "c[0][0]!", "d[0][0]+", "c[0][1]!", "d[0][1]+",
		"b[1]!", "c[1][0]+", "c[1][1]+", "c[1][0]!", "c[1][1]!", "d[1][0]+", "d[1][1]+", "d[0][0]!", "d[0][1]!", "d[1][0]!", "d[1][1]!",
		"e+", "e!", "f+")
	require.Equal(t, []string{
		"b[0]#1 after a#1", "b[1]#1 after a#1", "c[0][0]#1 after b[0]#1", "c[0][1]#1 after b[0]#1", "c[1][0]#1 after b[1]#1",
		"c[1][1]#1 after b[1]#1", "d[0][0]#1 after c[0][0]#1", "d[0][1]#1 after c[0][1]#1", "d[1][0]#1 after c[1][0]#1",
		"d[1][1]#1 after c[1][1]#1", "e#1 after d[0][0]#1", "e#1 after d[0][1]#1", "e#1 after d[1][0]#1", "e#1 after d[1][1]#1",
		"f#1 after e#1",
	}, waits(t, graphOf(p, r.journal)))
}

// The calls that represent a map change with the first call in it.
func TestAMapThatHasBegunIsWaitedFor(t *testing.T) {
	r := play(t, load(t, `
kind: Workflow
name: w
steps: [{operation: a}, {map: {id: m, over: [1], as: x, steps: [{operation: b}]}}, {operation: c}]`), "a+", "a!", "c+", "b[0]+", "c#2+")
	require.Equal(t, []string{"b[0]#1 after a#1", "c#1 after a#1", "c#2 after b[0]#1"}, waits(t, graphOf(r.plan, r.journal)))
}

// When thousands of calls wait for thousands, one node joins them: there are as many edges as calls, not their square.
func TestManyMeetInOneNode(t *testing.T) {
	const n = 1000
	wide := func(id string) *template.Parallel {
		all := &template.Parallel{}
		for i := range n {
			all.Steps = append(all.Steps, &template.Step{ID: fmt.Sprint(id, i), Operation: "op"})
		}
		return all
	}
	p := compile(t, &template.Workflow{Name: "wide", Steps: []template.Node{wide("a"), wide("b")}})
	g := callgraph.New(reactive.New(p))
	g.Apply(&journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}})
	for _, id := range []string{"a", "b"} {
		for i := range n {
			g.Apply(&journal.Event{Type: journal.CallRequested, Node: fmt.Sprint(id, i), Attempt: 1})
			g.Apply(&journal.Event{Type: journal.CallResponded, Node: fmt.Sprint(id, i), Attempt: 1})
		}
	}
	graph, calls, err := callgraph.Merge(g)
	require.NoError(t, err)
	require.Equal(t, []int{2*n + 1, 2 * n}, []int{graph.NodeCount(), graph.EdgeCount()})
	b0, _ := graph.Node("r/b0#1")
	for meeting := range graph.In(b0) {
		require.Nil(t, calls[meeting])
		require.Equal(t, n, graph.InDegree(meeting))
	}
}

func TestParticipantsAndDecisionsAreCalls(t *testing.T) {
	s := newDriver(t, load(t, `
kind: Workflow
name: w
steps:
  - id: ask
    operation: quote
    target: {resolve: static, participants: [ann, bob, "c/d"]}
    fan_in: {policy: quorum, min_responses: 2}
    fulfillment: {policy: external_decision, decision_source: {kind: automatic, operation: judge}}
  - {operation: next}`)).start()
	s.receive(1, of("bob", failedWith("ask", 1, "busy", false)))
	s.receive(2, of("ann", responded("ask", 1, "A")))
	s.receive(3, of("c/d", responded("ask", 1, "C")))
	s.receive(4, of("bob", responded("ask", 1, "late")))
	s.receive(5, undecidable("ask", 1, 1))
	g := graphOf(s.plan, s.journal)
	require.Contains(t, callStatuses(g), "ask#1 completed")
	require.Contains(t, callStatuses(g), "ask#1:bob failed busy", "the first end counts")
	require.Contains(t, callStatuses(g), "ask#1:c%2Fd completed")
	require.Contains(t, callStatuses(g), "ask#1?1 failed broken")
	require.Equal(t, []string{"ask#1:ann by ask#1", "ask#1:bob by ask#1", "ask#1:c%2Fd by ask#1", "ask#1?1 by ask#1"}, waits(t, g))
	for _, c := range g.Calls() {
		want := "quote"
		if c.Decision != 0 {
			want = "judge"
		}
		require.Equal(t, want, c.Operation, c.Request)
	}
}

// Calls may end without an event of their own: a call is no longer needed, a command aborted it, or its run was closed.
func TestCallsEndWithWhatTheyWereFor(t *testing.T) {
	s := newDriver(t, load(t, `
kind: Workflow
name: w
steps:
  - parallel:
      steps:
        - {id: first, operation: op, target: {resolve: static, participants: [ann, bob]}}
        - {id: aborted, operation: op}
        - {id: open, operation: op}`)).start()
	s.receive(1, of("ann", responded("first", 1, "A")), journal.Event{Type: journal.NodeAborted, Node: "aborted"})
	s.receive(2, responded("aborted", 1, "late"), journal.Event{Type: journal.RunCancelled, Detail: &journal.Detail{Reason: "enough"}})
	s.receive(3, responded("open", 1, "late"))
	require.ElementsMatch(t, []string{
		"first#1 completed", "first#1:ann completed", "first#1:bob aborted aborted", "aborted#1 aborted aborted",
		"open#1 aborted cancelled",
	}, callStatuses(graphOf(s.plan, s.journal)))
}

// The calls of a child run were made by the call that started it, and so on upwards.
func TestLineageLeadsToTheFirstRun(t *testing.T) {
	p := load(t, `{kind: Workflow, name: w, steps: [{operation: a}, {operation: b}]}`)
	who := &journal.Identity{ID: "ann"}
	var parts []*callgraph.Graph
	parent := ""
	for range 4 {
		start := journal.Start{Run: parent, Parent: parent, Identity: who}
		if parent == "" {
			start.Run = "r"
		}
		g := callgraph.New(reactive.New(p))
		g.Apply(&journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &start}})
		g.Apply(&journal.Event{Type: journal.CallRequested, Node: "a", Attempt: 1, At: 1})
		g.Apply(&journal.Event{Type: journal.CallResponded, Node: "a", Attempt: 1, At: 2})
		g.Apply(&journal.Event{Type: journal.CallRequested, Node: "b", Attempt: 1, At: 3})
		parts = append(parts, g)
		parent = start.Run + "/b#1"
	}
	graph, calls, err := callgraph.Merge(parts...)
	require.NoError(t, err)
	require.Equal(t, 8, graph.NodeCount())
	last, ok := graph.Node("r/b#1/b#1/b#1/a#1")
	require.True(t, ok)
	require.Equal(t, "r/b#1/b#1/b#1", calls[last].Parent)
	require.Same(t, who, calls[last].Identity)
	var lineage []string
	for v := range graph.Lineage(last) {
		lineage = append(lineage, graph.Key(v))
	}
	require.Equal(t, []string{"r/b#1/b#1/b#1", "r/b#1/b#1", "r/b#1"}, lineage)

	leading := parts[2].Leading("r/b#1/b#1/b#1")
	require.Equal(t, []string{
		"a#1 by r/b#1/b#1/b#1", "b#1 after a#1", "b#1 by r/b#1/b#1/b#1", "r/b#1/b#1/b#1 by r/b#1/b#1",
	}, waits(t, leading, parts[3]))
}

// callModel computes a call graph from the journal and the plan alone, anew for each call.
type callModel struct {
	plan  *plan.Plan
	calls map[string]int32 // newest attempt so far, by step
}

func (m *callModel) before(row int32, suffix string, into map[string]bool) {
	list := m.plan.Predecessors(row)
	for _, p := range list {
		m.end(p, suffix, into)
	}
	if around := m.plan.Nodes[row].Map; len(list) == 0 && around >= 0 {
		m.before(around, suffix[:strings.LastIndex(suffix, "[")], into)
	}
}

func (m *callModel) end(row int32, suffix string, into map[string]bool) {
	n := &m.plan.Nodes[row]
	if attempt := m.calls[n.Key+suffix]; n.Kind == plan.Step && attempt > 0 {
		into[fmt.Sprintf("%s%s#%d", n.Key, suffix, attempt)] = true
		return
	}
	within := map[string]bool{} // items that have called something
	for row2 := row + 1; n.Kind == plan.Map && row2 < n.End; row2++ {
		for key := range m.calls {
			if rest, ok := strings.CutPrefix(key, m.plan.Nodes[row2].Key+suffix+"["); ok && m.plan.Nodes[row2].Kind == plan.Step {
				within[suffix+"["+rest[:strings.Index(rest, "]")]+"]"] = true
			}
		}
	}
	if len(within) == 0 {
		m.before(row, suffix, into)
		return
	}
	for inner := range within {
		for row2 := row + 1; row2 < n.End; row2++ {
			if m.plan.Nodes[row2].Map == row && len(m.plan.Outgoing(row2)) == 0 {
				m.end(row2, inner, into)
			}
		}
	}
}

// checkCalls compares a run's call graph with the model.
func (r *randomRun) checkCalls() {
	g := graphOf(r.plan, r.journal)
	m := &callModel{plan: r.plan, calls: map[string]int32{}}
	requests, started := map[string]bool{}, map[string]bool{}
	var want []string
	for i := range r.journal {
		e := &r.journal[i]
		if e.Attempt == 0 || e.Type < journal.CallRequested || e.Type > journal.CallSkipped {
			continue
		}
		name := reactive.RequestName(e.Node, e.Attempt)
		requests[name] = true
		if e.Type != journal.CallRequested || started[name] {
			continue
		}
		started[name] = true
		id, suffix, _ := strings.Cut(e.Node, "[")
		if suffix != "" {
			suffix = "[" + suffix
		}
		row, ok := r.plan.Row(id)
		require.True(r.t, ok)
		if r.plan.Nodes[row].Kind != plan.Step || !slices.ContainsFunc(g.Calls(), func(c callgraph.Node) bool {
			return c.Request == name && c.Operation != ""
		}) {
			continue // of no step, or of an unknown one
		}
		before := map[string]bool{}
		m.before(row, suffix, before)
		for b := range before {
			want = append(want, name+" after "+b)
		}
		m.calls[e.Node] = e.Attempt
	}
	slices.Sort(want)
	require.ElementsMatch(r.t, want, waits(r.t, g))
	running := map[string]bool{}
	for _, req := range r.root.OpenCalls() {
		running[reactive.RequestName(r.root.Key(req.Node), req.Attempt)] = true
	}
	for _, c := range g.Calls() {
		require.True(r.t, requests[c.Request], "%s was never heard of, or is there twice", c.Request)
		delete(requests, c.Request)
		if v, ok := r.root.Node(c.Step); ok && c.Attempt == r.root.Attempt(v) && !r.root.Closed() {
			require.Equal(r.t, running[c.Request], c.Status == callgraph.Running, "%s %s", c.Request, r.story())
		}
		require.Equal(r.t, c.Status == callgraph.Pending || c.Status == callgraph.Running, c.Ended.IsZero(), c.Request)
	}
	require.Empty(r.t, requests)
}

// story returns the events of a run, and its state.
func (r *randomRun) story() string {
	var b strings.Builder
	for i := range r.journal {
		e := &r.journal[i]
		fmt.Fprintf(&b, "%s %s#%d\n", e.Type, e.Node, e.Attempt)
	}
	return b.String() + state(r.root)
}

// A graph follows random runs: every request is a node, and the edges are determined by the plan and the past.
func TestCallGraphsOfRandomRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRun(t)
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			r.append(r.draw())
		}
		r.checkCalls()
	})
}
