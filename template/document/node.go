package document

import (
	"iter"
	"slices"
	"strings"
)

// Kind is the kind of a node. The kinds of scalars are those of JSON, but integers are distinguished from other numbers.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Sequence
	Mapping
)

// String returns the name of the kind in messages.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "an integer", "a number", "a string", "a list", "a mapping"}[k]
}

// Node is a value of a document and its place. It is immutable.
type Node struct {
	Pos  Pos  // where it begins
	Kind Kind // of the value

	scalar  any     // nil, bool, int64, float64 or string
	entries []Entry // of a mapping, in the order written; no key twice
	items   []*Node // of a sequence
}

// Entry is one key of a mapping with its value.
type Entry struct {
	Key   string // always a string: 200 is the key "200"
	Pos   Pos    // of the key, but with the Path of the value
	Value *Node  // not nil
}

// Len returns the number of entries of a mapping or of items of a sequence, and 0 for scalars.
func (n *Node) Len() int { return len(n.entries) + len(n.items) }

// Entries yields the entries of a mapping in the order written, and nothing for other kinds.
func (n *Node) Entries() iter.Seq[Entry] { return slices.Values(n.entries) }

// Items yields the items of a sequence with their positions, and nothing for other kinds.
func (n *Node) Items() iter.Seq2[int, *Node] { return slices.All(n.items) }

// Get returns the value of a mapping's key, or nil if n is not a mapping or has no such key. Its cost is proportional to the
// number of keys.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.entries {
		if n.entries[i].Key == key {
			return n.entries[i].Value
		}
	}
	return nil
}

// Text returns the text of a string. It reports false for other kinds.
func (n *Node) Text() (string, bool) {
	s, ok := n.scalar.(string)
	return s, ok
}

// Value returns the value of the node as nil, bool, int64, float64, string, []any or map[string]any. Each call returns new
// lists and maps, which belong to the caller.
func (n *Node) Value() any {
	switch n.Kind {
	case Sequence:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.Value()
		}
		return list
	case Mapping:
		m := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			m[e.Key] = e.Value.Value()
		}
		return m
	default:
		return n.scalar
	}
}

// At returns the node below n at a path such as Pos.Path, which begins with n.Pos.Path. If there is none, it returns the last
// node on the way, so there is always a place to report.
func (n *Node) At(path string) *Node {
	for {
		if n.Pos.Path == path {
			return n
		}
		next := n.childToward(path)
		if next == nil {
			return n
		}
		n = next
	}
}

// childToward returns the child of n that is at path or around it, or nil.
func (n *Node) childToward(path string) *Node {
	for _, e := range n.entries {
		if within(path, e.Value.Pos.Path) {
			return e.Value
		}
	}
	// Items are found by index, because sequences may be long.
	rest, ok := strings.CutPrefix(path, n.Pos.Path+"[")
	if !ok {
		return nil
	}
	i := 0
	for j := 0; j < len(rest) && '0' <= rest[j] && rest[j] <= '9' && i < len(n.items); j++ {
		i = 10*i + int(rest[j]-'0')
	}
	if i < len(n.items) && within(path, n.items[i].Pos.Path) {
		return n.items[i]
	}
	return nil
}

// within reports whether path is base or extends it.
func within(path, base string) bool {
	rest, ok := strings.CutPrefix(path, base)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
