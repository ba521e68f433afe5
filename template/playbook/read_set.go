package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// scopes maps the names of the scopes that can be written.
var scopes = map[string]Scope{"ctx": Ctx, "iter": Iter, "step": StepScope}

// The scopes that sets may write, by place. An arc is followed after the end of its step-run, so it has only ctx; a step has no
// iteration.
var (
	setsOfTask = []string{"ctx", "iter", "step"}
	setsOfStep = []string{"ctx", "step"}
	setsOfArc  = []string{"ctx"}
)

// sets reads a mapping from paths to values and appends its sets to a list. A key without a scope writes to ctx.
func (r *reader) sets(list []Set, n *document.Node, allowed, names []string) []Set {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return list
	}
	for e := range n.Entries() {
		scope, path := "ctx", e.Key
		if head, rest, dotted := strings.Cut(e.Key, "."); dotted {
			scope, path = head, rest
		} else {
			r.lintKey(e, scope)
		}
		list = r.addSet(list, e, scope, path, allowed, names)
	}
	return list
}

// setsIn reads a mapping from paths within one scope to values.
func (r *reader) setsIn(list []Set, n *document.Node, scope string, allowed, names []string) []Set {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return list
	}
	for e := range n.Entries() {
		r.lintKey(e, scope)
		list = r.addSet(list, e, scope, e.Key, allowed, names)
	}
	return list
}

// lintKey warns of a key inside a scope that begins with the name of a scope, which is usually a mistake.
func (r *reader) lintKey(e document.Entry, scope string) {
	head, _, _ := strings.Cut(e.Key, ".")
	if _, isScope := scopes[head]; isScope || head == "workload" {
		r.warn(e.Pos, "%q writes %s.%s: a key here is one of %s", e.Key, scope, e.Key, scope)
	}
}

func (r *reader) addSet(list []Set, e document.Entry, scope, path string, allowed, names []string) []Set {
	if !slices.Contains(allowed, scope) {
		near := r.Nearest(scope, slices.Values(allowed))
		r.Fault(&document.Error{Pos: e.Pos, Text: e.Key, Suggestion: near,
			Msg: fmt.Sprintf("%q cannot be written here: %s can", e.Key, strings.Join(allowed, ", "))})
		return list
	}
	s := Set{Scope: scopes[scope], Pos: e.Pos}
	var ok bool
	if s.Path, ok = value.ParsePath(path); !ok {
		r.Fault(&document.Error{Pos: e.Pos, Text: e.Key, Msg: fmt.Sprintf("%q is no path: write ctx.key or ctx.key.inner", e.Key)})
		return list
	}
	for i := range list {
		if compareSets(list[i], s) == 0 {
			r.Fault(&document.Error{Pos: e.Pos, Text: e.Key, Msg: fmt.Sprintf("%q is written twice, first at %s", e.Key, list[i].Pos.Path)})
			return list
		}
	}
	if s.Value = r.expression(e.Value, names); s.Value == nil {
		return list
	}
	return append(list, s)
}

// sortSets sorts sets in the order in which they are applied: storage does not keep the order of mappings. A path comes before
// the paths inside it.
func sortSets(list []Set) { slices.SortFunc(list, compareSets) }

func compareSets(a, b Set) int {
	return cmp.Or(cmp.Compare(a.Scope, b.Scope), slices.Compare(a.Path, b.Path))
}
