package trie_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// The model is a trie that a general encoder builds from all of its entries.

var canonical = func() cbor.EncMode {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err)
	}
	return mode
}()

func encode(v any) []byte {
	data, err := canonical.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// tree has the nodes of a model by their places, which are paths in hexadecimal digits.
type tree struct {
	root  trie.Hash
	nodes map[trie.Hash][]byte
	at    map[string]trie.Hash
	leafs map[string]bool
}

// modelOf returns the tree of entries in any order.
func modelOf(entries []trie.Entry) *tree {
	sorted := map[string]cbor.RawMessage{}
	for _, e := range entries {
		sorted[hex.EncodeToString(e.Path)] = e.Data
	}
	m := &tree{nodes: map[trie.Hash][]byte{}, at: map[string]trie.Hash{}, leafs: map[string]bool{}}
	m.root = m.add("", slices.Sorted(maps.Keys(sorted)), sorted)
	return m
}

func (m *tree) add(place string, paths []string, data map[string]cbor.RawMessage) trie.Hash {
	var node []byte
	if len(paths) <= 64 {
		entries := []any{}
		for _, p := range paths {
			entries = append(entries, data[p])
		}
		node, m.leafs[place] = encode([]any{0, entries}), true
	} else {
		below := map[string][]string{}
		for _, p := range paths {
			child := p[:len(place)+1]
			below[child] = append(below[child], p)
		}
		children, bitmap := []any{}, 0
		for n, digit := range strings.Split("0123456789abcdef", "") {
			if paths := below[place+digit]; paths != nil {
				hash := m.add(place+digit, paths, data)
				children, bitmap = append(children, hash[:]), bitmap|1<<n
			}
		}
		node = encode([]any{1, len(paths), bitmap, children})
	}
	hash := trie.Hash(sha256.Sum256(node))
	if len(paths) > 0 {
		m.nodes[hash], m.at[place] = node, hash
	}
	return hash
}

// isBelowLeaf reports whether a place is below the place of a leaf.
func (m *tree) isBelowLeaf(place string) bool {
	for n := range len(place) {
		if m.leafs[place[:n]] {
			return true
		}
	}
	return false
}

// nodes is a store that counts its operations.
type nodes struct {
	data    map[trie.Hash][]byte
	fetched []trie.Hash
	put     []trie.Hash
}

var errMissing = errors.New("not in the store")

func newNodes() *nodes { return &nodes{data: map[trie.Hash][]byte{}} }

func (s *nodes) Fetch(hash trie.Hash) ([]byte, error) {
	s.fetched = append(s.fetched, hash)
	data, ok := s.data[hash]
	if !ok {
		return nil, errMissing
	}
	return data, nil
}

func (s *nodes) Put(hash trie.Hash, node []byte) error {
	s.put = append(s.put, hash)
	s.data[hash] = node
	return nil
}

func (s *nodes) reset() { s.fetched, s.put = nil, nil }

// cell is cell number i of the roots that are part of the format: key "k…", state {n: i}.
func cell(i int) trie.Cell {
	state := encode(map[string]int{"n": i})
	return trie.Cell{
		Key:        append([]byte{0xd9, 0xd9, 0xf7}, encode("k"+strconv.Itoa(i))...),
		State:      sha256.Sum256(state),
		Size:       uint64(len(state)),
		LastActive: 1767225600000000000 + int64(i),
		LastSeq:    3 + uint64(i),
		Generation: 1,
	}
}

// timer is an entry of another kind, [due, key hash, name]: its path is the instant, for the order of time, and the hash.
func timer(due int64, name string) trie.Entry {
	key := sha256.Sum256([]byte(name))
	return trie.Entry{Path: timerPath(nil, due, key[:]), Data: encode([]any{due, key[:], name})}
}

func timerPath(dst []byte, due int64, key []byte) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(due)^1<<63), key...)
}

const timerPathBytes = 8 + sha256.Size

func timers(fetch func(trie.Hash) ([]byte, error)) trie.Trie {
	return trie.Trie{PathBytes: timerPathBytes, Fetch: fetch, AppendPath: func(dst, data []byte) ([]byte, error) {
		var e struct {
			_    struct{} `cbor:",toarray"`
			Due  int64
			Key  []byte
			Name string
		}
		if err := cbor.Unmarshal(data, &e); err != nil {
			return nil, err
		}
		return timerPath(dst, e.Due, e.Key), nil
	}}
}

// words are entries with paths of two bytes, so that tries of few entries are deep.
func words(fetch func(trie.Hash) ([]byte, error)) trie.Trie {
	return trie.Trie{PathBytes: 2, Fetch: fetch, AppendPath: func(dst, data []byte) ([]byte, error) {
		var w struct {
			_     struct{} `cbor:",toarray"`
			Path  []byte
			Value int
		}
		err := cbor.Unmarshal(data, &w)
		return append(dst, w.Path...), err
	}}
}

func word(path uint16, value int) trie.Entry {
	p := binary.BigEndian.AppendUint16(nil, path)
	return trie.Entry{Path: p, Data: encode([]any{p, value})}
}

// byPath sorts entries, in place.
func byPath(entries []trie.Entry) []trie.Entry {
	slices.SortFunc(entries, func(a, b trie.Entry) int { return bytes.Compare(a.Path, b.Path) })
	return entries
}

// cells returns n cells as entries, sorted.
func cells(n int) []trie.Entry {
	entries := make([]trie.Entry, n)
	for i := range entries {
		entries[i] = cell(i).Entry()
	}
	return byPath(entries)
}

// built returns a store with a trie of entries.
func built(tb require.TestingT, kind func(func(trie.Hash) ([]byte, error)) trie.Trie, entries []trie.Entry) (*nodes, trie.Trie, trie.Hash) {
	s := newNodes()
	t := kind(s.Fetch)
	root, err := t.Update(trie.Empty, entries, s.Put)
	require.NoError(tb, err)
	s.reset()
	return s, t, root
}
