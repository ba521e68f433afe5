package playbook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/dag/petri"
	"github.com/sluiceflow/sluice/template/document"
)

// lint returns the warnings about a valid playbook, in the order of the document.
func (r *reader) lint(f *fanOuts) document.Errors {
	l := &linter{reader: r, into: make([][]*Step, len(r.book.Steps)), writes: make([]map[string]bool, len(r.book.Steps))}
	for i, s := range r.book.Steps {
		l.writes[i] = writtenBy(s)
		if s.Next == nil {
			continue
		}
		for _, a := range s.Next.Arcs {
			if into := l.into[a.To]; len(into) == 0 || into[len(into)-1] != s {
				l.into[a.To] = append(into, s)
			}
		}
	}
	for _, s := range r.book.Steps {
		l.unguarded(s)
		l.deadArcs(s)
		l.endings(s)
		l.latch(s)
	}
	l.final()
	l.structure()
	l.strayJoins(f)
	l.names()
	sorted, _ := r.warnings.Err().(document.Errors)
	return sorted
}

// linter checks a whole playbook.
type linter struct {
	*reader
	into   [][]*Step         // by step: the steps with arcs to it, each once
	writes []map[string]bool // by step: the keys of ctx that it writes
}

// anyError is a condition that holds for every error.
var anyError = regexp.MustCompile(`^\s*\{\{-?\s*(?:outcome|output)\.status\s*==\s*(?:"error"|'error')\s*-?\}\}\s*$`)

// lintClauses warns of rules that are never evaluated, and of rules without an else; unmatched describes the consequence.
func (r *reader) lintClauses(n *document.Node, list []clause, unmatched string) {
	for i, c := range list {
		if c.when != nil {
			if text, _ := c.when.Text(); anyError.MatchString(text) {
				unmatched = ""
			}
			continue
		}
		if i < len(list)-1 {
			r.warn(list[i+1].node.Pos, "this rule is never evaluated: it comes after an else")
		}
		return
	}
	if len(list) > 0 && unmatched != "" {
		r.warn(n.Pos, "no else: %s", unmatched)
	}
}

// words are the texts that Jinja's dialect accepts as true and false.
var words = []string{"true", "yes", "1", "false", "no", "0", ""}

// lintCondition warns of a guard in Jinja's dialect that is a text but was probably meant to be an expression.
func (r *expressions) lintCondition(n *document.Node, e Expr) {
	v, fixed := constant(e)
	text, _ := v.(string)
	switch {
	case alwaysText(e):
		r.warn(n.Pos, "%s is a text around an expression, and holds only when it reads true, yes or 1: write all of it as one {{ … }}", lastKey(n.Pos))
	case fixed && !slices.Contains(words, strings.ToLower(text)):
		r.warn(n.Pos, "%s is a text and never holds: write it as {{ … }}", lastKey(n.Pos))
	}
}

// unguarded warns of an arc that is also followed after a failure without handling it, which is seldom intended.
func (l *linter) unguarded(s *Step) {
	if s.Next == nil || !s.canFail() {
		return
	}
	for i := range s.Next.Arcs {
		a := &s.Next.Arcs[i]
		if a.When == nil {
			l.warn(a.Pos, "step %q can fail, and this arc is then followed as well, without handling the failure: give it a when such as event.name == %q",
				s.Name, s.endings()["event.name"][0])
			return
		}
		if readsOutcome(a.When) && !s.Next.Inclusive {
			return // an arc before this one reads the outcome of the step
		}
	}
}

// readsOutcome reports whether a guard reads the outcome of a step.
func readsOutcome(e Expr) bool {
	keys, all := e.Keys("event")
	return all || slices.Contains(keys, "name") || slices.Contains(keys, "status") || slices.Contains(keys, "error")
}

// canFail reports whether a step's tasks can fail it under their rules.
func (s *Step) canFail() bool {
	return slices.ContainsFunc(s.Tasks, func(t *Task) bool {
		if t.CallSite >= 0 && (!t.HasPolicy || t.Unmatched || s.Timeout > 0) {
			return true
		}
		return slices.ContainsFunc(t.Rules, func(r Rule) bool { return r.Do == Fail || r.Do == Retry })
	})
}

// deadArcs warns of arcs that are never followed.
func (l *linter) deadArcs(s *Step) {
	if s.Next == nil {
		return
	}
	always := false
	for i := range s.Next.Arcs {
		a := &s.Next.Arcs[i]
		switch {
		case a.never():
			l.warn(a.Pos, "this arc is never followed: its when is false")
		case always && !s.Next.Inclusive:
			l.warn(a.Pos, "this arc is never followed: one before it always holds")
		}
		always = always || a.always()
	}
}

// latch warns of a gate that waits for several branches and then admits a token of each.
func (l *linter) latch(s *Step) {
	if s.Admit == nil || s.Admit.Coalesce || s.Admit.AllKeys || s.Join != nil || len(l.into[s.Index]) < 2 {
		return
	}
	bringers := 0
	for _, from := range l.into[s.Index] {
		if slices.ContainsFunc(s.Admit.Keys, func(key string) bool { return l.writes[from.Index][key] }) {
			bringers++
		}
	}
	latched := slices.ContainsFunc(s.Admit.Keys, func(key string) bool { return l.writes[s.Index][key] })
	if bringers > 1 && !latched {
		l.warn(s.Admit.Pos, "each branch that leads here brings a token, and all of them pass this gate: step %q runs once for each. "+
			"Write coalesce: true, or spec.join", s.Name)
	}
}

// writtenBy returns the keys of ctx that a step, its tasks or its arcs write.
func writtenBy(s *Step) map[string]bool {
	keys := map[string]bool{}
	for _, set := range s.sets() {
		if set.Scope == Ctx {
			keys[set.Path[0]] = true
		}
	}
	return keys
}

// sets returns all sets of a step, its tasks and its arcs.
func (s *Step) sets() []Set {
	list := slices.Clone(s.Set)
	for _, t := range s.Tasks {
		list = append(list, t.Set...)
		for i := range t.Rules {
			list = append(list, t.Rules[i].Set...)
		}
	}
	if s.Next != nil {
		for i := range s.Next.Arcs {
			list = append(list, s.Next.Arcs[i].Set...)
		}
	}
	return list
}

// final warns of a final step that may run before the end, in which case it does not run at the end; and of what has no effect at
// the end: no token comes to the final step, and none leaves it.
func (l *linter) final() {
	x := l.book.Executor
	if x.Final < 0 {
		return
	}
	s := l.book.Steps[x.Final]
	switch {
	case x.Final == x.Entry:
		l.warn(s.Pos, "final step %q is where the run begins: it will have run before the end, and is not run again", s.Name)
	case len(l.into[x.Final]) > 0:
		l.warn(s.Pos, "arcs lead to final step %q: when one is followed it has run before the end, and is not run again", s.Name)
	default:
		if s.Join != nil {
			l.warn(s.Join.Pos, "join has no effect: one token comes to the final step")
		}
		if s.Next != nil {
			l.warn(s.Next.Pos, "next has no effect: the run ends after its final step")
		}
	}
}

// structure warns of faults in the structure of the playbook's net.
func (l *linter) structure() {
	net := l.book.Net()
	for _, p := range net.Check() {
		if int(p.Transition) >= len(l.book.Steps) && p.Kind != petri.Cycle {
			continue // an arc: its step is reported
		}
		switch p.Kind {
		case petri.Unreachable:
			l.unreachable(l.book.Steps[p.Transition])
		case petri.Shut:
			s := l.book.Steps[p.Transition]
			l.warn(s.Admit.Pos, "nothing can open the gate of step %q: none of its rules allows a token", s.Name)
		case petri.Unsatisfiable:
			s := l.book.Steps[p.Transition]
			l.warn(s.Join.Pos, "the join of step %q waits for %d tokens, and at most %d can arrive", s.Name, s.Join.N, p.Most)
		case petri.Cycle:
			l.cycle(p.Path)
		}
	}
}

func (l *linter) unreachable(s *Step) {
	if s.Index == l.book.Executor.Final {
		return // it runs when nothing else is left
	}
	why := "no arc leads to it"
	if from := l.into[s.Index]; len(from) > 0 {
		why = fmt.Sprintf("the arcs that lead to it are never followed, such as that of step %q", from[0].Name)
	}
	l.warn(s.Pos, "step %q never runs: %s", s.Name, why)
}

// cycle warns of a cycle that only failures and limits end.
func (l *linter) cycle(path []int32) {
	var names []string
	first := -1
	for _, id := range path {
		if int(id) < len(l.book.Steps) {
			names = append(names, l.book.Steps[id].Name)
			if first < 0 {
				first = int(id)
			}
		}
	}
	l.warn(l.book.Steps[first].Pos, "nothing leads out of the cycle %s -> %s: give one of its arcs a when", strings.Join(names, " -> "), names[0])
}
