package trie

import (
	"bytes"
	"errors"
	"iter"
)

// Walk yields the entries with from <= path < to, in ascending order of their paths. A nil bound is no bound; a bound may be shorter
// or longer than a path, and is compared by bytes.Compare. So path[:8] of an instant is a bound for paths that begin with instants,
// and the page after one that ended with a path begins at append(path, 0). Walk reads the nodes of the range one by one, and ends
// after an error.
func (t Trie) Walk(root Hash, from, to []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := &walk{Trie: t, from: from, to: to, yield: yield, path: make([]byte, t.PathBytes)}
		if _, err := w.visit(root, 0, from != nil, to != nil); err != nil && !errors.Is(err, errStopped) {
			yield(Entry{}, err)
		}
	}
}

// errStopped ends a walk if the caller wants no more entries.
var errStopped = errors.New("stopped")

// A walk is one Walk in progress.
type walk struct {
	Trie
	from, to []byte
	yield    func(Entry, error) bool
	path     []byte // the nibbles of the nodes that are being visited
}

// visit yields the entries below a node and returns its count. low is true if the node's place is a prefix of from, and high if it is
// a prefix of to, so that the bound is within the node.
func (w *walk) visit(hash Hash, depth int, low, high bool) (int, error) {
	n, err := w.read(hash, w.path, depth)
	if err != nil {
		return 0, err
	}
	if n.branch == nil {
		return n.count, w.yieldAll(n.entries)
	}
	first, last := 0, 15
	if low = low && depth < 2*len(w.from); low {
		first = nibble(w.from, depth)
	}
	if high {
		last, high = w.last(depth)
	}
	seen, unread := 0, n.size()
	for nib := first; nib <= last; nib++ {
		if !n.has(nib) {
			continue
		}
		setNibble(w.path, depth, nib)
		count, err := w.visit(n.children[nib], depth+1, low && nib == first, high && nib == last)
		if err != nil {
			return 0, err
		}
		seen += count
		unread--
	}
	return n.count, n.agrees(seen, unread)
}

// last returns the last nibble at a depth of paths below the bound, or -1, and reports whether the bound is below that nibble.
func (w *walk) last(depth int) (nib int, high bool) {
	switch nibbles := 2 * len(w.to); {
	case depth >= nibbles:
		return -1, false
	case depth == nibbles-1:
		return nibble(w.to, depth) - 1, false
	}
	return nibble(w.to, depth), true
}

func (w *walk) yieldAll(entries []Entry) error {
	for _, e := range entries {
		if w.from != nil && bytes.Compare(e.Path, w.from) < 0 {
			continue
		}
		if w.to != nil && bytes.Compare(e.Path, w.to) >= 0 {
			return nil
		}
		if !w.yield(e, nil) {
			return errStopped
		}
	}
	return nil
}

// Mark calls visit with the hash of each node of a trie, parents before children, and entry with each entry. If visit returns false,
// Mark skips the node and all nodes below it: to mark several roots and read their common parts once, return true only for new
// hashes. Mark stops at an error of entry, and returns it.
func (t Trie) Mark(root Hash, visit func(hash Hash) bool, entry func(Entry) error) error {
	if root == Empty || !visit(root) {
		return nil
	}
	m := &mark{Trie: t, visit: visit, entry: entry, path: make([]byte, t.PathBytes)}
	_, err := m.below(root, 0)
	return err
}

// A mark is one Mark in progress.
type mark struct {
	Trie
	visit func(Hash) bool
	entry func(Entry) error
	path  []byte // the nibbles of the nodes that are being visited
}

// below marks the nodes below a node that visit has seen, and returns the node's count.
func (m *mark) below(hash Hash, depth int) (int, error) {
	n, err := m.read(hash, m.path, depth)
	if err != nil {
		return 0, err
	}
	for _, e := range n.entries {
		if err := m.entry(e); err != nil {
			return 0, err
		}
	}
	if n.branch == nil {
		return n.count, nil
	}
	seen, unread := 0, n.size()
	for nib, child := range n.children {
		if !n.has(nib) || !m.visit(child) {
			continue
		}
		setNibble(m.path, depth, nib)
		count, err := m.below(child, depth+1)
		if err != nil {
			return 0, err
		}
		seen += count
		unread--
	}
	return n.count, n.agrees(seen, unread)
}
