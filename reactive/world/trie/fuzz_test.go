package trie_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// Any bytes, as a node of any place and as a cell, are either refused or encoded again unchanged; a general decoder and encoder
// agree that they are canonical.
func FuzzDecode(f *testing.F) {
	s, _, _ := built(f, trie.Cells, cells(65))
	for _, node := range s.data {
		f.Add(node, []byte{}, byte(0))
	}
	f.Add(encode([]any{1, 65, 1 << 3, [][]byte{bytes.Repeat([]byte{1}, 32)}}), []byte{}, byte(0))
	f.Add(encode([]any{0, []any{cbor.RawMessage(cell(0).Append(nil))}}), cell(0).Entry().Path, byte(64))
	f.Add(cell(0).Append(nil), []byte{}, byte(0))
	f.Add(timer(-1, "é").Data, []byte{}, byte(1))
	f.Add(encode([]any{0, []any{[]any{[]byte("ab"), []any{1, -1, true, nil, []any{}}}}}), []byte("ab"), byte(4))

	kinds := []trie.Trie{trie.Cells(nil), timers(nil), words(nil)}
	f.Fuzz(func(t *testing.T, data, path []byte, depth byte) {
		for _, kind := range kinds {
			place := make([]byte, kind.PathBytes)
			copy(place, path)
			again, err := kind.Reencode(data, place, min(int(depth), 2*kind.PathBytes))
			if err != nil {
				continue
			}
			require.Equal(t, data, again)
			requireCanonical(t, data)
			kind.Fetch = func(trie.Hash) ([]byte, error) { return data, nil }
			if depth == 0 {
				requireRoot(t, kind, sha256.Sum256(data))
			}
		}
		if c, err := trie.DecodeCell(data); err == nil {
			require.Equal(t, data, c.Append(nil))
			require.Equal(t, trie.Entry{Path: c.Entry().Path, Data: data}, c.Entry())
			requireCanonical(t, data)
		} else {
			require.ErrorIs(t, err, trie.ErrDamaged)
		}
	})
}

func requireCanonical(t *testing.T, data []byte) {
	var v any
	require.NoError(t, cbor.Unmarshal(data, &v))
	require.Equal(t, data, encode(v))
}

// requireRoot reads a root that decodes in every way: its children cannot be read.
func requireRoot(t *testing.T, kind trie.Trie, root trie.Hash) {
	n, err := kind.Count(root)
	require.NoError(t, err)
	require.Positive(t, n)
	if err := walked(kind, root); err != nil {
		require.ErrorIs(t, err, trie.ErrDamaged)
	}
	_, err = kind.Update(root, []trie.Entry{{Path: make([]byte, kind.PathBytes)}}, putNothing)
	if err != nil {
		require.ErrorIs(t, err, trie.ErrDamaged)
	}
}
