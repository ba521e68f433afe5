package trie_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// million is the trie of 1,000,000 cells.
func million(b *testing.B) ([]trie.Entry, *nodes, trie.Hash) {
	entries := cells(1_000_000)
	s, _, root := built(b, trie.Cells, entries)
	require.Len(b, s.data, 69_905)
	return entries, s, root
}

func BenchmarkBuild(b *testing.B) {
	entries, _, root := million(b)
	var bytes, count int
	for b.Loop() {
		bytes, count = 0, 0
		built, err := trie.Cells(nil).Update(trie.Empty, entries, func(_ trie.Hash, node []byte) error {
			bytes, count = bytes+len(node), count+1
			return nil
		})
		require.NoError(b, err)
		require.Equal(b, root, built)
	}
	b.ReportMetric(float64(bytes)/1e6, "MB")
	b.ReportMetric(float64(count), "nodes")
}

func BenchmarkUpdate(b *testing.B) {
	entries, s, root := million(b)
	for _, n := range []int{1, 1_000, 10_000} {
		b.Run("cells="+strconv.Itoa(n), func(b *testing.B) {
			random := rand.New(rand.NewPCG(uint64(n), 0))
			changes := make([]trie.Entry, n)
			for i, at := range random.Perm(len(entries))[:n] {
				c, err := trie.DecodeCell(entries[at].Data)
				require.NoError(b, err)
				c.LastSeq = 1 << 32
				changes[i] = c.Entry()
			}
			byPath(changes)
			index, bytes, count := trie.Cells(s.Fetch), 0, 0
			put := func(_ trie.Hash, node []byte) error {
				bytes, count = bytes+len(node), count+1
				return nil
			}
			for b.Loop() {
				s.reset()
				bytes, count = 0, 0
				_, err := index.Update(root, changes, put)
				require.NoError(b, err)
				require.Equal(b, len(s.fetched), count)
			}
			b.ReportMetric(float64(bytes)/float64(n)/1e3, "kB/cell")
			b.ReportMetric(float64(count), "nodes")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	entries, s, root := million(b)
	index := trie.Cells(s.Fetch)
	b.Run("get", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			s.reset()
			data, ok, err := index.Get(root, entries[i*7919%len(entries)].Path)
			require.NoError(b, err)
			require.True(b, ok)
			require.NotEmpty(b, data)
		}
	})
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			s.reset()
			require.NoError(b, walked(index, root))
		}
	})
	b.Run("mark", func(b *testing.B) {
		for b.Loop() {
			s.reset()
			require.NoError(b, index.Mark(root, everyNode, ignored))
		}
	})
}
