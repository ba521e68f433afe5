package playbook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
)

// reserved are the variables with the same names in both dialects.
var reserved = append(slices.Clone(seenByArc), "iter", "_task", "_attempt", "_prev", keychainName)

// Bare returns the names that an expression of Jinja's dialect reads without a prefix. They are searched for in this order: the
// loop's variable and the rest of iter, args, results of the pipeline's tasks, ctx, results of steps, workload. Expressions of
// package expr have none.
func Bare(e Expr) []string {
	return slices.DeleteFunc(slices.Clone(e.Names()), func(name string) bool { return slices.Contains(reserved, name) })
}

// bare holds the names that one expression reads without a prefix.
type bare struct {
	names  []string
	step   *Step // that contains it
	pos    document.Pos
	inside bool // in the pipeline of its step
}

// recordArgs records the literal names in an arc's args.
func (r *reader) recordArgs(to int, args *document.Node) {
	if args == nil || args.Kind != document.Mapping {
		return
	}
	if r.brought == nil {
		r.brought = map[int]map[string]bool{}
	}
	if r.brought[to] == nil {
		r.brought[to] = map[string]bool{}
	}
	for e := range args.Entries() {
		r.brought[to][e.Key] = true
	}
}

// names warns of names without a prefix that are ambiguous according to the document.
func (l *linter) names() {
	for _, s := range l.book.Steps {
		if s.Loop != nil && l.book.Jinja && slices.Contains(reserved, s.Loop.Iterator) {
			l.warn(s.Loop.Pos, "%s without a prefix is not this iterator: write iter.%s, or give it another name", s.Loop.Iterator, s.Loop.Iterator)
		}
	}
	known := map[string]bool{}
	for _, b := range l.bare {
		for _, name := range b.names {
			have := l.owners(b, name)
			if len(have) < 2 || known[b.pos.Path+" "+name] {
				continue
			}
			known[b.pos.Path+" "+name] = true
			l.warn(b.pos, "%s without a prefix is %s here, and hides %s", name, have[0], strings.Join(have[1:], " and "))
		}
	}
}

// owners returns the possible meanings of a name in an expression, beginning with the one that applies there.
func (l *linter) owners(b bare, name string) []string {
	var have []string
	add := func(yes bool, format string) {
		if yes {
			have = append(have, fmt.Sprintf(format, name))
		}
	}
	add(b.inside && hasIterVariable(b.step, name), "iter.%s")
	add(l.brought[b.step.Index][name] || name == "joined" && b.step.Join != nil, "args.%s")
	add(b.inside && slices.ContainsFunc(b.step.Tasks, func(t *Task) bool { return t.Label == name }), "results.%s")
	add(slices.ContainsFunc(l.writes, func(keys map[string]bool) bool { return keys[name] }), "ctx.%s")
	_, isStep := l.book.StepIndex(name)
	add(isStep, "the result of step %s")
	_, isGiven := l.book.Workload[name]
	add(isGiven, "workload.%s")
	return have
}

// hasIterVariable reports whether the iterations of a step have a variable called name.
func hasIterVariable(s *Step, name string) bool {
	if s.Loop != nil && (name == s.Loop.Iterator || name == "index") {
		return true
	}
	return slices.ContainsFunc(s.sets(), func(set Set) bool { return set.Scope == Iter && set.Path[0] == name })
}
