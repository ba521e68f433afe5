package trie

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/sluiceflow/sluice/internal/cborhead"
)

const (
	leafMax  = 64               // entries of a leaf; with one more, a subtree is a branch
	countMax = math.MaxInt / 16 // so that the counts of all children can be added

	kindLeaf   = 0
	kindBranch = 1
)

// A node is a decoded node: a leaf, which has its entries, or a branch.
//
// Invariants, which decode establishes for one node and agrees for a node and its children:
//
//  1. A leaf has 1 to 64 entries, in ascending order of their paths, all of which begin with the nibbles of its place.
//  2. A branch counts more than 64 entries, and its place has a further nibble.
//  3. The count of a branch is the sum of the counts of its children.
type node struct {
	count   int
	entries []Entry
	*branch
}

// A branch has a child for each bit of its map, by nibble.
type branch struct {
	bitmap   uint16
	children [16]Hash
}

func (b *branch) has(nib int) bool { return b.bitmap&(1<<nib) != 0 }

// size returns the number of children.
func (b *branch) size() int { return bits.OnesCount16(b.bitmap) }

// set sets a child; Empty removes it.
func (b *branch) set(nib int, child Hash) {
	b.bitmap |= 1 << nib
	if child == Empty {
		b.bitmap &^= 1 << nib
	}
	b.children[nib] = child
}

// agrees reports an error unless the count of a branch can be the sum of the counts of its children: the read children have
// seen entries in total, and the unread ones at least one each.
func (n *node) agrees(seen, unread int) error {
	if seen+unread > n.count || unread == 0 && seen != n.count {
		return fmt.Errorf("%w: a branch counts %d entries, and %d are in all but %d of its children", ErrDamaged, n.count, seen, unread)
	}
	return nil
}

// encodeLeaf returns the encoding of a leaf: [0, [entry…]].
func encodeLeaf(entries []Entry) []byte {
	size := 4 // the heads
	for _, e := range entries {
		size += len(e.Data)
	}
	dst := append(make([]byte, 0, size), majorArray|2, majorUint|kindLeaf)
	dst = cborhead.Append(dst, majorArray, uint64(len(entries)))
	for _, e := range entries {
		dst = append(dst, e.Data...)
	}
	return dst
}

// encodeBranch returns the encoding of a branch: [1, count, bitmap, [hash…]].
func encodeBranch(count int, b *branch) []byte {
	const heads, child = 2 + 9 + 3 + 1, 2 + len(Hash{}) // at most
	dst := append(make([]byte, 0, heads+child*b.size()), majorArray|4, majorUint|kindBranch)
	dst = cborhead.Append(dst, majorUint, uint64(count))
	dst = cborhead.Append(dst, majorUint, uint64(b.bitmap))
	dst = cborhead.Append(dst, majorArray, uint64(b.size()))
	for nib := range b.children {
		if b.has(nib) {
			dst = appendBytes(dst, b.children[nib][:])
		}
	}
	return dst
}

// decode decodes the node of a place, the first depth nibbles of path. An accepted node is canonical: it has no other encoding.
func (t Trie) decode(data, path []byte, depth int) (*node, error) {
	d := &decoder{b: data}
	size := d.length(majorArray)
	kind := d.argument(majorUint)
	n := &node{}
	switch {
	case d.err != nil:
		return nil, d.err
	case size == 2 && kind == kindLeaf:
		t.decodeEntries(d, n)
	case size == 4 && kind == kindBranch:
		decodeChildren(d, n)
	default:
		return nil, fmt.Errorf("a node of kind %d with %d items", kind, size)
	}
	if err := d.end(); err != nil {
		return nil, err
	}
	return n, t.fits(n, path, depth)
}

func (t Trie) decodeEntries(d *decoder, n *node) {
	n.count = d.length(majorArray)
	if n.count < 1 || n.count > leafMax {
		d.fail(fmt.Errorf("a leaf of %d entries", n.count))
		return
	}
	n.entries = make([]Entry, 0, n.count)
	paths := make([]byte, 0, n.count*t.PathBytes)
	for range n.count {
		start := len(paths)
		data := d.item()
		if d.err != nil {
			return
		}
		var err error
		if paths, err = t.appendPath(paths, data); err != nil {
			d.fail(err)
			return
		}
		path := paths[start:len(paths):len(paths)]
		if last := len(n.entries) - 1; last >= 0 && bytes.Compare(n.entries[last].Path, path) >= 0 {
			d.fail(fmt.Errorf("entry %x after %x", path, n.entries[last].Path))
			return
		}
		n.entries = append(n.entries, Entry{Path: path, Data: data})
	}
}

func decodeChildren(d *decoder, n *node) {
	count, bitmap := d.argument(majorUint), d.argument(majorUint)
	if d.err == nil && (count <= leafMax || count > countMax) {
		d.fail(fmt.Errorf("a branch that counts %d entries", count))
	}
	if d.err == nil && (bitmap == 0 || bitmap > math.MaxUint16) {
		d.fail(fmt.Errorf("a branch with children %#x", bitmap))
	}
	n.count, n.branch = int(count), &branch{bitmap: uint16(bitmap)}
	d.array(n.size())
	for nib := range n.children {
		if !n.has(nib) {
			continue
		}
		if n.children[nib] = d.hash(); d.err == nil && n.children[nib] == (Hash{}) {
			d.fail(errors.New("a branch with null as a child"))
		}
	}
}

// fits reports an error unless the node can be at its place.
func (t Trie) fits(n *node, path []byte, depth int) error {
	if n.branch != nil {
		if depth >= 2*t.PathBytes {
			return errors.New("a branch below the last nibble")
		}
		return nil
	}
	// Entries are sorted, so all of them share the common first nibbles of the first and the last.
	for _, e := range []Entry{n.entries[0], n.entries[n.count-1]} {
		if !samePlace(e.Path, path, depth) {
			return fmt.Errorf("entry %x at the place of %x (%d nibbles)", e.Path, path, depth)
		}
	}
	return nil
}

// samePlace reports whether the first depth nibbles of two paths are equal.
func samePlace(a, b []byte, depth int) bool {
	whole := depth / 2
	return bytes.Equal(a[:whole], b[:whole]) && (depth%2 == 0 || nibble(a, depth-1) == nibble(b, depth-1))
}

// appendPath appends the path of an entry, which must be one canonical item.
func (t Trie) appendPath(dst, data []byte) ([]byte, error) {
	start := len(dst)
	dst, err := t.AppendPath(dst, data)
	if err != nil {
		return nil, fmt.Errorf("an entry: %w", err)
	}
	if path := dst[start:]; len(path) != t.PathBytes {
		return nil, t.lengthError(path)
	}
	return dst, nil
}
