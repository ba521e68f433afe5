package playbook

import (
	"strings"

	"github.com/sluiceflow/sluice/dag"
)

// Graph returns the playbook as a graph for drawings and other programs: its steps, in their order, and an edge for each pair
// of steps with arcs between them. The edge of an arc that is always followed is sequential. Any other edge is conditional, and
// its guard is the when of the arc. An arc without a when that comes after others in an exclusive router has their negated
// guards. Several arcs between two steps are one edge: its condition is that any of them holds. Arcs may lead back, so the
// graph may have cycles. Graph costs O(steps + arcs² of a step).
func (p *Playbook) Graph() (*dag.Graph, error) {
	b := dag.NewBuilder(dag.TemplateGraph)
	for _, s := range p.Steps {
		b.AddNode(s.Name)
	}
	for i, s := range p.Steps {
		if s.Next == nil {
			continue
		}
		edges := map[int][]dag.Guard{} // by target; nil: always
		var order []int
		for k := range s.Next.Arcs {
			a := &s.Next.Arcs[k]
			guards := p.guards(s.Next, k)
			known, several := edges[a.To]
			switch {
			case !several:
				order = append(order, a.To)
				edges[a.To] = guards
			default:
				edges[a.To] = p.either(known, guards)
			}
		}
		for _, to := range order {
			attrs := dag.Attributes{Type: dag.Sequential}
			if guards := edges[to]; guards != nil {
				attrs.Type, attrs.Guards = dag.Conditional, guards
			}
			b.AddEdge(int32(i), int32(to), attrs)
		}
	}
	return b.Build()
}

// guards returns the conditions of arc k, or nil if it has none.
func (p *Playbook) guards(next *Next, k int) []dag.Guard {
	if a := &next.Arcs[k]; a.When != nil {
		return []dag.Guard{{Condition: a.condition()}}
	}
	if next.Inclusive {
		return nil
	}
	var guards []dag.Guard
	for i := range next.Arcs[:k] {
		if next.Arcs[i].When != nil {
			guards = append(guards, dag.Guard{Condition: next.Arcs[i].condition(), Negated: true})
		}
	}
	return guards
}

// condition returns the text of an arc's when; it is never empty.
func (a *Arc) condition() string {
	if a.Text == "" {
		return "…"
	}
	return a.Text
}

// either returns the guard of two arcs between the same steps.
func (p *Playbook) either(a, b []dag.Guard) []dag.Guard {
	if a == nil || b == nil {
		return nil
	}
	return []dag.Guard{{Condition: p.all(a) + p.word(" || ", " or ") + p.all(b)}}
}

// all combines guards that must all hold into one condition.
func (p *Playbook) all(guards []dag.Guard) string {
	parts := make([]string, len(guards))
	for i, g := range guards {
		parts[i] = "(" + g.Condition + ")"
		if g.Negated {
			parts[i] = p.word("!", "not ") + parts[i]
		}
	}
	return strings.Join(parts, p.word(" && ", " and "))
}

// word returns an operator in the language of the document.
func (p *Playbook) word(ours, jinja string) string {
	if p.Jinja {
		return jinja
	}
	return ours
}
