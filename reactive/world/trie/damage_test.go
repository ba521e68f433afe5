package trie_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// changedNode returns one node with a changed byte.
type changedNode struct {
	*nodes
	hash trie.Hash
	at   int
	xor  byte
}

func (s *changedNode) Fetch(hash trie.Hash) ([]byte, error) {
	data, err := s.nodes.Fetch(hash)
	if hash == s.hash && s.xor != 0 {
		data = bytes.Clone(data)
		data[s.at] ^= s.xor
	}
	return data, err
}

func TestEveryChangedByteIsFound(t *testing.T) {
	s, _, root := built(t, trie.Cells, cells(1000))
	changed := &changedNode{nodes: s}
	index := trie.Cells(changed.Fetch)
	places := modelOf(cells(1000)).at
	for _, place := range slices.Sorted(maps.Keys(places)) {
		changed.hash = places[place]
		path, err := hex.DecodeString(place + strings.Repeat("0", 64-len(place)))
		require.NoError(t, err)
		for changed.at = range s.data[changed.hash] {
			changed.xor = 1 << (changed.at % 8)
			_, _, err := index.Get(root, path)
			require.ErrorIs(t, err, trie.ErrDamaged, "byte %d of %s", changed.at, place)
			changed.xor = 0
		}
	}
}

// walked returns the error of walking a trie.
func walked(index trie.Trie, root trie.Hash) error {
	for _, err := range index.Walk(root, nil, nil) {
		if err != nil {
			return err
		}
	}
	return nil
}

func everyNode(trie.Hash) bool { return true }

func putNothing(trie.Hash, []byte) error { return nil }

func ignored(trie.Entry) error { return nil }

var thousand = cells(1000)

// waysOfReading read all of the trie of thousand, each in its own way.
var waysOfReading = map[string]func(index trie.Trie, root trie.Hash) error{
	"walk": func(index trie.Trie, root trie.Hash) error { return walked(index, root) },
	"mark": func(index trie.Trie, root trie.Hash) error { return index.Mark(root, everyNode, ignored) },
	"get": func(index trie.Trie, root trie.Hash) error {
		last := byte(0)
		for i, e := range thousand {
			if i > 0 && e.Path[0] == last {
				continue // below the same leaf
			}
			last = e.Path[0]
			if _, _, err := index.Get(root, e.Path); err != nil {
				return err
			}
		}
		return nil
	},
	"update": func(index trie.Trie, root trie.Hash) error {
		_, err := index.Update(root, thousand, putNothing)
		return err
	},
	"collapse": func(index trie.Trie, root trie.Hash) error {
		changes := slices.Clone(thousand)
		for i := range changes {
			if i%16 != 0 {
				changes[i].Data = nil
			}
		}
		_, err := index.Update(root, changes, putNothing)
		return err
	},
}

func TestEveryWayOfReadingFindsDamage(t *testing.T) {
	s, index, root := built(t, trie.Cells, thousand)
	kept := maps.Clone(s.data)
	for name, read := range waysOfReading {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, read(index, root))
			for hash := range kept {
				s.data = maps.Clone(kept)
				delete(s.data, hash)
				err := read(index, root)
				require.ErrorIs(t, err, errMissing)
				require.NotErrorIs(t, err, trie.ErrDamaged)
				s.data[hash] = append(slices.Clone(kept[hash]), 0)
				require.ErrorIs(t, read(index, root), trie.ErrDamaged)
			}
			s.data = kept
		})
	}
}

func TestAnErrorOfPutIsReturned(t *testing.T) {
	refuse := func(trie.Hash, []byte) error { return errMissing }
	for _, n := range []int{1, 65, 5000} {
		_, err := trie.Cells(nil).Update(trie.Empty, cells(n), refuse)
		require.ErrorIs(t, err, errMissing)
	}
}

// Paths of another length are an error, not an index out of range.
func TestPathsOfAnotherLengthAreRefused(t *testing.T) {
	long := []trie.Entry{{Path: []byte("ab"), Data: encode([]any{[]byte("abc"), 0})}}
	_, err := words(nil).Update(trie.Empty, long, putNothing)
	require.ErrorContains(t, err, "a path of 3 bytes, not 2")
	node := encode([]any{0, []any{cbor.RawMessage(long[0].Data)}})
	_, err = words(func(trie.Hash) ([]byte, error) { return node, nil }).Count(sha256.Sum256(node))
	require.ErrorIs(t, err, trie.ErrDamaged)
	require.ErrorContains(t, err, "a path of 3 bytes, not 2")
}

// list is an array of encoded items.
func list(items ...[]byte) []byte {
	return append([]byte{0x80 | byte(len(items))}, bytes.Join(items, nil)...)
}

func data(entries []trie.Entry) (items [][]byte) {
	for _, e := range entries {
		items = append(items, e.Data)
	}
	return items
}

// Nodes with the right hash that no update makes.
func TestNodesThatNobodyMakesAreDamage(t *testing.T) {
	one := cell(1).Entry().Data
	with := func(change func(c []any)) []byte {
		fields := []any{[]byte("key"), make([]byte, 32), 0, 0, 0, 0, 0, nil}
		fields[1].([]byte)[0] = 1
		change(fields)
		return encode([]any{0, []any{fields}})
	}
	many := cells(65)
	child := bytes.Repeat([]byte{7}, 32)
	raw := func(s string) []byte {
		b, err := hex.DecodeString(s)
		require.NoError(t, err)
		return b
	}
	for name, node := range map[string][]byte{
		"truncated":                             {},
		"truncated (an array)":                  raw("82"),
		"an item of major type 2, not 4":        encode([]byte{1, 2}),
		"an item that begins with 0x9f":         append([]byte{0x9f, 0, 0x80}, 0xff),
		"a node of kind 2 with 2 items":         encode([]any{2, []any{}}),
		"a node of kind 0 with 4 items":         encode([]any{0, 65, 1, []any{child}}),
		"a node of kind 1 with 2 items":         encode([]any{1, []any{}}),
		"a leaf of 65 entries":                  bytes.Join([][]byte{{0x82, 0, 0x98, 65}, bytes.Join(data(many), nil)}, nil),
		"0 is not in its shortest form":         bytes.Join([][]byte{{0x82, 0x18, 0, 0x81}, one}, nil),
		"1 is not in its shortest form":         bytes.Join([][]byte{{0x82, 0, 0x98, 1}, one}, nil),
		"255 is not in its shortest form":       raw("82001900ff"),
		"65535 is not in its shortest form":     raw("82001a0000ffff"),
		"4294967295 is not in its shortest":     raw("82001b00000000ffffffff"),
		"1 bytes after the end":                 append(list([]byte{0}, list(one)), 0),
		"entry .* after":                        list([]byte{0}, list(many[1].Data, many[0].Data)),
		"entry .* after .*":                     list([]byte{0}, list(one, one)),
		"an entry: 7 items, not 8":              encode([]any{0, []any{make([]any, 7)}}),
		"an entry: an item of major type 3":     with(func(c []any) { c[0] = "key" }),
		"a hash of 31 bytes":                    with(func(c []any) { c[1] = c[1].([]byte)[1:] }),
		"a hash of zeros, not null":             with(func(c []any) { c[7] = make([]byte, 32) }),
		"an item of major type 1, not 0":        with(func(c []any) { c[2] = -1 }),
		"an item of major type 2, not an":       with(func(c []any) { c[3] = []byte{} }),
		"9223372036854775808 is beyond":         with(func(c []any) { c[3] = uint64(1 << 63) }),
		"status 4":                              with(func(c []any) { c[5] = 4 }),
		"an item of major type 7, not 0":        with(func(c []any) { c[6] = true }),
		"an item of major type 5":               with(func(c []any) { c[6] = map[string]int{} }),
		"23 is not in its shortest form":        raw("821817"),
		"truncated (a byte string in an entry)": raw("82008146ff"),
		"an item of major type 6":               raw("820081d9d9f700"),
		"an item of major type 7":               raw("820081f97e00"),
		"a text that is not UTF-8":              raw("82008161ff"),
		"an entry: an item of major type 0":     encode([]any{0, []any{1}}),
		"a branch that counts 64 entries":       encode([]any{1, 64, 1, []any{child}}),
		"a branch that counts 92233720368547":   encode([]any{1, uint64(1<<63 - 1), 1, []any{child}}),
		"a branch with children 0x0":            encode([]any{1, 65, 0, []any{}}),
		"a branch with children 0x10000":        encode([]any{1, 65, 1 << 16, []any{child}}),
		"1 items, not 2":                        encode([]any{1, 65, 3, []any{child}}),
		"2 items, not 1":                        encode([]any{1, 65, 1, []any{child, child}}),
		"a branch with null as a child":         encode([]any{1, 65, 1, []any{nil}}),
		"a hash of 5 bytes":                     encode([]any{1, 65, 1, []any{child[:5]}}),
	} {
		t.Run(name, func(t *testing.T) {
			root := trie.Hash(sha256.Sum256(node))
			index := trie.Cells(func(trie.Hash) ([]byte, error) { return node, nil })
			_, err := index.Count(root)
			require.ErrorIs(t, err, trie.ErrDamaged)
			pattern, _, _ := strings.Cut(name, " (")
			require.Regexp(t, pattern, err.Error())
		})
	}
}

// forged puts nodes into a store under their hashes, and returns a branch of them with any count and bitmap, which no update would
// make.
func forged(s *nodes, count, bitmap int, children ...[]byte) []byte {
	hashes := []any{}
	for _, node := range children {
		hash := trie.Hash(sha256.Sum256(node))
		s.data[hash] = node
		hashes = append(hashes, hash[:])
	}
	return encode([]any{1, count, bitmap, hashes})
}

// leaf returns a leaf of n consecutive words.
func leaf(first, n int) []byte {
	items := []cbor.RawMessage{}
	for i := range n {
		items = append(items, word(uint16(first+i), 0).Data)
	}
	return encode([]any{0, items})
}

// below returns branches with one child each, above a node.
func below(s *nodes, node []byte, nibbles ...int) []byte {
	for _, nib := range nibbles {
		node = forged(s, 65, 1<<nib, node)
	}
	return node
}

// rooted puts a root into a store and returns its hash.
func rooted(s *nodes, node []byte) trie.Hash {
	root := trie.Hash(sha256.Sum256(node))
	s.data[root] = node
	return root
}

// Nodes that are valid alone but not as parts of one trie.
func TestNodesThatDoNotBelongTogetherAreDamage(t *testing.T) {
	tests := map[string]struct {
		root func(s *nodes) []byte
		want string
	}{
		"an entry elsewhere, at the first nibble": {
			func(s *nodes) []byte { return forged(s, 80, 0b11, leaf(0, 40), leaf(0x2000, 40)) }, "entry 2000 at the place of"},
		"an entry elsewhere, at the second nibble": {
			func(s *nodes) []byte { return below(s, forged(s, 65, 0b11, leaf(0, 40), leaf(0x200, 25)), 0) }, "entry 0200 at the place of"},
		"the last entry elsewhere": {
			func(s *nodes) []byte { return forged(s, 100, 0b11, leaf(0x0fe0, 50), leaf(0x1000, 50)) }, "entry 1011 at the place of"},
		"more entries than are counted": {
			func(s *nodes) []byte { return forged(s, 70, 0b11, leaf(0, 64), leaf(0x1000, 64)) }, "a branch counts 70 entries"},
		"fewer entries than are counted": {
			func(s *nodes) []byte { return forged(s, 129, 0b11, leaf(0, 64), leaf(0x1000, 64)) }, "a branch counts 129 entries"},
		"a branch that counts as many as the one above": {
			func(s *nodes) []byte {
				return forged(s, 80, 0b11, forged(s, 80, 0b11, leaf(0, 64), leaf(0x0100, 16)), leaf(0x1000, 1))
			}, "a branch counts 80 entries, and 81"},
		"a branch below the last nibble": {
			func(s *nodes) []byte { return below(s, leaf(0, 1), 0, 0, 0, 0, 0) }, "a branch below the last nibble"},
		"an empty leaf": {
			func(s *nodes) []byte { return forged(s, 70, 0b11, leaf(0, 0), leaf(0x1000, 64)) }, "a leaf of 0 entries"},
	}
	changes := make([]trie.Entry, 1<<16)
	for i := range changes {
		changes[i].Path = binary.BigEndian.AppendUint16(nil, uint16(i))
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newNodes()
			root := rooted(s, tt.root(s))
			index := words(s.Fetch)
			for _, err := range []error{walked(index, root), index.Mark(root, everyNode, ignored)} {
				require.ErrorIs(t, err, trie.ErrDamaged)
				require.ErrorContains(t, err, tt.want)
			}
			_, err := index.Update(root, changes, s.Put)
			require.ErrorIs(t, err, trie.ErrDamaged)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// The counts of the read children of a branch must leave room for its other children.
func TestCountsAgreeOnTheWayToOneLeaf(t *testing.T) {
	s := newNodes()
	root := rooted(s, forged(s, 80, 0b11, forged(s, 80, 0b11, leaf(0, 64), leaf(0x0100, 16)), leaf(0x1000, 1)))
	_, _, err := words(s.Fetch).Get(root, word(0, 0).Path)
	require.ErrorIs(t, err, trie.ErrDamaged)
	require.ErrorContains(t, err, "a branch counts 80 entries, and 80 are in all but 1")
	_, err = words(s.Fetch).Update(root, []trie.Entry{removed(word(0, 0), true)}, s.Put)
	require.ErrorIs(t, err, trie.ErrDamaged)
	require.ErrorContains(t, err, "a branch counts 80 entries, and 80 are in all but 1")
}

// A child that a change does not need is read if its branch becomes a leaf.
func TestCountsAgreeWhereOneLeafIsMade(t *testing.T) {
	s := newNodes()
	root := rooted(s, forged(s, 67, 0b11, leaf(0, 64), leaf(0x1000, 2)))
	remove := []trie.Entry{removed(word(0, 0), true), removed(word(1, 0), true), removed(word(2, 0), true)}
	_, err := words(s.Fetch).Update(root, remove, s.Put)
	require.ErrorIs(t, err, trie.ErrDamaged)
	require.ErrorContains(t, err, "counts 1 more than its children have")
	delete(s.data, sha256.Sum256(leaf(0x1000, 2)))
	_, err = words(s.Fetch).Update(root, remove, s.Put)
	require.ErrorIs(t, err, errMissing)
}
