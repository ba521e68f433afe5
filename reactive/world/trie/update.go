package trie

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"iter"
)

// Update returns the root of the trie with changes, which must be in ascending order of their paths: each adds the entry, replaces
// the entry with its path or, without Data, removes that entry, if present. The new root depends only on the entries, not on the
// order of their insertion.
//
// It calls put with each new node, children before parents: after an error, the nodes already put are complete subtrees or garbage.
// Put may keep the node. It reads and makes each node above the changed entries once; other nodes it reads only if a removal merges
// them into one leaf.
func (t Trie) Update(root Hash, changes []Entry, put func(hash Hash, node []byte) error) (Hash, error) {
	return t.Replace(root, changes, put, func(Entry) error { return nil })
}

// Replace is like Update, and also calls replaced with each entry that a change replaces or removes, in ascending order of the
// paths, before it puts a node that depends on the change. Replace stops at an error of replaced, and returns it.
func (t Trie) Replace(root Hash, changes []Entry, put func(hash Hash, node []byte) error, replaced func(old Entry) error) (Hash, error) {
	if err := t.checkChanges(changes); err != nil {
		return Hash{}, err
	}
	if len(changes) == 0 {
		return root, nil
	}
	u := &update{Trie: t, put: put, replaced: replaced, old: map[Hash]bool{}}
	n, err := u.read(root, changes[0].Path, 0)
	if err != nil {
		return Hash{}, err
	}
	s, err := u.apply(n, 0, changes)
	if err != nil {
		return Hash{}, err
	}
	return u.store(s)
}

// checkChanges checks that the new entries can be read.
func (t Trie) checkChanges(changes []Entry) error {
	var path []byte
	for i, c := range changes {
		if len(c.Path) != t.PathBytes {
			return t.lengthError(c.Path)
		}
		if i > 0 && bytes.Compare(changes[i-1].Path, c.Path) >= 0 {
			return fmt.Errorf("change %x after %x", c.Path, changes[i-1].Path)
		}
		if c.Data == nil {
			continue
		}
		d := &decoder{b: c.Data}
		d.item()
		err := d.end()
		if err == nil {
			path, err = t.appendPath(path[:0], c.Data)
		}
		if err == nil && !bytes.Equal(path, c.Path) {
			err = fmt.Errorf("its path is %x", path)
		}
		if err != nil {
			return fmt.Errorf("change %x: %w", c.Path, err)
		}
	}
	return nil
}

// An update is one Update in progress.
type update struct {
	Trie
	put      func(hash Hash, node []byte) error
	replaced func(old Entry) error
	old      map[Hash]bool // read nodes, which need not be put
}

// A subtree is a part of the new trie. A leaf is not put before it is certain that the subtree above it is a branch.
type subtree struct {
	count   int
	entries []Entry // of a leaf
	hash    Hash    // of a branch, which has been put
}

// read is Trie.read, and records that the node exists.
func (u *update) read(hash Hash, path []byte, depth int) (*node, error) {
	n, err := u.Trie.read(hash, path, depth)
	u.old[hash] = true
	return n, err
}

// apply applies the changes, at least one, to the node at their first depth nibbles, and returns the new node.
func (u *update) apply(n *node, depth int, changes []Entry) (subtree, error) {
	if n.branch == nil {
		entries, err := u.merge(n.entries, changes)
		if err != nil {
			return subtree{}, err
		}
		return u.build(entries, depth)
	}
	var changed [16]*subtree
	count, seen, unread := n.count, 0, n.size()
	for nib, group := range byNibble(changes, depth) {
		child := &node{}
		if n.has(nib) {
			var err error
			if child, err = u.read(n.children[nib], group[0].Path, depth+1); err != nil {
				return subtree{}, err
			}
			unread--
		}
		s, err := u.apply(child, depth+1, group)
		if err != nil {
			return subtree{}, err
		}
		seen += child.count
		count += s.count - child.count
		changed[nib] = &s
	}
	if err := n.agrees(seen, unread); err != nil {
		return subtree{}, err
	}
	if count <= leafMax {
		return u.collapse(n, changed, count, changes[0].Path, depth)
	}
	return u.rebuild(*n.branch, changed, count)
}

// build returns the subtree of entries.
func (u *update) build(entries []Entry, depth int) (subtree, error) {
	if len(entries) <= leafMax {
		return subtree{count: len(entries), entries: entries}, nil
	}
	var children [16]*subtree
	for nib, group := range byNibble(entries, depth) {
		s, err := u.build(group, depth+1)
		if err != nil {
			return subtree{}, err
		}
		children[nib] = &s
	}
	return u.rebuild(branch{}, children, len(entries))
}

// rebuild puts the branch with the changed children.
func (u *update) rebuild(b branch, changed [16]*subtree, count int) (subtree, error) {
	for nib, child := range changed {
		if child == nil {
			continue
		}
		hash, err := u.store(*child)
		if err != nil {
			return subtree{}, err
		}
		b.set(nib, hash)
	}
	hash, err := u.keep(encodeBranch(count, &b))
	return subtree{count: count, hash: hash}, err
}

// collapse returns the leaf that replaces a branch: the entries of its changed children and of the others, which it reads. Each
// has at most count entries, so all of them are leaves, or the branch is damaged.
func (u *update) collapse(n *node, changed [16]*subtree, count int, path []byte, depth int) (subtree, error) {
	leaf := subtree{entries: make([]Entry, 0, count)}
	path = bytes.Clone(path)
	for nib, s := range changed {
		switch {
		case s != nil:
			leaf.entries = append(leaf.entries, s.entries...)
		case n.has(nib):
			setNibble(path, depth, nib)
			child, err := u.read(n.children[nib], path, depth+1)
			if err != nil {
				return subtree{}, err
			}
			leaf.entries = append(leaf.entries, child.entries...)
		}
	}
	if leaf.count = len(leaf.entries); leaf.count != count {
		return subtree{}, fmt.Errorf("%w: a branch counts %d more than its children have", ErrDamaged, count-leaf.count)
	}
	return leaf, nil
}

// store puts the leaf of a subtree and returns the root of the subtree.
func (u *update) store(s subtree) (Hash, error) {
	switch {
	case s.count > leafMax:
		return s.hash, nil
	case s.count == 0:
		return Empty, nil
	}
	return u.keep(encodeLeaf(s.entries))
}

// keep puts a node, unless it exists, and returns its hash.
func (u *update) keep(data []byte) (Hash, error) {
	hash := sha256.Sum256(data)
	if u.old[hash] {
		return hash, nil
	}
	if err := u.put(hash, data); err != nil {
		return Hash{}, fmt.Errorf("put node %x: %w", hash, err)
	}
	return hash, nil
}

// merge returns the entries with the changes.
func (u *update) merge(entries, changes []Entry) ([]Entry, error) {
	merged := make([]Entry, 0, len(entries)+len(changes))
	for _, c := range changes {
		for len(entries) > 0 && bytes.Compare(entries[0].Path, c.Path) < 0 {
			merged, entries = append(merged, entries[0]), entries[1:]
		}
		if len(entries) > 0 && bytes.Equal(entries[0].Path, c.Path) {
			if err := u.replaced(entries[0]); err != nil {
				return nil, err
			}
			entries = entries[1:]
		}
		if c.Data != nil {
			merged = append(merged, c)
		}
	}
	return append(merged, entries...), nil
}

// byNibble yields the groups of sorted entries with the same nibble at a depth.
func byNibble(entries []Entry, depth int) iter.Seq2[int, []Entry] {
	return func(yield func(int, []Entry) bool) {
		for start := 0; start < len(entries); {
			nib, end := nibble(entries[start].Path, depth), start+1
			for end < len(entries) && nibble(entries[end].Path, depth) == nib {
				end++
			}
			if !yield(nib, entries[start:end]) {
				return
			}
			start = end
		}
	}
}
