package playbook

import (
	"fmt"

	"github.com/sluiceflow/sluice/dag/petri"
)

// Net returns the playbook as a net: a place for the tokens of each step and, after it, places for the tokens that its arcs
// move. Transition i is step i; the transitions after the steps are arcs, named a -> b, and ends of branches without an arc.
//
//	exclusive     a ──▶ [a] ──▶ ( ) ──▶ [a -> b] ──▶ b        inclusive     a ──▶ [a] ──▶ ( ) ──▶ [a -> b] ──▶ b
//	                             ├────▶ [a -> c] ──▶ c                            │        └────▶ [a, not b]
//	                             └────▶ [a, no arc]                               └────▶ ( ) ──▶ [a -> c] ──▶ c
//
// Guards are free choices in the net, except the literals true and false. A gate can be opened from outside, by a change of
// ctx, unless none of its rules allows anything. The final step gets its token when the rest of the run has ended. The net does
// not model this token, so the step has tokens in it only if arcs lead to the step. Net costs O(steps + arcs).
func (p *Playbook) Net() *petri.Net {
	b := &netBuilder{Builder: petri.NewBuilder()}
	for i, s := range p.Steps {
		tokens := 0
		if i == p.Executor.Entry {
			tokens = 1
		}
		b.Place(s.Name, tokens)
	}
	routers := make([][]int32, len(p.Steps))
	for i, s := range p.Steps {
		routers[i] = b.routers(s)
		b.Transition(s.Name, []int32{int32(i)}, routers[i])
		if s.Admit != nil {
			b.Gate(int32(i), s.Admit.canAllow())
		}
		if s.Join != nil && s.Join.Mode == JoinCount && s.Join.N > 0 {
			b.Join(int32(i), s.Join.N)
		}
	}
	for i, s := range p.Steps {
		b.arcs(p, s, routers[i])
	}
	net, err := b.Build()
	if err != nil {
		panic("playbook: " + err.Error()) // names of steps are unique and differ from all other names
	}
	return net
}

type netBuilder struct{ *petri.Builder }

// routers adds the places between a step and its arcs: one place for which the arcs compete, or one place for each arc.
func (b *netBuilder) routers(s *Step) []int32 {
	if s.Next == nil || len(s.Next.Arcs) == 0 {
		return nil
	}
	if !s.Next.Inclusive {
		return []int32{b.Place(s.Name+" ended", 0)}
	}
	places := make([]int32, len(s.Next.Arcs))
	for i := range places {
		places[i] = b.Place(fmt.Sprintf("%s ended [%d]", s.Name, i), 0)
	}
	return places
}

// arcs adds the transitions that move tokens from a step to the next steps, and those that end them.
func (b *netBuilder) arcs(p *Playbook, s *Step, routers []int32) {
	if len(routers) == 0 {
		return
	}
	always := false // an arc that always holds has been found
	for i := range s.Next.Arcs {
		a := &s.Next.Arcs[i]
		from := []int32{routers[min(i, len(routers)-1)]}
		if !a.never() && (s.Next.Inclusive || !always) {
			b.Transition(fmt.Sprintf("%s -> %s [%d]", s.Name, p.Steps[a.To].Name, i), from, []int32{int32(a.To)})
		}
		always = always || a.always()
		if s.Next.Inclusive && !a.always() {
			b.Transition(fmt.Sprintf("%s, not %s [%d]", s.Name, p.Steps[a.To].Name, i), from, nil)
		}
	}
	if !s.Next.Inclusive && !always {
		b.Transition(s.Name+", no arc", routers, nil)
	}
}

// always reports whether an arc's guard is a constant that is true; never, whether it is a constant that is false.
func (a *Arc) always() bool {
	yes, fixed := decided(a.When)
	return fixed && yes
}

func (a *Arc) never() bool {
	yes, fixed := decided(a.When)
	return fixed && !yes
}

// decided returns the value of a constant guard, and whether the guard is constant. A missing guard is true.
func decided(when Expr) (yes, fixed bool) {
	if when == nil {
		return true, true
	}
	if _, fixed = constant(when); !fixed {
		return false, false
	}
	yes, err := when.EvalBool(nil) // a constant reads nothing
	return yes, err == nil
}

// canAllow reports whether some rule may admit a token. The rules after a rule that always holds are never evaluated.
func (a *Admit) canAllow() bool {
	for i := range a.Rules {
		switch yes, fixed := decided(a.Rules[i].When); {
		case fixed && yes:
			return a.Rules[i].Allow
		case !fixed && a.Rules[i].Allow:
			return true
		}
	}
	return false
}
