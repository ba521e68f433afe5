package jinja

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
)

// EvalBool is Eval for a guard, and reports whether it holds. Values other than texts hold if they are not empty or zero, as
// in Jinja. A text that one expression returns holds unless it reads false, 0, no or none, or is empty; not, and, or and if
// test texts by the same rule there, so exactly one of {{ x }} and {{ not x }} holds. A text around expressions, or without
// any, holds if it reads true, 1 or yes. Case and surrounding white space are ignored. The error is that of Eval.
func (t *Template) EvalBool(env expr.Env) (bool, error) {
	quota, err := expr.Begin(env)
	if err != nil {
		return false, err
	}
	r := newRun(env, quota)
	defer r.settle()
	e, alone := t.root.(expression)
	if alone {
		r.guard = true
		v, err := e.eval(r)
		return err == nil && r.holds(v), err
	}
	v, err := t.root.evalPart(r)
	if s, ok := v.(string); ok {
		return err == nil && affirms(s), err
	}
	return err == nil && truth(v), err
}

// denials are the texts for which a guard does not hold.
var denials = []string{"", "false", "0", "no", "none"}

// holds returns the truth of a value for not, and, or and if. In a guard, texts follow the rule of guards, otherwise
// Jinja's.
func (r *run) holds(v any) bool {
	if s, ok := v.(string); ok && r.guard {
		return !slices.Contains(denials, read(s))
	}
	return truth(v)
}

// affirms returns the truth of a text for the filter bool, and that of a text around expressions in a guard.
func affirms(s string) bool { return slices.Contains([]string{"true", "1", "yes"}, read(s)) }

// read returns a text in lower case without surrounding white space. It shortens a text that is longer than all of those
// words.
func read(s string) string {
	const longest = len("false")
	s = strings.TrimSpace(s)
	return strings.ToLower(s[:min(len(s), longest+1)])
}
