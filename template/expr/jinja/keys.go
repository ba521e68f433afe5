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

// Keys gives the keys of the variable called name that the template can read, sorted; all reports that it may read any.
func (t *Template) Keys(name string) (keys []string, all bool) {
	r := t.reads[name]
	if r == nil {
		return nil, false
	}
	if r.all {
		return nil, true
	}
	return slices.Sorted(maps.Keys(r.keys)), false
}

// watch notes which keys of which variables a tree reads: those of x.k, x['k'] and x.get('k'); a variable that is used in
// any other way is read as a whole.
func watch(n node, into map[string]*reads) {
	of := func(name string) *reads {
		if into[name] == nil {
			into[name] = &reads{keys: map[string]bool{}}
		}
		return into[name]
	}
	member := func(of_ node, key string) bool {
		v, ok := of_.(variable)
		if ok {
			of(v.name).keys[key] = true
		}
		return ok
	}
	switch n := n.(type) {
	case variable:
		of(n.name).all = true
		return
	case attribute:
		if member(n.of, n.key) {
			return
		}
	case item:
		if k, ok := n.index.(literal); ok {
			if key, ok := k.v.(string); ok && member(n.of, key) {
				return
			}
		}
	case method:
		if k, ok := firstText(n); ok && n.name == "get" && member(n.of, k) {
			for _, a := range n.args.list[1:] {
				watch(a, into)
			}
			return
		}
	}
	for _, c := range children(n) {
		watch(c, into)
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

// children are the parts of a node.
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

func (a arguments) nodes() []node { return slices.Concat(a.list, a.named) }
