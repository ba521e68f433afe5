package jinja

import (
	"maps"
	"slices"
)

// reads are the keys of a variable that a template can read.
type reads struct {
	keys map[string]bool
	all  bool
}

// Keys returns the keys of a variable that the template can read, sorted; all reports that it may read any, and keys is then
// nil. The slice belongs to the caller. O(k log k) for k keys.
func (t *Template) Keys(name string) (keys []string, all bool) { return t.reading(name) }

// Members is Keys for the value of one key of a variable. If Keys reports that any key may be read, so may any member, and
// Members need not report it.
func (t *Template) Members(name, key string) (members []string, all bool) {
	return t.reading(inner(name, key))
}

// inner returns the name under which the members of a key of a variable are recorded. No variable has such a name.
func inner(name, key string) string { return name + "." + key }

func (t *Template) reading(name string) (keys []string, all bool) {
	r := t.reads[name]
	if r == nil {
		return nil, false
	}
	if r.all {
		return nil, true
	}
	return slices.Sorted(maps.Keys(r.keys)), false
}

// watch records which keys of which variables a tree reads: those of x.k, x['k'] and x.get('k'); a variable that is used in
// any other way is read as a whole. The same holds for the value of a key.
func watch(n node, into map[string]*reads) {
	of := func(name string) *reads {
		if into[name] == nil {
			into[name] = &reads{keys: map[string]bool{}}
		}
		return into[name]
	}
	if v, ok := n.(variable); ok {
		of(v.name).all = true
		return
	}
	holder, key, ok := member(n)
	if !ok {
		for _, c := range children(n) {
			watch(c, into)
		}
		return
	}
	watchDefaults(n, into)
	if v, ok := holder.(variable); ok {
		of(v.name).keys[key] = true
		of(inner(v.name, key)).all = true
		return
	}
	if outer, first, ok := member(holder); ok {
		if v, ok := outer.(variable); ok {
			watchDefaults(holder, into)
			of(v.name).keys[first] = true
			of(inner(v.name, first)).keys[key] = true
			return
		}
	}
	watch(holder, into)
}

// member splits x.k, x['k'] and x.get('k').
func member(n node) (holder node, key string, ok bool) {
	switch n := n.(type) {
	case attribute:
		return n.of, n.key, true
	case item:
		if k, isLiteral := n.index.(literal); isLiteral {
			key, ok = k.v.(string)
			return n.of, key, ok
		}
	case method:
		if key, ok = firstText(n); ok && n.name == "get" {
			return n.of, key, true
		}
	}
	return nil, "", false
}

// watchDefaults watches the default of x.get('k', …).
func watchDefaults(n node, into map[string]*reads) {
	if m, ok := n.(method); ok {
		for _, a := range m.args.nodes()[1:] {
			watch(a, into)
		}
	}
}

func firstText(n method) (string, bool) {
	if len(n.args.list) == 0 {
		return "", false
	}
	l, ok := n.args.list[0].(literal)
	if !ok {
		return "", false
	}
	s, ok := l.v.(string)
	return s, ok
}

// children returns the parts of a node.
func children(n node) []node {
	switch n := n.(type) {
	case listing:
		return n.items
	case object:
		return slices.Concat(n.keys, n.values)
	case attribute:
		return []node{n.of}
	case item:
		return []node{n.of, n.index}
	case slice:
		list := []node{n.of}
		for _, p := range n.parts {
			if p != nil {
				list = append(list, p)
			}
		}
		return list
	case choice:
		return []node{n.test, n.yes, n.no}
	case logic:
		return []node{n.left, n.right}
	case negation:
		return []node{n.of}
	case sign:
		return []node{n.of}
	case comparison:
		list := []node{n.first}
		for _, l := range n.links {
			list = append(list, l.right)
		}
		return list
	case arithmetic:
		return []node{n.left, n.right}
	case filtered:
		return append(n.args.nodes(), n.of)
	case tested:
		return append(n.args.nodes(), n.of)
	case method:
		return append(n.args.nodes(), n.of)
	case function:
		return n.args.nodes()
	}
	return nil
}

// nodes returns the arguments, each once.
func (a arguments) nodes() []node {
	list := slices.Concat(a.list, a.named)
	for _, n := range []node{a.more, a.under} {
		if n != nil {
			list = append(list, n)
		}
	}
	return list
}
