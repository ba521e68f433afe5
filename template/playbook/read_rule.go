package playbook

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// clause is one line of a list of rules, in any of these forms:
//
//	{when: …, then: {…}}     {else: {then: {…}}}     and, with a warning,     {else: {…}}     {else: null, then: {…}}
type clause struct {
	node, when, then *document.Node // when is nil for an else
}

// clauses splits a list of rules. unmatched describes the consequence if no rule holds, or is "" if that consequence is
// expected.
func (r *reader) clauses(n *document.Node, unmatched string) []clause {
	var list []clause
	for _, item := range r.list(n) {
		if item.Kind != document.Mapping {
			r.Refuse(item, "a rule must be a mapping, not "+item.Kind.String())
			continue
		}
		c := clause{node: item}
		var otherwise *document.Node
		r.mapping(item, template.Fields{
			"when": func(v *document.Node) { c.when = v },
			"then": func(v *document.Node) { c.then = v },
			"else": func(v *document.Node) { otherwise = v },
		}, nil)
		switch {
		case otherwise != nil && c.when != nil:
			r.Refuse(otherwise, "else cannot be combined with when: it is a rule of its own")
			continue
		case otherwise != nil && otherwise.Kind != document.Null && c.then != nil:
			r.Refuse(c.then, "then cannot be combined with else: write else: {then: {…}}")
			continue
		case otherwise != nil:
			c.then = r.elseAction(otherwise, c.then)
		case c.when == nil:
			r.Refuse(item, "a rule needs a when or an else")
			continue
		}
		if c.then == nil {
			r.Fault(&document.Error{Pos: item.Pos.Key("then"), Msg: "then is missing"})
			continue
		}
		list = append(list, c)
	}
	r.lintClauses(n, list, unmatched)
	return list
}

// elseAction reads an else in any of its forms.
func (r *reader) elseAction(n, then *document.Node) *document.Node {
	switch {
	case then != nil:
		r.warn(n.Pos, "else is empty and has a then beside it: write else: {then: {…}}")
		return then
	case n.Get("then") != nil:
		var inner *document.Node
		r.mapping(n, template.Fields{"then": func(v *document.Node) { inner = v }}, nil)
		return inner
	case n.Kind == document.Mapping && n.Len() > 0:
		r.warn(n.Pos, "else has no then: write else: {then: {…}}")
		return n
	}
	return nil
}

// admit reads the gate of a step. A gate without rules admits every token, and is nil.
func (r *reader) admit(n *document.Node) *Admit {
	a := &Admit{Pos: n.Pos}
	r.mapping(n, template.Fields{
		"mode":     func(v *document.Node) { r.choice(v, "exclusive") },
		"on_deny":  func(v *document.Node) { a.Discard = r.choice(v, "pending", "discard") == "discard" },
		"coalesce": func(v *document.Node) { a.Coalesce = r.Boolean(v) },
		"rules": func(v *document.Node) {
			for _, c := range r.clauses(v, "a token that no rule matches is denied") {
				rule := AdmitRule{Pos: c.node.Pos}
				if c.when != nil {
					rule.When, rule.Text = r.condition(c.when, seenByGate)
				}
				r.mapping(c.then, template.Fields{"allow": func(v *document.Node) { rule.Allow = r.Boolean(v) }}, nil)
				r.Required(c.then, "allow")
				a.Rules = append(a.Rules, rule)
			}
		},
	}, nil)
	if len(a.Rules) == 0 {
		return nil
	}
	a.recordKeys()
	return a
}

// recordKeys records the keys of ctx that can change the gate's decision.
func (a *Admit) recordKeys() {
	read := map[string]bool{}
	for _, rule := range a.Rules {
		if rule.When == nil {
			continue
		}
		keys, all := rule.When.Keys("ctx")
		a.AllKeys = a.AllKeys || all
		for _, key := range append(Bare(rule.When), keys...) {
			read[key] = true
		}
	}
	if !a.AllKeys {
		a.Keys = slices.Sorted(maps.Keys(read))
	}
}

// rules reads the policy of a task. labels contains the tasks of its pipeline.
func (r *reader) rules(t *Task, n *document.Node, labels map[string]int, names []string) {
	var list *document.Node
	r.mapping(n, template.Fields{
		"rules":        func(v *document.Node) { list = v },
		"on_unmatched": func(v *document.Node) { t.Unmatched = r.choice(v, "continue", "fail") == "fail" },
		"mode":         func(v *document.Node) { r.choice(v, "exclusive") },
	}, map[string]string{"admit": "only steps are admitted: write admit in the spec.policy of a step"})
	if list == nil {
		return
	}
	unmatched := ""
	if t.Kind != kindNoop && !t.Unmatched {
		unmatched = "after an error that no rule handles, the pipeline continues"
	}
	for _, c := range r.clauses(list, unmatched) {
		rule := Rule{Pos: c.node.Pos, Do: Continue}
		if c.when != nil {
			rule.When, rule.Text = r.condition(c.when, names)
		}
		r.then(&rule, c.then, labels, names)
		t.Rules = append(t.Rules, rule)
	}
	t.HasPolicy = len(t.Rules) > 0
}

// then reads the action of a task's rule: its sets, which are applied first, and its directive.
func (r *reader) then(rule *Rule, n *document.Node, labels map[string]int, names []string) {
	var to *document.Node
	r.mapping(n, template.Fields{
		"do":       func(v *document.Node) { rule.Do = r.directive(v) },
		"set":      func(v *document.Node) { rule.Set = r.sets(rule.Set, v, setsOfTask, names) },
		"set_ctx":  func(v *document.Node) { rule.Set = r.setsIn(rule.Set, v, "ctx", setsOfTask, names) },
		"set_iter": func(v *document.Node) { rule.Set = r.setsIn(rule.Set, v, "iter", setsOfTask, names) },
		"to":       func(v *document.Node) { to = v },
		"attempts": func(v *document.Node) { rule.Attempts = r.Count(v) },
		"backoff":  func(v *document.Node) { rule.Backoff = r.backoff(v) },
		"delay":    func(v *document.Node) { rule.Delay = r.delay(v, names) },
	}, map[string]string{"allow": "only the rules of admission allow or deny; a task's have a do"})
	sortSets(rule.Set)
	if rule.Do == Jump {
		r.jump(rule, n, to, labels)
	} else if to != nil && rule.Do != "" {
		r.Refuse(to, "to needs do: jump")
	}
	if rule.Do == Retry {
		rule.Attempts = cmp.Or(rule.Attempts, attemptsDefault)
		rule.Backoff = cmp.Or(rule.Backoff, BackoffNone)
		return
	}
	for _, key := range []string{"attempts", "backoff", "delay"} {
		if v := n.Get(key); v != nil && rule.Do != "" {
			r.Refuse(v, key+" needs do: retry")
		}
	}
}

// attemptsDefault is the default number of attempts of a task, the first included.
const attemptsDefault = 3

func (r *reader) directive(n *document.Node) Do {
	if text, _ := n.Text(); text == "skip" {
		r.Refuse(n, "do cannot be skip: a task's rules are evaluated after it has run")
		return ""
	}
	return Do(r.choice(n, string(Continue), string(Retry), string(Jump), string(Break), string(Fail)))
}

// backoff reads the growth of delays; fixed is another name of none.
func (r *reader) backoff(n *document.Node) Backoff {
	if text, _ := n.Text(); text == "fixed" {
		return BackoffNone
	}
	return Backoff(r.choice(n, string(BackoffNone), string(BackoffLinear), string(BackoffExponential)))
}

// delay compiles a number of seconds.
func (r *reader) delay(n *document.Node, names []string) Expr {
	switch v := n.Value().(type) {
	case int64:
		if v < 0 {
			r.Refuse(n, "delay must not be negative")
			return nil
		}
	case float64:
		if v < 0 {
			r.Refuse(n, "delay must not be negative")
			return nil
		}
	case string:
	default:
		r.WrongKind(n, "a number of seconds")
		return nil
	}
	e := r.singleExpression(n, names, "a number of seconds")
	if v, fixed := constant(e); fixed {
		seconds, err := strconv.ParseFloat(value.Text(v), 64)
		if err != nil || !(seconds >= 0) || math.IsInf(seconds, 0) {
			r.warn(n.Pos, "delay is never a number of seconds: the step fails when this rule applies")
		}
	}
	return e
}

// jump resolves the label of a task in the same pipeline. If no task has the label previous, it means the preceding task, and a
// jump from the first task fails at run time.
func (r *reader) jump(rule *Rule, n, to *document.Node, labels map[string]int) {
	if to == nil {
		r.Fault(&document.Error{Pos: n.Pos.Key("to"), Msg: "do: jump needs to"})
		return
	}
	label := r.Text(to)
	if i, ok := labels[label]; ok {
		rule.To = i
		return
	}
	if label == "previous" {
		rule.To = Previous
		return
	}
	if _, isText := to.Text(); isText {
		near := r.Nearest(label, maps.Keys(labels))
		r.Fault(&document.Error{Pos: to.Pos, Text: label, Msg: fmt.Sprintf("unknown task %q in this pipeline", label), Suggestion: near})
	}
}
