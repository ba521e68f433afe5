package trie_test

import (
	"crypto/sha256"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// A cell is encoded as the array of its fields, and decodes to the same cell.
func TestCellsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hash := func(label string) (hash trie.Hash) {
			if rapid.Bool().Draw(t, label) {
				hash = sha256.Sum256(rapid.SliceOf(rapid.Byte()).Draw(t, label+" of"))
			}
			return hash
		}
		c := trie.Cell{
			Key: rapid.SliceOf(rapid.Byte()).Draw(t, "key"), State: hash("state"), Size: rapid.Uint64().Draw(t, "size"),
			LastActive: rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, -1, 0, math.MaxInt64})).Draw(t, "active"),
			LastSeq:    rapid.Uint64().Draw(t, "seq"), Status: trie.Status(rapid.IntRange(0, 3).Draw(t, "status")),
			Generation: rapid.Uint64().Draw(t, "generation"), Work: hash("work"),
		}
		null := func(h trie.Hash) any {
			if h == (trie.Hash{}) {
				return nil
			}
			return h[:]
		}
		data := c.Append(nil)
		require.Equal(t, encode([]any{c.Key, null(c.State), c.Size, c.LastActive, c.LastSeq, c.Status, c.Generation, null(c.Work)}), data)
		again, err := trie.DecodeCell(data)
		require.NoError(t, err)
		require.Equal(t, c, again)
		_, err = trie.DecodeCell(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")])
		require.ErrorIs(t, err, trie.ErrDamaged)
		_, err = trie.DecodeCell(append(data, 0))
		require.ErrorIs(t, err, trie.ErrDamaged)
	})
}
