package trie_test

import (
	"bytes"
	"encoding/hex"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// kinds are the kinds of tries of the tests, each with a generator of batches of changes.
var kinds = []struct {
	name string
	of   func(func(trie.Hash) ([]byte, error)) trie.Trie
	draw func(*rapid.T) []trie.Entry
}{
	{"cells", trie.Cells, drawCells},
	{"words", words, drawWords},
	{"timers", timers, drawTimers},
}

// drawCells draws changes of up to 300 of 400 cells.
func drawCells(t *rapid.T) (changes []trie.Entry) {
	from, step := rapid.IntRange(0, 399).Draw(t, "from"), rapid.IntRange(1, 7).Draw(t, "step")
	seq, remove := rapid.IntRange(0, 1).Draw(t, "seq"), rapid.IntRange(1, 5).Draw(t, "remove")
	for i := range rapid.IntRange(1, 300).Draw(t, "count") {
		c := cell((from + i*step) % 400)
		c.LastSeq += uint64(seq)
		changes = append(changes, removed(c.Entry(), i%remove == 0))
	}
	return changes
}

// drawWords draws changes of a range of words, most of them the same way, so that deep subtrees grow, shrink and go.
func drawWords(t *rapid.T) (changes []trie.Entry) {
	first := rapid.SampledFrom([]uint16{0x0000, 0x0010, 0x1200, 0x1280, 0x12f0, 0xffc0, 0xff00}).Draw(t, "first")
	remove, value := rapid.Bool().Draw(t, "remove"), rapid.IntRange(0, 1).Draw(t, "value")
	except := rapid.IntRange(2, 200).Draw(t, "except")
	for i := range rapid.IntRange(1, 256).Draw(t, "count") {
		w := word(first+uint16(i), value)
		changes = append(changes, removed(w, remove != (i%except == 1)))
	}
	return changes
}

// drawTimers draws changes of timers, many of them due at one instant.
func drawTimers(t *rapid.T) (changes []trie.Entry) {
	due := rapid.SampledFrom([]int64{-5, 0, 1767225600000000000, 1767225600000000001, 1767225660000000000}).Draw(t, "due")
	first, remove := rapid.IntRange(0, 90).Draw(t, "first"), rapid.IntRange(1, 5).Draw(t, "remove")
	for i := range rapid.IntRange(1, 100).Draw(t, "count") {
		changes = append(changes, removed(timer(due, strconv.Itoa(first+i)), i%remove == 0))
	}
	return changes
}

func removed(e trie.Entry, isRemoved bool) trie.Entry {
	if isRemoved {
		e.Data = nil
	}
	return e
}

// sortedChanges returns the changes in order, the last of each path.
func sortedChanges(changes []trie.Entry) []trie.Entry {
	last := map[string]trie.Entry{}
	for _, c := range changes {
		last[string(c.Path)] = c
	}
	return byPath(slices.Collect(maps.Values(last)))
}

// content is the entries of a trie, by path.
type content map[string]trie.Entry

func (c content) apply(changes []trie.Entry) {
	for _, e := range changes {
		if delete(c, string(e.Path)); e.Data != nil {
			c[string(e.Path)] = e
		}
	}
}

func (c content) sorted() []trie.Entry { return byPath(slices.Collect(maps.Values(c))) }

// For any changes in any order, the root equals the root of the model, which depends only on the entries.
func TestIndexIsAFunctionOfItsContent(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := newNodes()
				index := kind.of(s.Fetch)
				root, has, old := trie.Empty, content{}, modelOf(nil)
				var history []trie.Entry
				for range rapid.IntRange(1, 6).Draw(t, "batches") {
					changes := sortedChanges(kind.draw(t))
					s.reset()
					next, err := index.Update(root, changes, s.Put)
					require.NoError(t, err)
					has.apply(changes)
					history = append(history, changes...)
					now := modelOf(has.sorted())
					require.Equal(t, now.root, next)
					requireWork(t, s, old, now, changes)
					root, old = next, now
				}
				requireReads(t, index, root, has)
				requireOtherOrders(t, index, s, root, has, history)
			})
		})
	}
}

// requireWork requires that an update does the least work: it puts each new node once, children first, and reads once each the
// old nodes above a change and the children of a branch that becomes a leaf.
func requireWork(t require.TestingT, s *nodes, old, now *tree, changes []trie.Entry) {
	added := maps.Clone(now.nodes)
	maps.DeleteFunc(added, func(hash trie.Hash, _ []byte) bool { return old.nodes[hash] != nil })
	require.Len(t, s.put, len(added))
	position := map[trie.Hash]int{}
	for i, hash := range s.put {
		require.Equal(t, added[hash], s.data[hash])
		position[hash] = i
	}
	for place, hash := range now.at {
		if child, ok := position[hash]; ok && place != "" {
			above := now.at[place[:len(place)-1]]
			require.Contains(t, position, above)
			require.Less(t, child, position[above])
		}
	}

	isAbove := map[string]bool{}
	for _, c := range changes {
		for path, n := hex.EncodeToString(c.Path), 0; n <= len(path); n++ {
			isAbove[path[:n]] = true
		}
	}
	may := map[trie.Hash]bool{}
	for place, hash := range old.at {
		may[hash] = isAbove[place] || now.isBelowLeaf(place)
	}
	for _, hash := range s.fetched {
		require.True(t, may[hash], "node %x was read for nothing, or twice", hash)
		may[hash] = false
	}
}

// requireReads requires that every way of reading yields the entries.
func requireReads(t require.TestingT, index trie.Trie, root trie.Hash, has content) {
	entries := has.sorted()
	n, err := index.Count(root)
	require.NoError(t, err)
	require.Equal(t, len(entries), n)
	walked := []trie.Entry{}
	for e, err := range index.Walk(root, nil, nil) {
		require.NoError(t, err)
		walked = append(walked, e)
	}
	require.Equal(t, len(entries), len(walked))
	for i, e := range entries {
		require.Equal(t, e, walked[i])
		data, ok, err := index.Get(root, e.Path)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, e.Data, data)

		absent := bytes.Clone(e.Path) // most likely
		absent[i%len(absent)] ^= 0x11
		_, want := has[string(absent)]
		_, ok, err = index.Get(root, absent)
		require.NoError(t, err)
		require.Equal(t, want, ok)
	}
}

// requireOtherOrders builds the entries in two other ways: by the history in reverse and then the final entries, and one by one in
// random order.
func requireOtherOrders(t *rapid.T, index trie.Trie, s *nodes, root trie.Hash, has content, history []trie.Entry) {
	entries := has.sorted()
	slices.Reverse(history)
	first, err := index.Update(trie.Empty, sortedChanges(history), s.Put)
	require.NoError(t, err)
	for _, c := range history {
		if _, ok := has[string(c.Path)]; !ok {
			first, err = index.Update(first, []trie.Entry{{Path: c.Path}}, s.Put)
			require.NoError(t, err)
		}
	}
	first, err = index.Update(first, entries, s.Put)
	require.NoError(t, err)
	require.Equal(t, root, first)

	second := trie.Empty
	for _, i := range rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Perm(len(entries)) {
		second, err = index.Update(second, entries[i:i+1], s.Put)
		require.NoError(t, err)
	}
	require.Equal(t, root, second)
}

// An Update that changes nothing reads the necessary nodes and puts none.
func TestNothingIsPutForNothing(t *testing.T) {
	s, index, root := built(t, trie.Cells, cells(1000))
	again, err := index.Update(root, nil, s.Put)
	require.NoError(t, err)
	require.Equal(t, root, again)
	require.Empty(t, s.fetched)

	changes := byPath([]trie.Entry{cell(7).Entry(), {Path: cell(1000).Entry().Path}})
	again, err = index.Update(root, changes, s.Put)
	require.NoError(t, err)
	require.Equal(t, root, again)
	require.Empty(t, s.put)
}

// The cost of a change is the nodes above it, for any number of entries.
func TestAChangeCostsTheDepth(t *testing.T) {
	for _, n := range []int{1, 64, 1000, 20000} {
		s, index, root := built(t, trie.Cells, cells(n))
		deepest := 0
		for i := range 50 {
			s.reset()
			c := cell(i * n / 50)
			c.LastSeq = 1 << 40
			_, err := index.Update(root, []trie.Entry{c.Entry()}, s.Put)
			require.NoError(t, err)
			require.Equal(t, len(s.fetched), len(s.put))
			deepest = max(deepest, len(s.put))
		}
		require.Equal(t, map[int]int{1: 1, 64: 1, 1000: 3, 20000: 4}[n], deepest, n)
	}
}

func TestChangesThatCannotBeReadAgainAreRefused(t *testing.T) {
	index := trie.Cells(nil)
	one, two := cell(1).Entry(), cell(2).Entry()
	sorted := byPath([]trie.Entry{one, two})
	for name, changes := range map[string][]trie.Entry{
		"change .* after":                         {sorted[1], sorted[0]},
		"change .* after .*":                      {one, one},
		"a path of 31 bytes, not 32":              {{Path: one.Path[:31], Data: one.Data}},
		"its path is":                             {{Path: one.Path, Data: two.Data}},
		"an entry: 7 items, not 8":                {{Path: one.Path, Data: []byte{0x87, 0, 0, 0, 0, 0, 0, 0}}},
		"1 bytes after the end":                   {{Path: one.Path, Data: append(slices.Clone(one.Data), 0)}},
		"truncated":                               {{Path: one.Path, Data: []byte{}}},
		"an item of major type 5":                 {{Path: one.Path, Data: []byte{0xa0}}},
		"change [0-9a-f]{64}: an entry: status 4": {func() trie.Entry { c := cell(1); c.Status = 4; return c.Entry() }()},
	} {
		_, err := index.Update(trie.Empty, changes, nil)
		require.Error(t, err, name)
		require.Regexp(t, name, err.Error())
		require.NotErrorIs(t, err, trie.ErrDamaged)
	}
	_, _, err := index.Get(trie.Empty, one.Path[1:])
	require.EqualError(t, err, "a path of 31 bytes, not 32")
}
