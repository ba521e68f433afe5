package trie

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// ErrDamaged is the error of a node that does not match its hash, or that no Update has made.
var ErrDamaged = errors.New("trie: damaged")

// Hash is the SHA-256 of a node, or of content to which an entry refers.
type Hash = [sha256.Size]byte

// Empty is the root of the trie without entries. Its node is neither fetched nor put.
var Empty = sha256.Sum256(encodeLeaf(nil))

// An Entry is the value of a trie under a path. Returned entries share memory with the fetched nodes: they must not be changed,
// and a caller that keeps a small part of one for long should copy it.
type Entry struct {
	// Path determines the place of the entry, nibble by nibble, and the order among entries.
	Path []byte

	// Data is the encoding of the entry, one CBOR item. Nil among the changes of an Update removes the entry.
	Data []byte
}

// A Trie reads and changes the tries of one kind, each identified by its root. It holds no nodes and is safe for concurrent use
// if its functions are.
type Trie struct {
	// PathBytes is the length of all paths.
	PathBytes int

	// AppendPath appends the path of an entry to dst, or refuses data that is not an entry of the kind. data is one CBOR item in
	// its deterministic form, so an entry has one encoding if its fields have. It must be a pure function.
	AppendPath func(dst, data []byte) ([]byte, error)

	// Fetch returns the bytes with a hash. Its result is verified, and never changed.
	Fetch func(hash Hash) ([]byte, error)
}

// Count returns the number of entries. It reads one node.
func (t Trie) Count(root Hash) (int, error) {
	n, err := t.read(root, nil, 0)
	if err != nil {
		return 0, err
	}
	return n.count, nil
}

// Get returns the encoding of the entry with a path, and reports whether there is one. It reads one node for each nibble that
// it needs.
func (t Trie) Get(root Hash, path []byte) (data []byte, ok bool, err error) {
	if len(path) != t.PathBytes {
		return nil, false, t.lengthError(path)
	}
	n, err := t.read(root, path, 0)
	for depth := 0; err == nil && n.branch != nil; depth++ {
		above, nib := n, nibble(path, depth)
		if !above.has(nib) {
			return nil, false, nil
		}
		if n, err = t.read(above.children[nib], path, depth+1); err == nil {
			err = above.agrees(n.count, above.size()-1)
		}
	}
	if err != nil {
		return nil, false, err
	}
	i, ok := slices.BinarySearchFunc(n.entries, path, func(e Entry, path []byte) int { return bytes.Compare(e.Path, path) })
	if !ok {
		return nil, false, nil
	}
	return n.entries[i].Data, true, nil
}

// read fetches the node of a place, which is the first depth nibbles of path, and verifies it.
func (t Trie) read(hash Hash, path []byte, depth int) (*node, error) {
	if hash == Empty && depth == 0 {
		return &node{}, nil
	}
	data, err := t.Fetch(hash)
	if err != nil {
		return nil, fmt.Errorf("fetch node %x: %w", hash, err)
	}
	if sha256.Sum256(data) != hash {
		return nil, fmt.Errorf("%w: node %x has other bytes", ErrDamaged, hash)
	}
	n, err := t.decode(data, path, depth)
	if err != nil {
		return nil, fmt.Errorf("%w: node %x: %w", ErrDamaged, hash, err)
	}
	return n, nil
}

func (t Trie) lengthError(path []byte) error {
	return fmt.Errorf("a path of %d bytes, not %d", len(path), t.PathBytes)
}

// nibble returns the nibble of a path at a depth, from 0.
func nibble(path []byte, depth int) int {
	return int(path[depth/2]>>(4*(1-depth%2))) & 0xf
}

// setNibble changes the nibble of a path at a depth.
func setNibble(path []byte, depth, nib int) {
	shift := 4 * (1 - depth%2)
	path[depth/2] = path[depth/2]&^(0xf<<shift) | byte(nib)<<shift
}
