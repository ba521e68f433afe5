package trie_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// TestCanonicalVectors: the roots are part of the format. If this test must change, stored tries can no longer be read.
func TestCanonicalVectors(t *testing.T) {
	var vectors struct {
		Keys []struct {
			Bytes string `json:"key_bytes_hex"`
			Hash  string `json:"key_hash"`
		}
		Roots []struct {
			Cells, Nodes, Bytes int
			Root                string
		}
	}
	data, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &vectors))

	require.Len(t, vectors.Keys, 5)
	for _, key := range vectors.Keys {
		b, err := hex.DecodeString(key.Bytes)
		require.NoError(t, err)
		require.Equal(t, key.Hash, hex.EncodeToString(trie.Cell{Key: b}.Entry().Path))
	}
	state := cell(0).State
	require.Equal(t, "03c1ceb3cf94fb8090b13fc55d7bfb9f1ad7c7ec09fed7fedc140af19e3072e8", hex.EncodeToString(state[:]))

	require.Len(t, vectors.Roots, 5)
	for _, want := range vectors.Roots {
		t.Run(strconv.Itoa(want.Cells), func(t *testing.T) {
			s, cells, root := built(t, trie.Cells, cells(want.Cells))
			require.Equal(t, want.Root, hex.EncodeToString(root[:]))
			if want.Cells == 0 {
				require.Equal(t, trie.Empty, root)
				require.Equal(t, trie.Hash(sha256.Sum256([]byte{0x82, 0x00, 0x80})), root)
				require.Empty(t, s.data, "the empty node is not put")
				return
			}
			size := 0
			for _, node := range s.data {
				size += len(node)
			}
			require.Equal(t, []int{want.Nodes, want.Bytes}, []int{len(s.data), size})
			n, err := cells.Count(root)
			require.NoError(t, err)
			require.Equal(t, want.Cells, n)
		})
	}
}
