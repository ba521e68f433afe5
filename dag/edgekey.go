package dag

import (
	"strconv"
	"strings"
)

// An edge key names an edge by its ends and, unless its type is the primary one of the graph, its type:
//
//	key    = node "->" node [ ":" type ]
//	node   = the node's key, in Go quotes where it would be misread
//
// A source is ambiguous if it contains "->", a target if it ends in ":" and the name of an edge type, either if it begins
// with a quote. Ordinary keys need no quotes, and no two edges of a graph share a key.

const arrow = "->"

// EdgeKey returns the key of an edge of g: "source->target" for the primary type of the graph's kind,
// "source->target:type" for every other. Ends whose own key contains those separators are quoted.
func (g *Graph) EdgeKey(e Edge) string {
	return edgeKey(g.kind, g.Key(e.From), g.Key(e.To), e.Attrs.Type)
}

// EdgeByKey returns the edge with a key as EdgeKey returns it. O(length of key + log of the source's degree).
func (g *Graph) EdgeByKey(key string) (Edge, bool) {
	source, rest, ok := cutSource(key)
	if !ok {
		return Edge{}, false
	}
	target, t, ok := cutTarget(rest, g.kind)
	if !ok {
		return Edge{}, false
	}
	from, okFrom := g.Node(source)
	to, okTo := g.Node(target)
	if !okFrom || !okTo || edgeKey(g.kind, source, target, t) != key {
		return Edge{}, false
	}
	return g.Edge(from, to, t)
}

func edgeKey(kind Kind, source, target string, t EdgeType) string {
	if startsQuoted(source) || strings.Contains(source, arrow) {
		source = strconv.Quote(source)
	}
	if _, suffix := cutType(target); startsQuoted(target) || suffix != 0 {
		target = strconv.Quote(target)
	}
	if t == kind.Primary() {
		return source + arrow + target
	}
	return source + arrow + target + ":" + t.String()
}

func startsQuoted(key string) bool { return strings.HasPrefix(key, `"`) }

// cutSource splits a key after its arrow and unquotes the source.
func cutSource(key string) (source, rest string, ok bool) {
	if !startsQuoted(key) {
		return strings.Cut(key, arrow)
	}
	quoted, err := strconv.QuotedPrefix(key)
	if err != nil {
		return "", "", false
	}
	source, err = strconv.Unquote(quoted)
	rest, ok = strings.CutPrefix(key[len(quoted):], arrow)
	return source, rest, ok && err == nil
}

// cutTarget splits the part after the arrow into the target, unquoted, and the type.
func cutTarget(rest string, kind Kind) (target string, t EdgeType, ok bool) {
	target, t = cutType(rest)
	if t == 0 {
		t = kind.Primary()
	}
	if !startsQuoted(target) {
		return target, t, true
	}
	target, err := strconv.Unquote(target)
	return target, t, err == nil
}

// cutType cuts ":type" off the end of text. The type is 0 if text has no such end.
func cutType(text string) (string, EdgeType) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, 0
	}
	t, err := parseEdgeType(text[i+1:])
	if err != nil {
		return text, 0
	}
	return text[:i], t
}
