package playbook

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
)

// endings warns of conditions that compare the outcome of a step with a text that it never has.
func (l *linter) endings(s *Step) {
	if s.Next != nil {
		for i := range s.Next.Arcs {
			l.ending(s, s.Next.Arcs[i].Text, s.Next.Arcs[i].Pos)
		}
	}
	for _, t := range s.Tasks {
		for i := range t.Rules {
			l.ending(s, t.Rules[i].Text, t.Rules[i].Pos)
		}
	}
}

// ending checks one condition. It does not warn if the condition also compares with a possible text: the condition may have
// been copied from another step.
func (l *linter) ending(s *Step, text string, pos document.Pos) {
	if l.book.Jinja {
		text = jinjaEventNames.Replace(text)
	}
	list, _, err := l.book.Outlines("{{" + text + "}}")
	if err != nil {
		return // a text around expressions has its own warning
	}
	there := s.endings()
	asked := map[string][]string{}
	for _, o := range list {
		eachComparison(o, func(what, text string) {
			if there[what] != nil {
				asked[what] = append(asked[what], text)
			}
		})
	}
	for _, what := range slices.Sorted(maps.Keys(asked)) {
		if !slices.ContainsFunc(asked[what], func(text string) bool { return slices.Contains(there[what], text) }) {
			l.warn(pos, "%s is never %q: after step %q it is %s", what, asked[what][0], s.Name, strings.Join(there[what], " or "))
		}
	}
}

// endings returns the possible values of the variables that describe the outcome of a step, by the variable's text in
// conditions.
func (s *Step) endings() map[string][]string {
	done := "step.done"
	if s.Loop != nil {
		done = "loop.done"
	}
	return map[string][]string{
		"event.name": {done, "step.failed"}, "event.status": {"done", "failed"},
		"outcome.status": {"ok", "error"}, "output.status": {"ok", "error"},
	}
}

// eachComparison calls tell for each comparison of a variable with a text in an expression.
func eachComparison(o *expr.Outline, tell func(what, text string)) {
	pair := func(a, b *expr.Outline) {
		if a.Kind == expr.Reference && b.IsText() {
			tell(strings.Join(a.Path, "."), b.Value.(string))
		}
	}
	switch o.Kind {
	case expr.Equality:
		pair(o.Args[0], o.Args[1])
		pair(o.Args[1], o.Args[0])
	case expr.Membership:
		for _, one := range o.Args[1].Args {
			pair(o.Args[0], one)
		}
	}
	for _, a := range o.Args {
		eachComparison(a, tell)
	}
}
