package plan

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
)

// Compile makes the plan of a checked workflow. Its only error is a cycle, which it shows.
func Compile(c *template.Checked) (*Plan, error) {
	hash, err := c.Workflow.Hash()
	if err != nil {
		return nil, err
	}
	b := &builder{
		plan: &Plan{Workflow: c.Workflow, Checked: c, Hash: hash, rows: make(map[string]int32, len(c.Items))},
		row:  make([]int32, len(c.Items)),
		ops:  map[string]int32{},
	}
	b.gate, b.inMap, b.group = -1, -1, -1
	if n := c.Workflow.MaxConcurrency; n > 0 {
		b.group = b.addGroup(n)
	}
	b.sequence(c.Workflow.Steps)
	b.dependencies()
	b.plan.Edges = mergeEdges(b.edges)
	if err := b.wire(); err != nil {
		return nil, err
	}
	b.finish()
	return b.plan, nil
}

// builder walks the tree once. gate, branch, inMap and group describe its position.
type builder struct {
	plan   *Plan
	row    []int32 // by Item.Index
	edges  []Edge
	ops    map[string]int32
	gate   int32
	branch Branch
	inMap  int32
	group  int32
}

// span is the ends of a subtree: the rows that a predecessor must lead to, and the rows that lead to a successor. Both are
// empty for a subtree without rows.
type span struct{ heads, tails []int32 }

func (b *builder) add(n Node) int32 {
	row := int32(len(b.plan.Nodes))
	n.Gate, n.Branch, n.Map, n.Group = b.gate, b.branch, b.inMap, b.group
	n.End, n.Source, n.Decision = row+1, -1, -1
	if n.Item != nil {
		n.Key = n.Item.ID
		b.row[n.Item.Index] = row
		if n.Key != "" {
			b.plan.rows[n.Key] = row
		}
	}
	b.plan.Nodes = append(b.plan.Nodes, n)
	return row
}

// addGroup adds a group. No run has more nodes than int32 can number, so a higher limit is the same as the highest.
func (b *builder) addGroup(limit int) int32 {
	b.plan.Groups = append(b.plan.Groups, Group{Parent: b.group, Max: int32(min(limit, math.MaxInt32)), Map: b.inMap})
	return int32(len(b.plan.Groups) - 1)
}

func (b *builder) node(n template.Node) span {
	switch n := n.(type) {
	case *template.Step:
		return b.step(n)
	case *template.Sequential:
		return b.sequence(n.Steps)
	case *template.Parallel:
		return b.parallel(n)
	case *template.Conditional:
		return b.conditional(n)
	case *template.Map:
		return b.each(n)
	}
	panic("plan: a node of no known kind")
}

func (b *builder) step(s *template.Step) span {
	b.function(s.Func)
	row := b.add(Node{Kind: Step, Item: b.plan.Checked.Of[s], Step: s, Op: b.operation(s.Operation), Timing: s.Timing})
	if f := s.Fulfillment; f != nil && f.Policy == template.ExternalDecision && f.Source != nil &&
		(f.Source.Kind == template.DecidedByCapability || f.Source.Kind == template.DecidedAutomatically) {
		b.plan.Nodes[row].Decision = b.operation(cmp.Or(f.Source.Operation, f.Source.CapabilityID))
	}
	return span{[]int32{row}, []int32{row}}
}

func (b *builder) sequence(steps []template.Node) span {
	var all span
	for _, n := range steps {
		next := b.node(n)
		if len(next.heads) == 0 {
			continue
		}
		if all.heads == nil {
			all.heads = next.heads
		} else {
			b.connect(all.tails, next.heads)
		}
		all.tails = next.tails
	}
	return all
}

// connect adds an edge from every tail to every head, through a join if that takes fewer edges.
func (b *builder) connect(tails, heads []int32) {
	if len(tails)*len(heads) > len(tails)+len(heads) {
		join := b.add(Node{Kind: Join, Op: -1})
		b.connect(tails, []int32{join})
		tails = []int32{join}
	}
	for _, t := range tails {
		for _, h := range heads {
			b.edges = append(b.edges, Edge{From: t, To: h})
		}
	}
}

func (b *builder) parallel(p *template.Parallel) span {
	outer := b.group
	if p.MaxConcurrency > 0 {
		b.group = b.addGroup(p.MaxConcurrency)
	}
	var all span
	for _, n := range p.Steps {
		arm := b.node(n)
		all.heads = append(all.heads, arm.heads...)
		all.tails = append(all.tails, arm.tails...)
	}
	b.group = outer
	return all
}

func (b *builder) conditional(c *template.Conditional) span {
	gate := b.add(Node{Kind: Gate, Item: b.plan.Checked.Of[c], Cond: c, Func: b.function(c.Func), Op: -1})
	var tails []int32
	outerGate, outerBranch := b.gate, b.branch
	for i, steps := range [][]template.Node{c.Then, c.Else} {
		b.gate, b.branch = gate, Then+Branch(i)
		arm := b.sequence(steps)
		for _, h := range arm.heads {
			b.edges = append(b.edges, Edge{From: gate, To: h, Guard: true})
		}
		tails = append(tails, arm.tails...)
	}
	b.gate, b.branch = outerGate, outerBranch
	b.plan.Nodes[gate].End = int32(len(b.plan.Nodes))
	if tails == nil {
		tails = []int32{gate}
	}
	return span{[]int32{gate}, tails}
}

// each walks a map's body separately: gates and groups outside do not apply in it, but its items also take slots of the
// groups around the map.
func (b *builder) each(m *template.Map) span {
	row := b.add(Node{Kind: Map, Item: b.plan.Checked.Of[m], Over: m, Func: b.function(m.Func), Op: -1})
	gate, branch, inMap, group := b.gate, b.branch, b.inMap, b.group
	if m.MaxConcurrency > 0 {
		b.group = b.addGroup(m.MaxConcurrency)
	}
	b.gate, b.branch, b.inMap = -1, Undecided, row
	lo := int32(len(b.plan.Groups))
	b.sequence(m.Steps)
	b.gate, b.branch, b.inMap, b.group = gate, branch, inMap, group
	n := &b.plan.Nodes[row]
	n.End = int32(len(b.plan.Nodes))
	n.Slots = [2]int32{lo, int32(len(b.plan.Groups))}
	return span{[]int32{row}, []int32{row}}
}

// function records that the plan needs a Go function.
func (b *builder) function(f *template.Func) string {
	if f == nil {
		return ""
	}
	if i, ok := slices.BinarySearch(b.plan.Functions, f.Name); !ok {
		b.plan.Functions = slices.Insert(b.plan.Functions, i, f.Name)
	}
	return f.Name
}

func (b *builder) operation(name string) int32 {
	if i, ok := b.ops[name]; ok {
		return i
	}
	op := Operation{Name: name, Bound: b.plan.Checked.Bindings[name]}
	if binding, ok := b.plan.Workflow.Operations[name]; ok {
		switch {
		case binding.Value != nil:
			op.Kind = Value
		case binding.Fail != nil:
			op.Kind = Fail
		case binding.Sleep != nil:
			op.Kind = Sleep
		case binding.Wait != nil:
			op.Kind = Wait
		}
	}
	i := int32(len(b.plan.Operations))
	b.plan.Operations = append(b.plan.Operations, op)
	b.ops[name] = i
	return i
}

// dependencies adds the edges that do not follow from the tree: needs, and reads of expressions. Of several edges between
// the same rows, one from a test, which catches the failure, takes precedence over one from the tree, and a needed row over
// one that is only seen (see mergeEdges).
func (b *builder) dependencies() {
	var tested []Edge
	for _, item := range b.plan.Checked.Items {
		to := b.row[item.Index]
		for _, need := range item.Needs {
			b.edges = append(b.edges, b.lift(Edge{From: b.row[need.Index], To: to}))
		}
		_, isTest := item.Node.(*template.Conditional)
		for _, read := range item.Reads {
			e := b.lift(Edge{From: b.row[read.Target.Index], To: to, Read: true, Data: read.Field == expr.Output})
			if e.Data && read.Caught || !e.Data {
				e.Class = Sees
			}
			if e.Data || !isTest {
				b.edges = append(b.edges, e)
				continue
			}
			e.Class = Settles
			b.plan.Nodes[e.From].Tested = true
			tested = append(tested, e)
		}
	}
	b.edges = slices.Concat(tested, b.edges)
	for row := range b.plan.Nodes {
		if m := b.plan.Nodes[row].Map; m >= 0 && b.plan.Nodes[m].Tested {
			b.plan.Nodes[row].Tested = true
		}
	}
}

// lift redirects an edge that enters a map's body from outside to the map: the items wait for nothing outside it.
func (b *builder) lift(e Edge) Edge {
	for to := e.To; to >= 0; to = b.plan.Nodes[to].Map {
		if b.plan.Nodes[to].Map == b.plan.Nodes[e.From].Map {
			e.To = to
			return e
		}
	}
	return e
}

// mergeEdges sorts edges and merges those between the same rows: Settles takes precedence, then Needs, then Sees.
func mergeEdges(edges []Edge) []Edge {
	slices.SortStableFunc(edges, func(a, b Edge) int {
		if a.From != b.From {
			return int(a.From) - int(b.From)
		}
		return int(a.To) - int(b.To)
	})
	out := edges[:0]
	for _, e := range edges {
		if n := len(out); n > 0 && out[n-1].From == e.From && out[n-1].To == e.To {
			out[n-1].Data = out[n-1].Data || e.Data
			out[n-1].Guard = out[n-1].Guard || e.Guard
			out[n-1].Read = out[n-1].Read && e.Read
			if out[n-1].Class == Sees {
				out[n-1].Class = e.Class
			}
			continue
		}
		out = append(out, e)
	}
	return out
}

// wire adds the edges to the rows and ranks the rows.
func (b *builder) wire() error {
	p := b.plan
	n := len(p.Nodes)
	first := make([]int32, n+1)
	to := make([]int32, len(p.Edges))
	class := make([]uint8, len(p.Edges))
	for i, e := range p.Edges {
		first[e.From+1]++
		to[i], class[i] = e.To, uint8(e.Class)
	}
	for i := range n {
		first[i+1] += first[i]
	}
	rank, ok := rankRows(p.Nodes, p.Edges)
	if !ok {
		return cycleError(p)
	}
	w, err := signals.NewWiring(first, to, class, rank, table)
	p.Wiring = w
	return err
}

// finish computes the fields of rows that depend on their neighbours.
func (b *builder) finish() {
	p := b.plan
	p.firstIn = make([]int32, len(p.Nodes)+1)
	p.incoming = make([]int32, len(p.Edges))
	for _, e := range p.Edges {
		p.firstIn[e.To+1]++
		if e.Class == Settles {
			p.Nodes[e.From].Testers = append(p.Nodes[e.From].Testers, e.To)
		}
	}
	for i := range p.Nodes {
		p.firstIn[i+1] += p.firstIn[i]
	}
	at := slices.Clone(p.firstIn)
	for _, e := range p.Edges {
		p.incoming[at[e.To]] = e.From
		at[e.To]++
	}
	for row := range p.Nodes {
		n := &p.Nodes[row]
		if n.Gate >= 0 && n.Kind != Join {
			g := &p.Nodes[n.Gate]
			g.Inside = append(g.Inside, int32(row))
		}
	}
	for row := range p.Nodes {
		if n := &p.Nodes[row]; n.Kind == Step {
			n.Source = b.source(n)
		}
	}
	b.feeds(func(n *Node) bool { return n.Kind == Join })
	b.feeds(func(n *Node) bool { return n.Kind != Join })
	b.rows()
}

// source returns the row of the same body whose output is a step's whole input, so that it can be passed on without
// evaluation; -1: there is none.
func (b *builder) source(n *Node) int32 {
	if len(n.Item.Reads) != 1 || n.Step.Func != nil {
		return -1
	}
	text, ok := n.Step.Input.(string)
	reads := n.Item.Input.Reads()
	if !ok || len(reads) != 1 || reads[0].Field != expr.Output {
		return -1
	}
	inner, opened := strings.CutPrefix(text, "{{")
	inner, closed := strings.CutSuffix(inner, "}}")
	row := b.row[n.Item.Reads[0].Target.Index]
	if !opened || !closed || strings.TrimSpace(inner) != reads[0].Text || b.plan.Nodes[row].Map != n.Map {
		return -1
	}
	return row
}

// feeds returns the rows that a gate depends on, directly or, since joins come first, through a join.
func (b *builder) feeds(these func(n *Node) bool) {
	for row := range b.plan.Nodes {
		n := &b.plan.Nodes[row]
		if !these(n) {
			continue
		}
		for _, e := range b.plan.Outgoing(int32(row)) {
			to := &b.plan.Nodes[e.To]
			n.Feeds = n.Feeds || to.Kind == Gate && !e.Guard || to.Kind == Join && to.Feeds
		}
	}
}

// rows collects the fields that deriving needs.
func (b *builder) rows() {
	p := b.plan
	p.Rows = make([]Row, len(p.Nodes))
	p.Keys = make([]string, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		r := Row{
			Gate: n.Gate, Map: n.Map, Group: n.Group, Op: n.Op, Source: n.Source, Kind: n.Kind, Branch: n.Branch, Feeds: n.Feeds,
			Func: n.Func != "",
		}
		if n.Kind == Step {
			r.OpKind = p.Operations[n.Op].Kind
			r.Timed = n.Timing != nil || p.Workflow.Deadline > 0
			r.Asks = n.Step.Target != nil
			r.Decides = n.Step.Fulfillment != nil
			r.Func = n.Step.Func != nil
		}
		p.Rows[i], p.Keys[i] = r, n.Key
		if n.Kind == Gate && n.Key == "" && r.Func {
			// Journals name it, because the decision of its function is recorded. No id contains a #.
			p.Keys[i] = "#" + strconv.Itoa(n.Item.Index)
			p.rows[p.Keys[i]] = int32(i)
		}
	}
}
