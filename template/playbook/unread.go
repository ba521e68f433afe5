package playbook

import "slices"

// keysWithoutAnswer are the keys of a variable that cannot contain the answer of a task.
var keysWithoutAnswer = map[string][]string{
	"outcome": {"status", "error", "meta", "loop"},
	"output":  {"status", "error", "meta", "loop"},
	"event":   {"step", "step_run_id", "name", "status", "error", "loop"},
}

// findUnread reports, by call site, whether no expression can read its task's answer: then the run does not depend on the
// answer. In Jinja's dialect any name may be the name of a result, and a task that resolves references may read any result.
func (p *Playbook) findUnread() []bool {
	unread := make([]bool, len(p.CallSites))
	if p.Jinja || slices.ContainsFunc(p.CallSites, (*Task).Resolves) {
		return unread
	}
	for _, s := range p.Steps { // tokens carry the event of their step to the next gates
		if slices.ContainsFunc(s.expressions(), func(e Expr) bool { return mayReadAnswer(e, "event") }) {
			return unread
		}
	}
	for site, task := range p.CallSites {
		stays := task.Result == nil && task.Kind != kindHTTP // the form of other answers depends on their values
		unread[site] = stays && !slices.ContainsFunc(p.Steps[task.Step].expressions(), readsAnswers)
	}
	return unread
}

// readsAnswers reports whether an expression of a step may read an answer of its tasks.
func readsAnswers(e Expr) bool {
	return mayReadAnswer(e, "outcome") || mayReadAnswer(e, "output") || slices.Contains(e.Names(), "_prev") || slices.Contains(e.Names(), "results")
}

// mayReadAnswer reports whether an expression may read an answer through the variable name.
func mayReadAnswer(e Expr, name string) bool {
	if !slices.Contains(e.Names(), name) {
		return false
	}
	keys, all := e.Keys(name)
	return all || slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(keysWithoutAnswer[name], key) })
}

// expressions returns all expressions of a step.
func (s *Step) expressions() []Expr {
	list := []Expr{s.Input}
	if s.Admit != nil {
		for _, rule := range s.Admit.Rules {
			list = append(list, rule.When)
		}
	}
	if s.Loop != nil {
		list = append(list, s.Loop.In, s.Loop.MaxInFlight)
	}
	for _, t := range s.Tasks {
		list = append(list, t.Input)
		for _, rule := range t.Rules {
			list = append(list, rule.When, rule.Delay)
		}
	}
	for _, set := range s.sets() {
		list = append(list, set.Value)
	}
	if s.Next != nil {
		for _, arc := range s.Next.Arcs {
			list = append(list, arc.When, arc.Args)
		}
	}
	return slices.DeleteFunc(list, func(e Expr) bool { return e == nil })
}
