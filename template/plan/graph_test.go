package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

func compile(t require.TestingT, text string) *plan.Plan {
	checked, err := template.Load("test.yaml", []byte("kind: Workflow\nname: test\n"+text), template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	return p
}

func graphOf(t require.TestingT, p *plan.Plan) *dag.Graph {
	g, err := p.Diagram()
	require.NoError(t, err)
	require.NoError(t, g.CheckAcyclic())
	return g
}

func TestConditionalsAreEdgesWithGuards(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"both branches, and what comes after them", `
steps:
  - {operation: a}
  - conditional: {id: either, test: a, then: [{operation: b}, {operation: c}], else: [{operation: d}]}
  - {operation: z}`, `
a->b:conditional (if steps.a.status == 'completed')
a->d:conditional (unless steps.a.status == 'completed')
b->c
c->z
d->z`,
		}, {
			"nested ones have all their guards, the outermost first", `
steps:
  - {operation: a}
  - conditional:
      test: "{{ input.x }}"
      then:
        - conditional: {test: "{{ input.y }}", then: [{operation: b}], else: [{operation: c}]}
      else:
        - {operation: d}`, `
a->b:conditional (if input.x and if input.y)
a->c:conditional (if input.x and unless input.y)
a->d:conditional (unless input.x)`,
		}, {
			"whoever reads what, nested ones have all their guards", `
steps:
  - {operation: a}
  - conditional:
      test: "{{ steps.a.output.x }}"
      then:
        - conditional: {test: "{{ steps.a.output.y }}", then: [{operation: b}]}
      else: [{operation: c}, {operation: d, needs: [a]}]`, `
a->b:conditional (if steps.a.output.x and if steps.a.output.y)
a->c:conditional (unless steps.a.output.x)
a->d:conditional (unless steps.a.output.x)
c->d`,
		}, {
			"what is read inside a branch is data flow beside the guard", `
steps:
  - {operation: a}
  - conditional: {test: "{{ steps.a.output > 1 }}", then: [{operation: b, input: "{{ steps.a.output }}"}]}`, `
a->b:conditional (if steps.a.output > 1) *`,
		}, {
			"one that nothing comes before stays a node, or its test would be lost", `
steps:
  - conditional: {id: either, test: "{{ input.x }}", then: [{operation: b}]}
  - {operation: c}`, `
either->b:conditional (if input.x)
b->c`,
		}, {
			"in a map's body the map comes before", `
steps:
  - map: {id: each, over: [1], steps: [{operation: a}, {conditional: {test: "{{ item }}", then: [{operation: b}]}}]}`, `
each->a
a->b:conditional (if item)`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := compile(t, c.text).Graph()
			require.NoError(t, err)
			require.Equal(t, strings.TrimPrefix(c.want, "\n"), strings.Join(edgesOf(g), "\n"))
		})
	}
}

// edgesOf lists the edges as their keys, with the guards and a star for data flow.
func edgesOf(g *dag.Graph) []string {
	edges := []string{}
	for e := range g.Edges() {
		text := g.EdgeKey(e)
		if label := e.Attrs.Label(); label != "" {
			text += " (" + strings.ReplaceAll(label, "\n", " and ") + ")"
		}
		if e.Attrs.DataFlow {
			text += " *"
		}
		edges = append(edges, text)
	}
	return edges
}

func TestDiagram(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"a sequence leads from step to step", `
steps: [{operation: a}, {operation: b}, {operation: c}]`, `
a->b
b->c`,
		}, {
			"data flow is marked on the edge that is there anyway, and makes one of its own elsewhere", `
steps: [{operation: a}, {operation: b, input: "{{ steps.a.output }}"}, {operation: c, input: "{{ steps.a.output }}"}]`, `
a->b *
a->c:data *
b->c`,
		}, {
			"what is needed besides is an order, whatever is read", `
steps:
  - parallel:
      steps:
        - {operation: a}
        - {operation: b, needs: [a], input: "{{ steps.a.output }}"}`, `
a->b *`,
		}, {
			"a join of few dissolves", `
steps:
  - parallel: {steps: [{operation: a}, {operation: b}, {operation: c}]}
  - parallel: {steps: [{operation: x}, {operation: y}, {operation: z, input: "{{ steps.b.output }}"}]}`, `
a->x
a->y
a->z
b->x
b->y
b->z *
c->x
c->y
c->z`,
		}, {
			"branches are guarded, a bare step id is written out", `
steps:
  - {operation: a}
  - conditional: {id: either, test: a, then: [{operation: b}, {operation: c-1}], else: [{operation: d}]}
  - conditional: {test: "{{ input.ok }}", then: [{operation: e}]}
  - conditional: {test: c-1, then: [{operation: f}]}`, `
a->either
either->b:conditional (if steps.a.status == 'completed')
either->d:conditional (unless steps.a.status == 'completed')
b->c-1
c-1->steps[2]
c-1->steps[3]
d->steps[2]
steps[2]->e:conditional (if input.ok)
e->steps[3]
steps[3]->f:conditional (if steps["c-1"].status == 'completed')`,
		}, {
			"a test that reads a status orders, also past what lies between", `
steps:
  - {operation: a}
  - {operation: b}
  - conditional: {id: either, test: "{{ steps.a.status == 'failed' }}", then: []}`, `
a->b
a->either
b->either`,
		}, {
			"a Go function decides under its name", `
steps: [{operation: a}, {conditional: {func: {name: cheap}, then: [{operation: b}]}}]`, `
a->steps[1]
steps[1]->b:conditional (if cheap)`,
		}, {
			"a map leads into its body, its successors come from the map", `
steps:
  - {operation: a}
  - map: {id: each, over: [1], steps: [{operation: b}, {map: {id: inner, over: [2], steps: [{operation: c}]}}]}
  - {operation: d}`, `
a->each
each->b
each->d
b->inner
inner->c`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graphOf(t, compile(t, c.text))
			require.Equal(t, strings.TrimPrefix(c.want, "\n"), strings.Join(edgesOf(g), "\n"))
		})
	}
}

func TestAJoinOfManyIsANode(t *testing.T) {
	wide := func(name string) string {
		text := "  - parallel:\n      steps:\n"
		for i := range 10 {
			text += fmt.Sprintf("        - {operation: %s%d}\n", name, i)
		}
		return text
	}
	p := compile(t, "steps:\n"+wide("a")+wide("b"))
	g := graphOf(t, p)
	require.Equal(t, 21, g.NodeCount())
	require.Equal(t, 20, g.EdgeCount())
	join, ok := g.Node("#20")
	require.True(t, ok, "a join stands after what it joins")
	require.Equal(t, 10, g.InDegree(join))
	require.Equal(t, 10, g.OutDegree(join))
}

// TestGraphReachesWhatThePlanReaches compares the graph with the plan's own edges: for trees of any shape, a row waits for
// another in the graph if and only if it does in the plan.
func TestGraphReachesWhatThePlanReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		var steps func(depth int) string
		steps = func(depth int) string {
			var list []string
			for range rapid.IntRange(1, 4).Draw(t, "length") {
				n++
				switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
				case depth == 0 || kind == 0:
					list = append(list, fmt.Sprintf("{operation: s%d}", n))
				case kind == 1:
					list = append(list, "{parallel: {steps: "+steps(depth-1)+"}}")
				case kind == 2:
					list = append(list, "{sequential: {steps: "+steps(depth-1)+"}}")
				default:
					list = append(list, "{conditional: {test: \"{{ true }}\", then: "+steps(depth-1)+"}}")
				}
			}
			return "[" + strings.Join(list, ", ") + "]"
		}
		p := compile(t, "steps: "+steps(3))
		g := graphOf(t, p)
		if rapid.Bool().Draw(t, "guards") {
			var err error
			g, err = p.Graph()
			require.NoError(t, err)
		}
		next := make([][]int32, len(p.Nodes))
		for _, e := range p.Edges {
			next[e.From] = append(next[e.From], e.To)
		}
		for row := range p.Nodes {
			from, ok := g.Node(p.GraphKey(int32(row)))
			if !ok {
				require.NotEqual(t, plan.Step, p.Nodes[row].Kind)
				continue
			}
			reached := map[int32]bool{}
			for queue := []int32{int32(row)}; len(queue) > 0; queue = queue[1:] {
				for _, to := range next[queue[0]] {
					if !reached[to] {
						reached[to] = true
						queue = append(queue, to)
					}
				}
			}
			for to := range p.Nodes {
				if id, ok := g.Node(p.GraphKey(int32(to))); ok && to != row {
					require.Equal(t, reached[int32(to)], g.Reaches(from, id), "%s to %s", g.Key(from), g.Key(id))
				}
			}
		}
	})
}

// TestEdgesHaveTheGuardsAroundTheirTargets walks random trees of conditionals whose tests read any step before them.
func TestEdgesHaveTheGuardsAroundTheirTargets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		around := map[string][]string{} // by step: the guards, outermost first
		var done []string
		var steps func(depth int, guards []string) string
		steps = func(depth int, guards []string) string {
			var list []string
			for range rapid.IntRange(1, 3).Draw(t, "length") {
				n++
				if depth == 0 || rapid.Bool().Draw(t, "step") {
					id := fmt.Sprint("s", n)
					around[id] = guards
					done = append(done, id)
					list = append(list, "{operation: "+id+"}")
					continue
				}
				test := fmt.Sprint(n, " > 0")
				if len(done) > 0 {
					test = fmt.Sprintf("steps.%s.status == '%d'", rapid.SampledFrom(done).Draw(t, "read"), n)
				}
				within := func(word string) string { return steps(depth-1, append(slices.Clone(guards), word+test)) }
				list = append(list, fmt.Sprintf(`{conditional: {test: "{{ %s }}", then: %s, else: %s}}`, test, within("if "), within("unless ")))
			}
			return "[" + strings.Join(list, ", ") + "]"
		}
		p := compile(t, "steps: "+steps(3, nil))
		g, err := p.Graph()
		require.NoError(t, err)
		for e := range g.Edges() {
			from, isStep := around[g.Key(e.From)]
			want, ok := around[g.Key(e.To)]
			if !isStep || !ok {
				continue // a conditional without predecessors
			}
			outside := func(guard string) bool {
				test := guard[strings.Index(guard, " "):]
				return !slices.ContainsFunc(from, func(g string) bool { return strings.HasSuffix(g, test) })
			}
			for len(want) > 0 && !outside(want[0]) {
				want = want[1:]
			}
			require.Equal(t, strings.Join(want, "\n"), e.Attrs.Label(), "%s", g.EdgeKey(e))
		}
	})
}
