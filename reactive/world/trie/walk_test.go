package trie_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// collect returns the entries of a range.
func collect(t require.TestingT, index trie.Trie, root trie.Hash, from, to []byte) []trie.Entry {
	list := []trie.Entry{}
	for e, err := range index.Walk(root, from, to) {
		require.NoError(t, err)
		list = append(list, e)
	}
	return list
}

// A walk of any range yields the same entries as a filter, and reads no nodes outside the range except those above its bounds.
func TestWalkYieldsARange(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				has := content{}
				for range 3 {
					has.apply(kind.draw(t))
				}
				entries := has.sorted()
				s, index, root := built(t, kind.of, entries)
				from, to := drawBound(t, "from", entries), drawBound(t, "to", entries)
				isIn := func(path []byte) bool {
					return bytes.Compare(path, from) >= 0 && (to == nil || bytes.Compare(path, to) < 0)
				}
				want := []trie.Entry{}
				for _, e := range entries {
					if isIn(e.Path) {
						want = append(want, e)
					}
				}
				require.Equal(t, want, collect(t, index, root, from, to))

				may := map[trie.Hash]bool{}
				for place, hash := range modelOf(entries).at {
					least := place + strings.Repeat("0", 2*index.PathBytes-len(place))
					most := place + strings.Repeat("f", 2*index.PathBytes-len(place))
					isInRange := most >= hex.EncodeToString(from) && (to == nil || least < hex.EncodeToString(to))
					isAboveTo := strings.HasPrefix(hex.EncodeToString(to), place) && place != hex.EncodeToString(to)
					may[hash] = isInRange || strings.HasPrefix(hex.EncodeToString(from), place) || isAboveTo || place == ""
				}
				for _, hash := range s.fetched {
					require.True(t, may[hash], "node %x was read for nothing, or twice", hash)
					may[hash] = false
				}
			})
		})
	}
}

// drawBound draws nil, or an existing path, possibly cut, extended, or changed.
func drawBound(t *rapid.T, label string, entries []trie.Entry) []byte {
	if len(entries) == 0 || rapid.IntRange(0, 4).Draw(t, label+" is nil") == 0 {
		return nil
	}
	path := slices.Clone(entries[rapid.IntRange(0, len(entries)-1).Draw(t, label)].Path)
	path = path[:rapid.IntRange(0, len(path)).Draw(t, label+" bytes")]
	if len(path) > 0 && rapid.Bool().Draw(t, label+" changed") {
		path[len(path)-1] += rapid.Byte().Draw(t, label+" by")
	}
	return append(path, rapid.SampledFrom([]string{"", "\x00", "\xff", "\x00\x00\x00"}).Draw(t, label+" end")...)
}

// A list is read in pages: each begins after the last entry of the page before.
func TestPagesMeet(t *testing.T) {
	_, index, root := built(t, trie.Cells, cells(1000))
	var from []byte
	var shown []trie.Entry
	pages := 0
	for {
		n := 0
		for e, err := range index.Walk(root, from, nil) {
			require.NoError(t, err)
			shown, from = append(shown, e), append(slices.Clone(e.Path), 0)
			if n++; n == 30 {
				break
			}
		}
		if n == 0 {
			break
		}
		pages++
	}
	require.Equal(t, cells(1000), shown)
	require.Equal(t, 34, pages)
}

// Timers due by an instant are read without the many that are due later.
func TestTimersThatAreDue(t *testing.T) {
	const now, later = 1767225600000000000, 1767229200000000000
	list := []trie.Entry{}
	for i := range 5000 {
		list = append(list, timer(later+int64(i)*1e9, "later"))
	}
	due := byPath([]trie.Entry{timer(now, "b"), timer(now, "a"), timer(-1, "past")})
	s, index, root := built(t, timers, byPath(slices.Concat(list, due)))
	require.Equal(t, due, collect(t, index, root, nil, timerPath(nil, now+1, nil)))
	require.Less(t, len(s.fetched), 16)
}

// Marking two roots visits every node of either once, and reads the nodes that they share once.
func TestMarkVisitsWhatIsReachable(t *testing.T) {
	s, index, first := built(t, trie.Cells, cells(3000))
	old := maps.Clone(s.data)
	gone := cell(1)
	second, err := index.Update(first, byPath([]trie.Entry{{Path: gone.Entry().Path}, cell(3000).Entry()}), s.Put)
	require.NoError(t, err)

	marked, states := map[trie.Hash]bool{}, map[trie.Hash]int{}
	isNew := func(hash trie.Hash) bool {
		was := marked[hash]
		marked[hash] = true
		return !was
	}
	state := func(e trie.Entry) error {
		c, err := trie.DecodeCell(e.Data)
		states[c.State]++
		return err
	}
	s.reset()
	require.NoError(t, index.Mark(first, isNew, state))
	require.ElementsMatch(t, slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(marked)))
	require.Len(t, s.fetched, len(old))
	require.Len(t, states, 3000)

	s.reset()
	require.NoError(t, index.Mark(second, isNew, state))
	require.ElementsMatch(t, slices.Collect(maps.Keys(s.data)), slices.Collect(maps.Keys(marked)))
	require.Len(t, s.fetched, len(s.data)-len(old))
	require.Len(t, states, 3001)

	stop := errors.New("stop")
	require.ErrorIs(t, index.Mark(first, func(trie.Hash) bool { return true }, func(trie.Entry) error { return stop }), stop)
	require.NoError(t, index.Mark(trie.Empty, nil, nil))
}
